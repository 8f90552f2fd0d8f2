/**
 * Processes that share one store and die: each sees the store through a view whose writes are taken apart into the
 * steps that a store without transactions takes (hints made, events stored, spent hints removed), and which dies before
 * any step that it is told to.
 */
import { MAX_READ_EVENTS } from '../../src/actors/session/event-store.ts';
import type {
  AppendOptions,
  AppendResult,
  EventStore,
  NewSessionEvents,
  WakeRight,
} from '../../src/actors/session/event-store.ts';
import type { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { Activation } from '../../src/machines/session/activation.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';

export interface MortalView extends EventStore {
  /** Lets it write so many steps more. */
  dieAfter(steps: number): void;
  /** As a kill does: nothing of it is heard of again, and its rights are free. */
  kill(): Promise<void>;
  readonly isDead: boolean;
}

/**
 * Every method of the inner store while the process lives; appends step by step. `pause` lets others run in between.
 */
export function mortalView(inner: MemoryEventStore, pause: () => Promise<void>): MortalView {
  const rights: WakeRight[] = [];
  let stepsLeft = Infinity;
  let isDead = false;
  const assertAlive = (): void => {
    if (isDead) throw new Error('this process is dead');
  };
  const step = async (): Promise<void> => {
    await pause();
    if (stepsLeft <= 0) isDead = true;
    assertAlive();
    stepsLeft -= 1;
  };
  const append = async (
    sessionId: string,
    events: NewSessionEvents,
    { activate = [], settle = [], ...options }: AppendOptions = {},
  ): Promise<AppendResult> => {
    if (activate.length > 0) {
      await step();
      await inner.activations.add(activate);
    }
    await step();
    const result = await inner.append(sessionId, events, options);
    if (settle.length > 0 && !result.isDuplicate) {
      await step();
      await inner.activations.remove(settle);
    }
    assertAlive();
    return result;
  };
  const own = {
    append,
    create: async (...parameters: Parameters<EventStore['create']>): Promise<AppendResult> => {
      await step();
      return inner.create(...parameters);
    },
    acquireWakeRight: async (...parameters: Parameters<EventStore['acquireWakeRight']>): Promise<WakeRight> => {
      assertAlive();
      const right = await inner.acquireWakeRight(...parameters);
      rights.push(right);
      return right;
    },
    close: async () => undefined,
    dieAfter: (steps: number) => {
      stepsLeft = steps;
    },
    kill: async () => {
      isDead = true;
      for (const right of rights) await right.release();
    },
  };
  return new Proxy(inner as unknown as MortalView, {
    get(target, name) {
      if (name === 'isDead') return isDead;
      if (name in own) return own[name as keyof typeof own];
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]): unknown => {
        if (isDead && name !== 'watch') return Promise.reject(new Error('this process is dead'));
        return (value as (...all: unknown[]) => unknown).apply(target, parameters);
      };
    },
  });
}

export async function wholeLog(store: EventStore, sessionId: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (;;) {
    const page = await store.read(sessionId, { from: events.length + 1 });
    events.push(...page);
    if (page.length < MAX_READ_EVENTS) return events;
  }
}

/** Every hint of the index, by session. */
export async function hintsOf(store: EventStore): Promise<ReadonlyMap<string, readonly Activation[]>> {
  const { due } = await store.activations.due({ nowMs: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER });
  return new Map(due.map(({ sessionId, activations }) => [sessionId, activations]));
}
