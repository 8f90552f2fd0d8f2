/** The agents and sessions of a home, without anything that could run them: for commands that check and send. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { WorkspaceCopyStore } from '../../actors/workspace-copy/copy-store.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { EventStore } from '../../actors/session/event-store.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import type { WordChannel } from '../../actors/words/word-channel.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { agentsOf } from '../../node/agents.ts';
import type { SharedSchedules } from '../../node/node-store.ts';
import type { CommandContext } from '../context.ts';
import { checkHome } from '../home.ts';
import { withSuggestions } from './suggestions.ts';

export interface AgentStore {
  readonly agents: AgentCatalog;
  readonly layout: HomeLayout;
}

export interface SessionStore extends AgentStore {
  readonly sessions: Sessions;
  /** Where they are kept. */
  readonly store: EventStore;
  readonly clock: Clock;
  /** Where the folders of sessions are at home. Undefined: no other machine shares the store. */
  readonly workspaceCopies: WorkspaceCopyStore | undefined;
  readonly schedules: SharedSchedules;
  /** What models say in other processes. */
  readonly words: WordChannel | undefined;
}

/** Lets `work` use the agents. Errors about names that are not there say which ones are. */
export async function withAgents<Result>(
  context: CommandContext,
  work: (store: AgentStore) => Promise<Result>,
): Promise<Result> {
  await checkHome(context.home);
  const layout = new HomeLayout(context.home);
  const agents = await agentsOf(layout, { agents: context.config?.content.agents, config: context.config?.file });
  try {
    return await work({ agents, layout });
  } catch (error) {
    throw await withSuggestions(error, context, { agents });
  }
}

/** Opens the sessions too, lets `work` use them, and closes them. */
export function withSessions<Result>(
  context: CommandContext,
  work: (store: SessionStore) => Promise<Result>,
): Promise<Result> {
  return withAgents(context, async ({ agents, layout }) => {
    // Loaded when it is needed: most of the time a short command takes is spent on loading.
    const { openSessions } = await import('./sessions.ts');
    const { sessions, ...opened } = await openSessions(context, agents);
    try {
      return await work({ agents, layout, sessions, ...opened });
    } catch (error) {
      throw await withSuggestions(error, context, { agents, sessions });
    } finally {
      sessions.close();
      await opened.store.close();
    }
  });
}
