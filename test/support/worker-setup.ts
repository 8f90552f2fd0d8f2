/** A worker on the store in memory with simulated time, and wakes that end when the test says so. */
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { createIdSource } from '../../src/actors/session/id-source.ts';
import { createSessionWorker } from '../../src/actors/session/session-worker.ts';
import type { SessionWorker } from '../../src/actors/session/session-worker.ts';
import type {
  SessionWorkerEvent,
  SessionWorkerOptions,
  SessionWorkerPorts,
} from '../../src/actors/session/session-worker-types.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { Activation } from '../../src/machines/session/activation.ts';
import type { WakeOutcome } from '../../src/machines/wake/wake-outcome.ts';
import { AGENT_ID, START_MS, created, idOf, newEvent } from './session-events.ts';

export interface WakeInHand {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Ends it as the log would say. */
  end(outcome?: WakeOutcome['outcome']): Promise<void>;
  fail(error: Error): Promise<void>;
}

export interface WorkerSetup {
  readonly clock: SimulatedClock;
  readonly store: MemoryEventStore;
  readonly worker: SessionWorker;
  readonly told: SessionWorkerEvent[];
  /** Wakes that run, oldest first. */
  readonly wakes: WakeInHand[];
  /** Sessions in the order of their wakes, by their number. */
  readonly order: number[];
  /** Types of what was told, with the session's number. */
  news(): string[];
  add(...hints: readonly Activation[]): Promise<void>;
  /** Lets everything that can happen now happen. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkerSetupOptions extends SessionWorkerOptions {
  /** Makes its way through a wake by itself, instead of waiting for the test. */
  readonly play?:
    | ((
        sessionId: string,
        setup: { readonly store: MemoryEventStore; readonly clock: SimulatedClock; readonly signal: AbortSignal },
      ) => Promise<WakeOutcome>)
    | undefined;
  readonly ports?: Partial<SessionWorkerPorts> | undefined;
  /** Before the worker is there. */
  readonly prepare?: ((store: MemoryEventStore) => Promise<void>) | undefined;
  readonly store?: MemoryEventStore | undefined;
}

export function due(session: number, change: Partial<Activation> = {}): Activation {
  return {
    sessionId: idOf(session),
    agentId: AGENT_ID,
    causeId: `cause-${session}`,
    kind: 'ingress',
    dueAtMs: START_MS,
    priority: 'normal',
    ...change,
  };
}

export function outcomeOf(sessionId: string, outcome: WakeOutcome['outcome'] = 'sleep'): WakeOutcome {
  return { sessionId, outcome, summary: outcome, modelSteps: 1, status: 'idle', head: 1 };
}

const numberOf = (sessionId: string): number => Number.parseInt(sessionId.replace('-', '').slice(0, 12), 16) - START_MS;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function settled(): Promise<void> {
  for (let n = 0; n < 12; n += 1) await turn();
}

export async function openWorkerSetup({
  play,
  ports = {},
  prepare,
  store = new MemoryEventStore(),
  ...options
}: WorkerSetupOptions = {}): Promise<WorkerSetup> {
  const clock = createSimulatedClock({ now: START_MS });
  await prepare?.(store);
  const wakes: WakeInHand[] = [];
  const order: number[] = [];
  const told: SessionWorkerEvent[] = [];
  const wake: SessionWorkerPorts['wake'] = (sessionId, { signal }) => {
    order.push(numberOf(sessionId));
    if (play !== undefined) return play(sessionId, { store, clock, signal });
    return new Promise((resolve, reject) => {
      const own: WakeInHand = {
        sessionId,
        signal,
        async end(outcome = 'sleep') {
          wakes.splice(wakes.indexOf(own), 1);
          if (outcome !== 'nothing_to_do') await removeDue(store, sessionId, clock.now());
          resolve(outcomeOf(sessionId, outcome));
          await settled();
        },
        async fail(error) {
          wakes.splice(wakes.indexOf(own), 1);
          reject(error);
          await settled();
        },
      };
      wakes.push(own);
      signal.addEventListener('abort', () => void own.end('aborted'), { once: true });
    });
  };
  const tasks = new BackgroundTaskManager({ runners: {}, clock });
  const worker = createSessionWorker(
    {
      store,
      clock,
      ids: createIdSource({ clock }),
      wake,
      supervisor: tasks.supervisor,
      onListenerError: () => undefined,
      ...ports,
    },
    options,
  );
  worker.events$.subscribe((event) => told.push(event));
  await settled();
  // That it found nothing at first is no news.
  if (told.length === 1 && told[0]?.type === 'idle') told.pop();
  return {
    clock,
    store,
    worker,
    told,
    wakes,
    order,
    news: () => told.map((event) => ('sessionId' in event ? `${event.type} ${numberOf(event.sessionId)}` : event.type)),
    async add(...hints) {
      await store.activations.add(hints);
      await settled();
    },
    settle: settled,
    async close() {
      await worker.stop({ running: 'abort' }).catch(() => undefined);
      await tasks.shutdown();
      await store.close();
    },
  };
}

/** As the log of a real wake does when it ends. */
export async function removeDue(store: MemoryEventStore, sessionId: string, nowMs: number): Promise<void> {
  const { due: found } = await store.activations.due({ nowMs, limit: 100_000 });
  await store.activations.remove(
    found.filter((each) => each.sessionId === sessionId).flatMap(({ activations }) => activations),
  );
}

/** Makes a session that can be read. */
export async function makeSession(store: MemoryEventStore, session: number): Promise<void> {
  await store.create({ sessionId: idOf(session), agentId: AGENT_ID }, [newEvent(session * 1_000 + 1, created)]);
}
