/** With which agent and session a chat begins, and what a newcomer is told who has none. */
import { join } from 'node:path';
import { isThere } from '../../adapters/system/whole-files.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import type { Runtime } from '../../runtime.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { sessionNamed } from '../open/short-ids.ts';
import { checkedAgentName, checkedEnvironmentName, usageError } from '../usage.ts';

export interface ChatOptions {
  readonly agent: string | undefined;
  /** `true`: the newest. */
  readonly resume: string | true | undefined;
  readonly environment: string | undefined;
}

/** A session that is gone on with, or an agent of which one is made with the first message. */
export type Opening = { readonly state: SessionState } | { readonly agentId: string };

export async function openingOf(
  context: CommandContext,
  { sessions, agents, environments }: Pick<NodeRuntime, 'sessions' | 'agents' | 'environments'>,
  { agent, resume, environment }: ChatOptions,
): Promise<Opening> {
  if (environment !== undefined) await environments.get(checkedEnvironmentName(environment));
  const agentId = agent === undefined ? undefined : checkedAgentName(agent);
  if (typeof resume === 'string') return { state: await sessions.status(await sessionNamed(sessions, resume)) };
  if (agentId !== undefined) await agents.get(agentId);
  if (resume === true) return { state: await newestSession(sessions, agentId) };
  return { agentId: agentId ?? (await onlyAgent(context, agents)) };
}

/** The one in which something has happened last; what others have begun is theirs. */
export async function newestSession(sessions: Runtime['sessions'], agentId: string | undefined): Promise<SessionState> {
  const [newest] = (await sessions.list(agentId === undefined ? {} : { agentId }))
    .filter(
      ({ parent, unreadable, status }) => parent === undefined && unreadable === undefined && status !== 'terminated',
    )
    .toSorted((one, other) => (other.updatedAt ?? '').localeCompare(one.updatedAt ?? ''));
  if (newest !== undefined) return newest;
  const whose = agentId === undefined ? 'any session' : `a session of agent "${agentId}"`;
  throw new RuntimeError('SESSION_NOT_FOUND', `expected ${whose} to go on with; there is none that has not ended`, {
    category: 'not_found',
    hint: 'Begin one: leave --resume away.',
  });
}

/** Before a home is made for nothing. @throws RuntimeError AGENT_MISSING */
export async function checkHome(context: CommandContext): Promise<void> {
  const { home, config, store } = context;
  if (config === undefined && store === undefined && !(await isThere(join(home, 'agents')))) throw noAgent(context);
}

function noAgent(context: CommandContext): RuntimeError {
  const ways = [
    ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5'],
    ['--provider', 'claude-code'],
  ];
  return new RuntimeError('AGENT_MISSING', `expected an agent to talk with; there is none in ${context.home} yet`, {
    category: 'not_found',
    hint: `Make one that works with a model; it says what it needs:\n${ways.map((words) => `  ${nextCommand(context, 'init', ...words)}`).join('\n')}\nor one that plays a small script, to see how it is, without a model:\n  ${nextCommand(context, 'init')}`,
  });
}

async function onlyAgent(context: CommandContext, agents: Runtime['agents']): Promise<string> {
  const names = (await agents.list()).map((listing) => listing.agentId);
  const [first] = names;
  if (first === undefined) throw noAgent(context);
  if (names.length === 1) return first;
  throw usageError(
    `expected --agent: there are ${names.length} agents in ${context.home}`,
    `Name one of them: ${names.join(', ')}. Or go on with the newest session: ${nextCommand(context, 'chat', '--resume')}`,
  );
}
