/** `wakechart permission …`: what is allowed for always, taking it back, and asking what would become of a command. */
import { environmentsOf } from '../open/environments.ts';
import { environmentNames } from '../../actors/environment/environment-names.ts';
import type { KeptRule, PolicyStore } from '../../actors/permission/permission-ports.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { decidePermission } from '../../machines/permission/permission-decision.ts';
import type { PermissionDecision } from '../../machines/permission/permission-decision.ts';
import { formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import { shellRunDefinition } from '../../machines/turn/shell-run.ts';
import { readShell } from '../../adapters/shell-syntax/shell-reader.ts';
import { narrowedAgent } from '../../machines/agent/narrowed-agent.ts';
import { ownBounds } from '../../machines/permission/handed-down.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { withStore } from '../open/store.ts';
import { placesOf } from '../places.ts';
import { withAgents, withSessions } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, localTime, printable, shellQuoted } from '../terminal/text.ts';
import { checkedAgentName } from '../usage.ts';
import { checkedSessionId } from '../session/session.ts';

/** A rule, and where it comes from. */
interface ListedRule {
  readonly agentId: string;
  readonly rule: string;
  readonly from: 'policy' | 'policy of every agent' | 'agent file';
  /** ISO-8601. */
  readonly since?: string | undefined;
  /** The request that a person answered with it. */
  readonly by?: KeptRule['by'];
}

interface UnreadableRules {
  readonly agentId: string;
  readonly error: ErrorRecord;
}

