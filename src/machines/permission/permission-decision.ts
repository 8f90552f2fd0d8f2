/**
 * Decides whether a call of a tool runs, is asked about or is denied. The first line that applies decides:
 *
 *   1  the mode is `deny`                                                         deny   mode
 *   2  a rule denies it (a shell line: any command of it)                         deny   policy
 *   3  a rule asks for it, or one that denies may be about it                     ask
 *   4  the tool always asks: only rules that name just this call allow it         allow  session_rule | policy, else ask
 *   5  the tool is read-only                                                      allow  read_only
 *   6  the mode is `preapproved`                                                  allow  preapproved
 *   7  rules allow it (a shell line: every command of it, or it only reads)       allow  session_rule | policy | safe_command
 *   8  otherwise                                                                  ask
 *
 * Where nobody can be asked, asking is denying. A shell line that is not understood matches no rule that allows. Rules of the session can
 * allow only where those of the policy do not ask or deny.
 */
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { workspacePath } from './path-glob.ts';
import { formatRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';
import type { PermissionSubject } from './permission-subject.ts';
import { allowsCommand, allowsPath, allowsTool, restrictionOf } from './rule-match.ts';
import type { JudgedCall } from './rule-match.ts';
import { suggestForCommands, suggestForPath, suggestForTool } from './rule-suggestions.ts';
import { safetyOf } from './safe-commands.ts';
import type { ShellCommand, ShellReading } from './shell-reading.ts';

export interface PermissionQuestion {
  readonly definition: Pick<ToolDefinition, 'name' | 'permissionPolicy' | 'readOnly' | 'destructive'>;
  readonly subject: PermissionSubject;
  /** Of the command line, when the subject is one. Without it the line is not understood. */
  readonly reading?: ShellReading | undefined;
  /** Absolute: rules about paths begin here, and shells run in or below it. */
  readonly workspaceDirectory: string;
  readonly mode: 'preapproved' | 'ask' | 'deny';
  /** Kept rules, those for every agent among them. */
  readonly policy: readonly PermissionRule[];
  /** What was allowed for as long as the session lasts. */
  readonly sessionRules: readonly PermissionRule[];
  readonly humans: 'reachable' | 'none';
}

export type PermissionDecision =
  /** `rule`: the texts of the rules that allow it. */
  | { readonly decision: 'allow'; readonly by: 'preapproved' | 'read_only' | 'safe_command' | 'session_rule' | 'policy'; readonly rule?: string }
  /** `suggestions`: rules that, kept together, would allow the same call from now on; none where it should be asked about each time. */
  | { readonly decision: 'ask'; readonly because: string; readonly suggestions: readonly PermissionRule[] }
  | { readonly decision: 'deny'; readonly by: 'policy' | 'mode' | 'nobody'; readonly because: string };

export function decidePermission(question: PermissionQuestion): PermissionDecision {
  const decision = decide(question);
  if (decision.decision !== 'ask' || question.humans === 'reachable') return decision;
  return { decision: 'deny', by: 'nobody', because: `somebody would have to be asked, and nobody can be: ${decision.because}` };
}

const NOT_READ: ShellReading = { kind: 'not_understood', because: 'it was not read' };

function decide(question: PermissionQuestion): PermissionDecision {
  const { definition, mode, policy, sessionRules, reading = NOT_READ } = question;
  if (mode === 'deny') return { decision: 'deny', by: 'mode', because: 'this agent may not run tools' };
  const isOfTool = (rule: PermissionRule): boolean => rule.tool === definition.name;
  const call: JudgedCall = { ...question, reading };
  const restricted = restrict([...policy, ...sessionRules].filter(isOfTool), call);
  if (restricted !== undefined) return restricted;
  const allowing = {
    session: sessionRules.filter((rule) => isOfTool(rule) && rule.effect === 'allow'),
    policy: policy.filter((rule) => isOfTool(rule) && rule.effect === 'allow'),
  };
  if (definition.permissionPolicy === 'always_ask') return grantOf(call, allowing, { precisely: true }) ?? ask(question, call, allowing);
  if (definition.readOnly) return { decision: 'allow', by: 'read_only' };
  if (mode === 'preapproved') return { decision: 'allow', by: 'preapproved' };
  return grantOf(call, allowing, { precisely: false }) ?? ask(question, call, allowing);
}

/** What the rules that deny and ask say; undefined when they have nothing to say. */
function restrict(rules: readonly PermissionRule[], call: JudgedCall): PermissionDecision | undefined {
  let because: string | undefined;
  for (const effect of ['deny', 'ask'] as const) {
    for (const rule of rules.filter((each) => each.effect === effect)) {
      const restriction = restrictionOf(rule, call);
      const text = formatRule(rule);
      if (restriction.matches === 'yes' && effect === 'deny') return { decision: 'deny', by: 'policy', because: `a rule says "${text}"` };
      if (restriction.matches === 'yes') because ??= `a rule says "${text}"`;
      if (restriction.matches === 'perhaps') because ??= `${restriction.because} (the rule is "${text}")`;
    }
  }
  return because === undefined ? undefined : { decision: 'ask', because, suggestions: [] };
}

interface AllowingRules {
  readonly session: readonly PermissionRule[];
  readonly policy: readonly PermissionRule[];
}

type Grant = Extract<PermissionDecision, { decision: 'allow' }>;

/** Precisely: neither for being safe, nor by a rule about all paths of a tool. */
function grantOf({ subject, reading, workspaceDirectory }: JudgedCall, rules: AllowingRules, { precisely }: { readonly precisely: boolean }): Grant | undefined {
  switch (subject.kind) {
    case 'shell':
      if (whyShellIsBeyondRules(subject, reading, workspaceDirectory) !== undefined || reading.kind !== 'commands') return undefined;
      return grantForLine(reading.commands, rules, precisely);
    case 'path':
      return grantBy(rules, (rule) => (!precisely || rule.pathGlob !== undefined) && allowsPath(rule, subject, workspaceDirectory));
    case 'tool':
      return grantBy(rules, allowsTool);
  }
}

function grantBy({ session, policy }: AllowingRules, allows: (rule: PermissionRule) => boolean): Grant | undefined {
  const bySession = session.find(allows);
  if (bySession !== undefined) return { decision: 'allow', by: 'session_rule', rule: formatRule(bySession) };
  const byPolicy = policy.find(allows);
  return byPolicy === undefined ? undefined : { decision: 'allow', by: 'policy', rule: formatRule(byPolicy) };
}

/** Each command of it needs a reason of its own. The whole is as good as the weakest: safe, then kept, then for this session only. */
function grantForLine(commands: readonly ShellCommand[], rules: AllowingRules, precisely: boolean): Grant | undefined {
  const grants: Grant[] = [];
  for (const command of commands) {
    if (!precisely && safetyOf(command).safe) continue;
    const grant = grantBy(rules, (rule) => allowsCommand(rule, command));
    if (grant === undefined) return undefined;
    grants.push(grant);
  }
  if (grants.length === 0) return { decision: 'allow', by: 'safe_command' };
  const rule = [...new Set(grants.map((grant) => grant.rule))].join(', ');
  return { decision: 'allow', by: grants.some(({ by }) => by === 'session_rule') ? 'session_rule' : 'policy', rule };
}

/** Why no rule can allow the line, whatever it says. */
function whyShellIsBeyondRules({ cwd, isolated }: Extract<PermissionSubject, { kind: 'shell' }>, reading: ShellReading, workspaceDirectory: string): string | undefined {
  if (reading.kind === 'not_understood') return `the command line is not understood: ${reading.because}`;
  if (isolated === false) return 'commands that ran in this shell before may have changed what its words mean';
  return workspacePath(cwd, workspaceDirectory) === undefined ? 'it would run outside the workspace' : undefined;
}

function ask({ definition, subject }: PermissionQuestion, call: JudgedCall, rules: AllowingRules): PermissionDecision {
  const { reading, workspaceDirectory } = call;
  switch (subject.kind) {
    case 'shell': {
      const because = whyShellIsBeyondRules(subject, reading, workspaceDirectory);
      if (because !== undefined) return { decision: 'ask', because, suggestions: [] };
      return askAboutLine(definition, reading.kind === 'commands' ? reading.commands : [], rules);
    }
    case 'path':
      return { decision: 'ask', because: `no rule allows ${definition.name} for "${subject.path}"`, suggestions: suggestForPath(definition.name, subject, workspaceDirectory) };
    case 'tool':
      return { decision: 'ask', because: `no rule allows ${definition.name}`, suggestions: suggestForTool(definition) };
  }
}

function askAboutLine({ name, permissionPolicy }: PermissionQuestion['definition'], commands: readonly ShellCommand[], { session, policy }: AllowingRules): PermissionDecision {
  const alwaysAsks = permissionPolicy === 'always_ask';
  const open = commands.flatMap((command) => {
    const safety = safetyOf(command);
    const isAnswered = (safety.safe && !alwaysAsks) || [...session, ...policy].some((rule) => allowsCommand(rule, command));
    return isAnswered ? [] : [{ command, because: safety.safe ? `${name} always asks` : safety.because }];
  });
  return { decision: 'ask', because: `no rule allows it: ${open[0]?.because ?? 'it always asks'}`, suggestions: suggestForCommands(name, open.map(({ command }) => command)) };
}
