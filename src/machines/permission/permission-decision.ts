/**
 * Decides whether a call of a tool runs, is asked about or is denied. The first line that applies decides:
 *
 *   1  the mode is `deny`                                                         deny   mode
 *   2  a rule denies it (a shell line: any command of it)                         deny   policy
 *   3  a rule asks for it, or one that denies may be about it, or it is doubtful  ask
 *   4  it would reach into folders of the runtime's own, unless the mode is
 *      `preapproved` and it only reads, or is a shell line that 7 allows          ask
 *   5  the tool always asks: only rules that name just this call allow it         allow  session_rule | policy, else ask
 *   6  the tool is read-only, unless the mode is `ask` and the path has the
 *      name of a secret                                                           allow  read_only
 *   7  the mode is `preapproved`, unless it is a shell line and a rule about
 *      commands or paths denies or asks: the line may do that all the same        allow  preapproved
 *   8  rules allow it (a shell line: every command of it, or it only reads, and
 *      nothing that a rule about reading is against)                              allow  session_rule | policy | safe_command
 *   9  otherwise                                                                  ask
 *
 * Rules that allow are for their own tool. Those that deny and ask hold for all tools that can do the same: those of
 * `shell_run` for every tool whose name begins with `shell_`, those of `read` for grep, glob and edit, those of `write`
 * for edit.
 *
 * Where no person can be asked, asking is denying. A shell line that is not understood matches no rule that allows.
 * Rules of the session can allow only where those of the policy do not ask or deny. What is allowed for being safe is
 * so by its words alone; `checkOf` says what has to be checked on the disk before it runs, and `unsafe` what becomes
 * of it when that is not as it should be.
 */
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { workspacePath } from './path-glob.ts';
import { formatRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';
import type { PermissionSubject } from './permission-subject.ts';
import { allowsCommand, allowsPath, allowsTool, restrictionOf } from './rule-match.ts';
import type { JudgedCall, LinePlace } from './rule-match.ts';
import { mayBeBrokenByCommands, restricts } from './rule-reach.ts';
import { suggestForCommands, suggestForPath, suggestForTool } from './rule-suggestions.ts';
import type { Safety } from './safe-commands.ts';
import { safetyHere } from './safe-here.ts';
import { hasSecretName } from './sensitive-path.ts';
import { inEachFolder } from './shell-reading.ts';
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
  /** Names of other tools that can do the same: rules about those that deny or ask hold too. */
  readonly kin?: readonly string[] | undefined;
  /** Those of them by whose rules it is allowed as well. */
  readonly allowedAs?: readonly string[] | undefined;
  /** Why only a person can allow it, whatever rules and mode say. For people. */
  readonly doubt?: string | undefined;
  /** Why it would reach into folders of the runtime's own, if it would. For people. */
  readonly guarded?: string | undefined;
}

export type PermissionDecision =
  /** `rule`: the texts of the rules that allow it. */
  | {
      readonly decision: 'allow';
      readonly by: 'preapproved' | 'read_only' | 'safe_command' | 'session_rule' | 'policy';
      readonly rule?: string;
    }
  /**
   * `suggestions`: rules that, kept together, would allow the same call from now on; none where it should be asked
   * about each time.
   */
  | { readonly decision: 'ask'; readonly because: string; readonly suggestions: readonly PermissionRule[] }
  | { readonly decision: 'deny'; readonly by: 'policy' | 'mode' | 'unattended'; readonly because: string };

export function decidePermission(question: PermissionQuestion): PermissionDecision {
  return answerable(question, decide(question));
}

/** What becomes of a call that seemed to be safe by its words and is not: it asks, for this time only. */
export function unsafe(question: Pick<PermissionQuestion, 'humans'>, because: string): PermissionDecision {
  return answerable(question, { decision: 'ask', because: `no rule allows it: ${because}`, suggestions: [] });
}

function answerable({ humans }: Pick<PermissionQuestion, 'humans'>, decision: PermissionDecision): PermissionDecision {
  if (decision.decision !== 'ask' || humans === 'reachable') return decision;
  return {
    decision: 'deny',
    by: 'unattended',
    because: `a person would have to be asked, and none can be: ${decision.because}`,
  };
}

const NOT_READ: ShellReading = { kind: 'not_understood', because: 'it was not read' };