export async function listPermissions(context: CommandContext, agent: string | undefined): Promise<number> {
  const { out, json } = context;
  const wanted = agent === undefined ? undefined : checkedAgentName(agent);
  const found = await withAgents(context, async ({ agents }) => {
    const ids =
      wanted === undefined ? (await agents.list()).map(({ agentId }) => agentId) : [(await agents.get(wanted)).agentId];
    return withPolicy(context, (policy) =>
      Promise.all(
        ids.map(async (agentId) => rulesOf(policy, agentId, await agents.get(agentId).catch(() => undefined))),
      ),
    );
  });
  const rules = found.flatMap((each) => ('error' in each ? [] : each));
  const unreadable = found.flatMap((each) => ('error' in each ? [each] : []));
  if (json) await out.document({ rules, unreadable });
  else await tellRules(context, rules, unreadable);
  return unreadable.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

export async function revokePermission(
  context: CommandContext,
  { agent, rule }: { readonly agent: string; readonly rule: string },
): Promise<number> {
  const { out, json } = context;
  const agentId = checkedAgentName(agent);
  // People see rules with their effect and without it.
  const text = /^(?:allow|ask|deny) /.test(rule.trim()) ? rule.trim() : `allow ${rule.trim()}`;
  parseRule(text);
  const revoked = await withAgents(context, async ({ agents }) => {
    await agents.get(agentId);
    return withPolicy(context, (policy) => policy.remove(agentId, text));
  });
  if (!revoked) throw await notKept(context, agentId, text);
  if (json) await out.document({ agentId, rule: text, revoked });
  else await out.line(`${out.styles.green('Revoked')} for agent ${agentId}: ${printable(text)}`);
  return EXIT_SUCCESS;
}

export interface CheckOptions {
  readonly agent: string;
  readonly session: string | undefined;
  /** One word is a line for the shell; several are a program and its arguments. */
  readonly words: readonly string[];
}

export async function checkPermission(
  context: CommandContext,
  { agent, session, words }: CheckOptions,
): Promise<number> {
  const { out, json } = context;
  const agentId = checkedAgentName(agent);
  const command = words.length === 1 ? (words[0] ?? '') : shellQuoted(words);
  const { decision, offers } = await withSessions(context, async ({ agents, sessions, layout }) => {
    const definition = await agents.get(agentId);
    const state = session === undefined ? undefined : await sessions.status(checkedSessionId(session));
    if (state !== undefined && state.agentId !== agentId) throw otherAgent(state.sessionId, state.agentId, agentId);
    const bounded = await boundedAgent({ context, agent: definition, state });
    const { workspace } = placesOf(layout, { agentId, sessionId: state?.sessionId ?? 'none' });
    const policy = await withPolicy(context, (kept) => kept.rules(agentId));
    const judged = decidePermission({
      definition: shellRunDefinition,
      subject: { kind: 'shell', command, cwd: workspace },
      reading: readShell(command),
      workspaceDirectory: workspace,
      mode: bounded.permission.mode,
      policy: [...policy.map(({ rule }) => rule), ...rulesInFile(bounded)],
      sessionRules: (state?.sessionRules ?? []).map((rule) => parseRule(`allow ${rule}`)),
      humans: 'reachable',
    });
    return {
      decision: judged,
      offers:
        definition.tools?.some(({ type, name }) => type === 'builtin' && name === shellRunDefinition.name) ?? true,
    };
  });
  if (json)
    await out.document({
      agentId,
      command,
      tool: shellRunDefinition.name,
      offered: offers,
      ...plainDecision(decision),
    });
  else {
    await out.line(decisionText(context, decision));
    if (!offers)
      await out.line(
        `${out.styles.yellow('note:')} the agent file does not give ${agentId} the tool ${shellRunDefinition.name}, so it cannot run this at all`,
      );
  }
  return EXIT_SUCCESS;
}

/** What was allowed for always is kept where the sessions are; what people have written is in the home. */
function withPolicy<Result>(context: CommandContext, work: (policy: PolicyStore) => Promise<Result>): Promise<Result> {
  return withStore(context, ({ policy }) => work(policy));
}

async function rulesOf(
  policy: PolicyStore,
  agentId: string,
  definition: AgentDefinition | undefined,
): Promise<readonly ListedRule[] | UnreadableRules> {
  try {
    const kept = (await policy.rules(agentId)).map(({ rule, isForEveryAgent, since, by }): ListedRule => ({
      agentId,
      rule: formatRule(rule),
      from: isForEveryAgent ? 'policy of every agent' : 'policy',
      ...(since === undefined ? {} : { since }),
      ...(by === undefined ? {} : { by }),
    }));
    return [
      ...kept,
      ...(definition === undefined ? [] : rulesInFile(definition)).map((rule): ListedRule => ({
        agentId,
        rule: formatRule(rule),
        from: 'agent file',
      })),
    ];
  } catch (error) {
    return {
      agentId,
      error: RuntimeError.is(error)
        ? error.toJSON()
        : new RuntimeError('POLICY_INVALID', messageOf(error), { category: 'permission' }).toJSON(),
    };
  }
}

function rulesInFile({ permission }: Pick<AgentDefinition, 'permission'>): PermissionRule[] {
  return (['allow', 'ask', 'deny'] as const).flatMap((effect) =>
    permission[effect].map((rule) => parseRule(`${effect} ${rule}`)),
  );
}

async function tellRules(
  context: CommandContext,
  rules: readonly ListedRule[],
  unreadable: readonly UnreadableRules[],
): Promise<void> {
  const { out, err, home } = context;
  for (const { error } of unreadable)
    await err.line(`${err.styles.red('error:')} ${printable(error.message)} ${err.styles.dim(`[${error.code}]`)}`);
  if (rules.length === 0) {
    if (unreadable.length === 0) await out.line(`No rules are kept in ${home}: what asks is asked about each time.`);
    return;
  }
  const rows = rules.map(({ agentId, rule, from, since, by }) => [
    agentId,
    rule,
    [
      from,
      since === undefined ? '' : `since ${localTime(since)}`,
      by === undefined ? '' : `answered in session ${by.sessionId}`,
    ]
      .filter(Boolean)
      .join(', '),
  ]);
  for (const line of tableLines(['AGENT', 'RULE', 'FROM'], rows, out)) await out.line(line);
}

function plainDecision(decision: PermissionDecision): object {
  if (decision.decision !== 'ask') return decision;
  const { suggestions, ...rest } = decision;
  return { ...rest, rules: suggestions.map(formatRule) };
}

const REASONS = {
  preapproved: 'the agent may run whatever does not always ask',
  read_only: 'the tool changes nothing',
  safe_command: 'it only reads',
  session_rule: 'a person allowed it in this session',
  policy: 'a rule allows it',
} as const satisfies Record<Extract<PermissionDecision, { readonly decision: 'allow' }>['by'], string>;

function decisionText({ out: { styles } }: CommandContext, decision: PermissionDecision): string {
  switch (decision.decision) {
    case 'allow':
      return `${styles.green('allow')}  ${REASONS[decision.by]}${decision.rule === undefined ? '' : `: ${printable(decision.rule)}`}`;
    case 'deny':
      return `${styles.red('deny')}  ${printable(decision.because)}`;
    case 'ask': {
      const rules = decision.suggestions.map(
        (rule) => `\n  would be allowed from then on: ${printable(formatRule(rule))}`,
      );
      return `${styles.yellow('ask')}  ${printable(decision.because)}${rules.length === 0 ? '\n  it is asked about each time: no rule would cover this and nothing else' : rules.join('')}`;
    }
  }
}

async function notKept(context: CommandContext, agentId: string, rule: string): Promise<RuntimeError> {
  const kept = await withPolicy(context, (policy) => policy.rules(agentId));
  const own = kept.filter(({ isForEveryAgent }) => !isForEveryAgent).map((each) => formatRule(each.rule));
  const hint =
    own.length === 0
      ? `Nothing is kept for agent ${agentId}.`
      : `Kept for agent ${agentId}, ${counted(own.length, 'rule')}:\n${own.join('\n')}`;
  const elsewhere = 'Rules of its file and of all.yaml are changed where they stand.';
  return new RuntimeError('RULE_NOT_KEPT', `no rule "${rule}" is kept for agent "${agentId}"`, {
    category: 'not_found',
    hint: `${hint}\n${elsewhere}`,
  });
}

function otherAgent(sessionId: string, actual: string, given: string): RuntimeError {
  return new RuntimeError(
    'SESSION_OF_ANOTHER_AGENT',
    `session ${sessionId} belongs to agent "${actual}", not to "${given}"`,
    { category: 'validation', hint: `Check it with --agent ${actual}.` },
  );
}

interface BoundedAgentRequest {
  readonly context: CommandContext;
  readonly agent: AgentDefinition;
  /** Absent: a session that is not made yet. */
  readonly state: SessionState | undefined;
}

/**
 * The agent under everything that binds it before the policy does: the environment that it works in, what was narrowed,
 * and the sessions that it works for. @throws RuntimeError ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID
 */
async function boundedAgent({ context, agent, state }: BoundedAgentRequest): Promise<AgentDefinition> {
  const catalog = environmentsOf(context);
  const { agent: within } = await environmentNames({ catalog }).bind(state ?? {}, agent);
  if (state === undefined) return within;
  const { permission } = narrowedAgent(within, state.narrowing);
  const { mode, ask, deny } = ownBounds(state, permission);
  return { ...within, permission: { ...permission, mode, ask: [...ask], deny: [...deny] } };
}
