/** Opens the sessions of a store for a command that checks and sends, and never wakes. */
import type { Clock } from '../../actors/clock/clock.ts';
import { environmentsOf } from './environments.ts';
import { environmentNames } from '../../actors/environment/environment-names.ts';
import type { WorkspaceCopyStore } from '../../actors/workspace-copy/copy-store.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { EventStore } from '../../actors/session/event-store.ts';
import { createIdSource } from '../../actors/session/id-source.ts';
import { JournalCache } from '../../actors/session/journal-cache.ts';
import { Sessions } from '../../actors/session/sessions.ts';
import type { WordChannel } from '../../actors/words/word-channel.ts';
import { messageOf } from '../../machines/errors.ts';
import { attachmentsOf } from '../../node/attachments.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import type { SharedSchedules } from '../../node/node-store.ts';
import type { CommandContext } from '../context.ts';
import { openStore } from './store.ts';

export interface OpenSessions {
  readonly sessions: Sessions;
  /** The caller closes it, after the sessions. */
  readonly store: EventStore;
  readonly clock: Clock;
  /** Undefined: no other machine shares the store. */
  readonly workspaceCopies: WorkspaceCopyStore | undefined;
  readonly schedules: SharedSchedules;
  /** What models say in other processes. */
  readonly words: WordChannel | undefined;
}

export async function openSessions(
  context: Pick<CommandContext, 'home' | 'store' | 'config' | 'err'>,
  agents: AgentCatalog,
): Promise<OpenSessions> {
  const { home, err } = context;
  const { store, clock, workspaceCopies, policy, schedules, words } = await openStore(context);
  const onListenerError = (error: unknown): void =>
    void err.push(`${err.styles.yellow('note:')} ${messageOf(error)}\n`);
  const ports = { store, ids: createIdSource({ clock }), clock };
  return {
    store,
    clock,
    workspaceCopies,
    schedules,
    words,
    sessions: new Sessions({
      ...ports,
      journals: new JournalCache(ports),
      agents,
      policy,
      environments: environmentNames({ catalog: environmentsOf(context) }),
      attachments: attachmentsOf(new HomeLayout(home), workspaceCopies),
      onListenerError,
    }),
  };
}