function decide(question: PermissionQuestion): PermissionDecision {
  const { definition, subject, mode, policy, sessionRules, reading = NOT_READ } = question;
  if (mode === 'deny') return { decision: 'deny', by: 'mode', because: 'this agent may not run tools' };
  const restricting = [...policy, ...sessionRules].filter(({ effect }) => effect !== 'allow');
  const call: DecidedCall = { ...question, reading, restricting };
  const restricted = restrict(call);
  if (restricted !== undefined) return restricted;
  if (question.doubt !== undefined) return { decision: 'ask', because: question.doubt, suggestions: [] };
  if (question.guarded !== undefined && isHeldByGuard(question, restricting))
    return { decision: 'ask', because: question.guarded, suggestions: [] };
  const fitting = [definition.name, ...(question.allowedAs ?? [])];
  const isAllowing = (rule: PermissionRule): boolean => fitting.includes(rule.tool) && rule.effect === 'allow';
  const rules = { session: sessionRules.filter(isAllowing), policy: policy.filter(isAllowing) };
  if (definition.permissionPolicy === 'always_ask')
    return grantOf(call, rules, { precisely: true }) ?? ask(call, rules);
  const isSecret =
    subject.kind === 'path' &&
    mode === 'ask' &&
    hasSecretName(workspacePath(subject.path, question.workspaceDirectory) ?? subject.path);
  if (definition.readOnly && !isSecret) return { decision: 'allow', by: 'read_only' };
  const mayBreakRules = subject.kind === 'shell' && restricting.some(mayBeBrokenByCommands);
  if (mode === 'preapproved' && !mayBreakRules) return { decision: 'allow', by: 'preapproved' };
  return grantOf(call, rules, { precisely: false }) ?? ask(call, rules);
}

/** A shell line of an agent that may run any may do this in ways that no check reads: it is not held. */
function isHeldByGuard({ subject, mode }: PermissionQuestion, restricting: readonly PermissionRule[]): boolean {
  if (subject.kind === 'tool') return true;
  if (subject.kind === 'path') return subject.access === 'write' || mode === 'ask';
  return mode === 'ask' || restricting.some(mayBeBrokenByCommands);
}

interface DecidedCall extends JudgedCall, Pick<PermissionQuestion, 'definition' | 'mode' | 'kin'> {
  /** Of all tools. */
  readonly restricting: readonly PermissionRule[];
}

