/** One session in a store of its own, that can be terminated and replaced, for tests of what follows it. */
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import type { SessionWatchPorts } from '../../../src/actors/shell/session-watch.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { IDENTITY, SESSION_ID, created, newEvent } from '../../support/session-events.ts';

export interface FollowedSession {
  readonly sessionId: string;
  readonly ports: SessionWatchPorts;
  readonly store: MemoryEventStore;
  /** Holds that were taken and not released. */
  readonly held: () => number;
  terminate(): Promise<void>;
  /** Another session takes the place of this one, with the same id and the same beginning. Nobody is told. */
  replace(): void;
  /** How many times in a row it cannot be checked from now on. */
  hide(times: number): void;
}

export async function followedSession(clock: Clock): Promise<FollowedSession> {
  const store = new MemoryEventStore();
  await store.create(IDENTITY, [newEvent(1, created)]);
  let holds = 0;
  let incarnation = 1;
  let hidden = 0;
  const requireVisible = (): void => {
    if (hidden === 0) return;
    hidden -= 1;
    throw new Error('the disk is gone');
  };
  return {
    sessionId: SESSION_ID,
    store,
    ports: {
      store,
      clock,
      ids: createIdSource({ clock }),
      async hold() {
        requireVisible();
        const own = incarnation;
        holds += 1;
        return {
          async isThere() {
            requireVisible();
            return incarnation === own;
          },
          release: async () => void (holds -= 1),
        };
      },
    },
    held: () => holds,
    async terminate() {
      await store.append(SESSION_ID, [
        newEvent(2, {
          type: 'session.status_changed',
          data: { to: 'terminated', stopReason: 'terminated', reason: 'enough' },
        }),
      ]);
    },
    replace: () => void (incarnation += 1),
    hide: (times) => void (hidden = times),
  };
}
