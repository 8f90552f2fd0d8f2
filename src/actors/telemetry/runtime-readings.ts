/** How a runtime stands, read when it is asked for. A store that is silent leaves its part out and holds nothing up. */
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import type { MetricReading, MetricLabels, ReadMetric } from '../../machines/telemetry/metric-catalog.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';
import type { Fleet } from '../inspection/fleet.ts';
import type { CandidateHealthStore } from '../run/candidate-health-store.ts';
import type { EventStore } from '../session/event-store.ts';
import type { SessionWorkerStatus } from '../session/session-worker-types.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';

/** Up to where due sessions are counted. */
const MAX_COUNTED = 2_000;

/** Of how many it is asked whether they are being woken: more are not awake at once in one home. */
const MAX_ASKED = 200;

export interface ReadingPorts {
  readonly clock: Clock;
  readonly store: Pick<EventStore, 'activations' | 'isWakeRightHeld'>;
  readonly fleet?: Fleet | undefined;
  readonly candidateHealth?: Pick<CandidateHealthStore, 'list'> | undefined;
  readonly tasks: Pick<BackgroundTaskManager, 'list'>;
  readonly workers: { statuses(): readonly SessionWorkerStatus[] };
  /** Wakes under way in this process. */
  readonly runningWakes: () => number;
  /** What the program tells of itself. */
  readonly processReadings?: (() => readonly MetricReading[]) | undefined;
}

/** The function that is returned never rejects. */
export function readerOf(ports: ReadingPorts): () => Promise<readonly MetricReading[]> {
  const store = shared(() => readStore(ports));
  const candidates = shared(() => readCandidates(ports));
  return () => readAll(ports, store, candidates);
}

type Read = () => Promise<readonly MetricReading[]>;

async function readAll(ports: ReadingPorts, store: Read, candidates: Read): Promise<readonly MetricReading[]> {
  const { clock } = ports;
  const [stored, resting] = await Promise.all([withinLimit(store, clock), withinLimit(candidates, clock)]);
  const isUp = stored !== 'timed_out' && stored.error === undefined;
  return [
    reading('wakechart_store_up', isUp ? 1 : 0),
    ...(isUp ? stored.value : []),
    ...(resting === 'timed_out' || resting.error !== undefined ? [] : resting.value),
    reading('wakechart_running_wakes', ports.runningWakes()),
    ...ofWorkers(ports.workers.statuses()),
    ...counted('wakechart_tasks', 'status', [
      ...ports.tasks.list({ status: ['queued', 'running'] }).map(({ status }) => status),
    ]),
    ...(ports.processReadings?.() ?? []),
  ];
}

async function readStore({ clock, store, fleet }: ReadingPorts): Promise<MetricReading[]> {
  if (fleet !== undefined) return ofFleet(fleet, clock.now());
  const nowMs = clock.now();
  const { due } = await store.activations.due({ nowMs, limit: MAX_COUNTED });
  const sinceOf = ({ activations }: DueSession): number => Math.min(...activations.map(({ dueAtMs }) => dueAtMs));
  const longest = due.toSorted((one, other) => sinceOf(one) - sinceOf(other));
  // What is being woken stays due until its wake has ended.
  const waits = await Promise.all(
    longest.slice(0, MAX_ASKED).map(({ sessionId }) =>
      store.isWakeRightHeld(sessionId).then(
        (isHeld) => !isHeld,
        () => false,
      ),
    ),
  );
  const waiting = longest.filter((_, index) => waits[index] ?? true);
  const since = Math.min(nowMs, ...waiting.slice(0, 1).map(sinceOf));
  return [reading('wakechart_due_sessions', waiting.length), reading('wakechart_lag_seconds', (nowMs - since) / 1_000)];
}

async function ofFleet(fleet: Fleet, nowMs: number): Promise<MetricReading[]> {
  const { lag, workers, leases, parked } = await fleet.check();
  const alive = workers.items.filter(({ isAlive }) => isAlive).length;
  return [
    reading('wakechart_due_sessions', lag.sessions),
    reading('wakechart_lag_seconds', lag.since === undefined ? 0 : Math.max(0, nowMs - Date.parse(lag.since)) / 1_000),
    reading('wakechart_fleet_workers', alive, { alive: 'true' }),
    reading('wakechart_fleet_workers', workers.total - alive, { alive: 'false' }),
    reading('wakechart_fleet_leases', leases.total),
    reading('wakechart_fleet_parked_sessions', parked.total),
  ];
}

async function readCandidates({ candidateHealth }: ReadingPorts): Promise<MetricReading[]> {
  const resting = ((await candidateHealth?.list()) ?? []).filter(
    ({ state }) => state === 'cooling' || state === 'disabled',
  );
  const sums = new Map<string, MetricReading>();
  for (const { state, candidate } of resting) {
    const labels = { provider: candidate.provider, state };
    const key = JSON.stringify(labels);
    sums.set(key, reading('wakechart_candidates_resting', (sums.get(key)?.value ?? 0) + 1, labels));
  }
  return [...sums.values()];
}

function ofWorkers(statuses: readonly SessionWorkerStatus[]): MetricReading[] {
  const slots = statuses.reduce((sum, { concurrency }) => sum + concurrency, 0);
  return [
    reading('wakechart_worker_slots', slots),
    ...counted(
      'wakechart_worker_phase',
      'phase',
      statuses.map(({ phase }) => phase),
    ),
    ...counted(
      'wakechart_worker_set_aside',
      'phase',
      statuses.flatMap(({ setAside }) => setAside.map(({ phase }) => phase)),
    ),
  ];
}

function counted(metric: ReadMetric, label: string, values: readonly string[]): MetricReading[] {
  return [...new Set(values)].map((value) =>
    reading(metric, values.filter((each) => each === value).length, { [label]: value }),
  );
}

function reading(metric: ReadMetric, value: number, labels: MetricLabels = {}): MetricReading {
  return { metric, labels, value };
}

// Asks a store that may be silent: once for all who ask meanwhile, and not for longer than a scraper waits.

/** How long a store may take to answer, in milliseconds. */
export const STORE_LIMIT_MS = 2_000;

interface StoreFailure {
  readonly code: string;
  readonly message: string;
}

/** A caller that asks while an answer is awaited gets that one: a store that is away is not asked more and more. */
export function shared<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | undefined;
  return () =>
    (pending ??= ask().finally(() => {
      pending = undefined;
    }));
}

type Answer<Value> = { readonly value: Value; readonly error?: undefined } | { readonly error: StoreFailure };

/** Never rejects. */
export async function withinLimit<Value>(
  ask: () => Promise<Value>,
  clock: Clock,
): Promise<Answer<Value> | 'timed_out'> {
  let answer: Answer<Value> | undefined;
  const asked = ask().then(
    (value) => (answer = { value }),
    (error: unknown) => (answer = { error: reasonOf(error) }),
  );
  await waitFor(asked, { clock, timeoutMs: STORE_LIMIT_MS });
  return answer ?? 'timed_out';
}

function reasonOf(error: unknown): StoreFailure {
  return { code: RuntimeError.is(error) ? error.code : 'STORAGE_FAILED', message: messageOf(error) };
}
