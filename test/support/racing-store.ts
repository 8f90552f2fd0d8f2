/**
 * A store whose every operation waits until a scheduler of fast-check lets it happen: whoever shares it races, and the
 * order is part of the counterexample.
 */
import type { Scheduler } from 'fast-check';
import type { AppendResult, EventStore, NewSessionEvents, WakeRight } from '../../src/actors/session/event-store.ts';
import { placeEvent } from '../../src/machines/session/session-event.ts';
import type { StoredEvent } from '../../src/machines/session/session-event.ts';

const RACING = new Set<string | symbol>([
  'append',
  'create',
  'read',
  'head',
  'findByKey',
  'findById',
  'acquireWakeRight',
  'delete',
]);

export interface RacingStore {
  /** One process's view. `name` stands before what it does. */
  view(name: string): EventStore;
  /** From now on, until it is called again. Without a scheduler everything happens at once. */
  raceUnder(scheduler: Scheduler | undefined): void;
  /** As when a lease runs out: the rights of this process are free, and it does not know. */
  forgetRightsOf(name: string): Promise<void>;
}

/**
 * `blind`: stores without a check where the log ends and under which epoch. `lawless`: that, and whoever asks for the
 * right to wake a session has it. `forgetful`: says that it has stored what people send while others race, and has not.
 */
export type StoreDefect = 'blind' | 'lawless' | 'forgetful';

/** @param defect planted, to show that a race finds it */
export function racingStore(inner: EventStore, { defect }: { readonly defect?: StoreDefect } = {}): RacingStore {
  let scheduler: Scheduler | undefined;
  const rights = new Map<string, WakeRight[]>();
  const view = (owner: string): EventStore =>
    new Proxy(inner, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const call = (...given: readonly unknown[]): unknown =>
          (value as (...all: readonly unknown[]) => unknown).apply(target, [...given]);
        if (!RACING.has(name)) return call;
        return async (...given: readonly unknown[]) => {
          if (scheduler !== undefined) await scheduler.schedule(Promise.resolve(), `${owner} ${String(name)}`);
          const [sessionId, events] = given as Parameters<EventStore['append']>;
          if (name === 'acquireWakeRight' && defect === 'lawless')
            return {
              epoch: (await inner.head(sessionId)) + 1,
              lost: new AbortController().signal,
              release: async () => undefined,
            };
          if (
            name === 'append' &&
            defect === 'forgetful' &&
            scheduler !== undefined &&
            events.some(({ type }) => type.startsWith('user.'))
          )
            return forgotten(sessionId, events, await inner.head(sessionId));
          const answer =
            name === 'append' && (defect === 'blind' || defect === 'lawless')
              ? await inner.append(sessionId, events)
              : await call(...given);
          if (name === 'acquireWakeRight') rights.set(owner, [...(rights.get(owner) ?? []), answer as WakeRight]);
          return answer;
        };
      },
    });
  return {
    view,
    raceUnder: (next) => {
      scheduler = next;
    },
    async forgetRightsOf(owner) {
      for (const right of rights.get(owner) ?? []) await right.release();
      rights.delete(owner);
    },
  };
}

function forgotten(sessionId: string, events: NewSessionEvents, head: number): AppendResult {
  return {
    events: events.map((event, index) => placeEvent(event as StoredEvent, sessionId, head + index + 1)),
    durability: 'memory',
    isDuplicate: false,
  };
}

/** Work that begins when the scheduler says so; what follows in it takes its own turns. */
export function inTurn<Result>(scheduler: Scheduler, name: string, work: () => Promise<Result>): () => Promise<Result> {
  return async () => {
    await scheduler.schedule(Promise.resolve(), name);
    return work();
  };
}