/** What the rules that deny and ask say; undefined when they have nothing to say. */
function restrict(call: DecidedCall): PermissionDecision | undefined {
  const { definition, kin = [], restricting } = call;
  const names = [definition.name, ...kin];
  let because: string | undefined;
  for (const effect of ['deny', 'ask'] as const) {
    for (const rule of restricting.filter(
      (each) => each.effect === effect && names.some((name) => restricts(each, name)),
    )) {
      const restriction = restrictionOf(rule, call, { isOwn: names.includes(rule.tool) });
      const text = formatRule(rule);
      if (restriction.matches === 'yes' && effect === 'deny')
        return { decision: 'deny', by: 'policy', because: `a rule says "${text}"` };
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
function grantOf(
  call: DecidedCall,
  rules: AllowingRules,
  { precisely }: { readonly precisely: boolean },
): Grant | undefined {
  const { subject, reading, workspaceDirectory } = call;
  switch (subject.kind) {
    case 'shell':
      if (whyShellIsBeyondRules(subject, reading, workspaceDirectory) !== undefined || reading.kind !== 'commands')
        return undefined;
      return grantForLine(reading.commands, rules, {
        place: { cwd: subject.cwd, workspaceDirectory },
        isSafe: (command) => (!precisely || command.entersFolder === true) && safetyIn(call, subject.cwd, command).safe,
      });
    case 'path':
      return grantBy(
        rules,
        (rule) => (!precisely || rule.pathGlob !== undefined) && allowsPath(rule, subject, workspaceDirectory),
      );
    case 'tool':
      return grantBy(rules, allowsTool);
  }
}

function safetyIn({ workspaceDirectory, restricting }: DecidedCall, cwd: string, command: ShellCommand): Safety {
  return safetyHere(command, { cwd, workspaceDirectory, restricting });
}

function grantBy({ session, policy }: AllowingRules, allows: (rule: PermissionRule) => boolean): Grant | undefined {
  const bySession = session.find(allows);
  if (bySession !== undefined) return { decision: 'allow', by: 'session_rule', rule: formatRule(bySession) };
  const byPolicy = policy.find(allows);
  return byPolicy === undefined ? undefined : { decision: 'allow', by: 'policy', rule: formatRule(byPolicy) };
}

/**
 * Each command of it needs a reason of its own. The whole is as good as the weakest: safe, then kept, then for this
 * session only.
 */
function grantForLine(
  commands: readonly ShellCommand[],
  rules: AllowingRules,
  { place, isSafe }: { readonly place: LinePlace; readonly isSafe: (command: ShellCommand) => boolean },
): Grant | undefined {
  const grants: Grant[] = [];
  for (const command of inEachFolder(commands)) {
    if (isSafe(command)) continue;
    const grant = grantBy(rules, (rule) => allowsCommand(rule, command, place));
    if (grant === undefined) return undefined;
    grants.push(grant);
  }
  if (grants.length === 0) return { decision: 'allow', by: 'safe_command' };
  const rule = [...new Set(grants.map((grant) => grant.rule))].join(', ');
  return { decision: 'allow', by: grants.some(({ by }) => by === 'session_rule') ? 'session_rule' : 'policy', rule };
}

/** Why no rule can allow the line, whatever it says. */
function whyShellIsBeyondRules(
  { cwd, isolated }: Extract<PermissionSubject, { kind: 'shell' }>,
  reading: ShellReading,
  workspaceDirectory: string,
): string | undefined {
  if (reading.kind === 'not_understood') return `the command line is not understood: ${reading.because}`;
  if (isolated === false) return 'commands that ran in this shell before may have changed what its words mean';
  return workspacePath(cwd, workspaceDirectory) === undefined ? 'it would run outside the workspace' : undefined;
}

function ask(call: DecidedCall, rules: AllowingRules): PermissionDecision {
  const { definition, subject, reading, workspaceDirectory } = call;
  const alwaysAsks = definition.permissionPolicy === 'always_ask' ? `${definition.name} always asks` : undefined;
  switch (subject.kind) {
    case 'shell': {
      const because = whyShellIsBeyondRules(subject, reading, workspaceDirectory);
      if (because !== undefined) return { decision: 'ask', because, suggestions: [] };
      return askAboutLine(call, subject.cwd, reading.kind === 'commands' ? reading.commands : [], rules);
    }
    case 'path':
      return {
        decision: 'ask',
        because: alwaysAsks ?? `no rule allows ${definition.name} for "${subject.path}"`,
        suggestions: suggestForPath(definition.name, subject, workspaceDirectory),
      };
    case 'tool':
      return {
        decision: 'ask',
        because: alwaysAsks ?? `no rule allows ${definition.name}`,
        suggestions: suggestForTool(definition),
      };
  }
}

function askAboutLine(
  call: DecidedCall,
  cwd: string,
  commands: readonly ShellCommand[],
  { session, policy }: AllowingRules,
): PermissionDecision {
  const { definition, mode, restricting, workspaceDirectory } = call;
  const alwaysAsks = definition.permissionPolicy === 'always_ask';
  const place: LinePlace = { cwd, workspaceDirectory };
  const open = inEachFolder(commands).flatMap((command) => {
    const safety = safetyIn(call, cwd, command);
    const isAnswered =
      (safety.safe && (!alwaysAsks || command.entersFolder === true)) ||
      [...session, ...policy].some((rule) => allowsCommand(rule, command, place));
    return isAnswered ? [] : [{ command, because: safety.safe ? undefined : safety.because }];
  });
  const rule = mode === 'preapproved' ? restricting.find(mayBeBrokenByCommands) : undefined;
  const whole =
    rule === undefined ? 'no rule allows it' : `a rule forbids something that this may do ("${formatRule(rule)}")`;
  const because = alwaysAsks
    ? `${definition.name} always asks`
    : `${whole}: ${open[0]?.because ?? 'it may do something else'}`;
  const offer = suggestForCommands(
    definition.name,
    open.map(({ command }) => command),
    place,
  );
  if ('whyNone' in offer)
    return {
      decision: 'ask',
      because: alwaysAsks ? because : `${because}; it is asked about each time, since ${offer.whyNone}`,
      suggestions: [],
    };
  return { decision: 'ask', because, suggestions: offer.rules };
}
