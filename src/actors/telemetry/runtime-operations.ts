/** What the operator of a runtime asks: whether it can work, and in numbers what it does. */
import type { ErrorRecord } from '../../machines/errors.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { MetricFamily } from '../../machines/telemetry/metric-book.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';
import type { SessionWorkerStatus } from '../session/session-worker-types.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';

/** How long a store may take to answer, in milliseconds. */
const STORE_LIMIT_MS = 2_000;

/** Why a runtime cannot work now. */
type NotReady = Pick<ErrorRecord, 'code' | 'message'>;

export interface Readiness {
  readonly isReady: boolean;
  /** Empty when it is. */
  readonly reasons: readonly NotReady[];
}

/** What `createHealthHandler` attaches to. */
export interface RuntimeOperations {
  /** Counts from now on. Nothing is counted before. Idempotent. */
  startCounting(): void;
  /** Counts, and how things stand, as of now. Never rejects: what a store does not answer in time is left out. */
  metrics(): Promise<readonly MetricFamily[]>;
  /** Never rejects. */
  readiness(): Promise<Readiness>;
}

export interface OperationsPorts {
  readonly clock: Clock;
  readonly metrics: RuntimeMetrics;
  /** Resolves when the store has answered and is the one that is expected. */
  readonly askStore: () => Promise<unknown>;
  readonly workers: {
    statuses(): readonly SessionWorkerStatus[];
    /** Whether one was started and none runs any more. */
    readonly haveEnded: boolean;
  };
  readonly isShutDown: () => boolean;
}

export function runtimeOperations(ports: OperationsPorts): RuntimeOperations {
  const askStore = shared(ports.askStore);
  return {
    startCounting: () => ports.metrics.startCounting(),
    metrics: () => ports.metrics.families(),
    async readiness() {
      const reasons = [...workerReasons(ports), ...(await storeReasons({ ...ports, askStore }))];
      return Object.freeze({ isReady: reasons.length === 0, reasons: Object.freeze(reasons) });
    },
  };
}

/** Said first: a store is not asked for what is over. */
function workerReasons({ workers, isShutDown }: OperationsPorts): NotReady[] {
  if (isShutDown()) return [{ code: 'RUNTIME_SHUT_DOWN', message: 'the runtime is shut down' }];
  if (workers.haveEnded) return [{ code: 'WORKER_STOPPED', message: 'the worker has ended' }];
  return workers.statuses().flatMap(({ phase, trouble }) => {
    if (phase === 'starting') return [{ code: 'WORKER_STARTING', message: 'the worker begins to work' }];
    if (phase !== 'working') return [{ code: 'WORKER_DRAINING', message: 'the worker ends and takes nothing more' }];
    return trouble === undefined ? [] : [{ code: trouble.code, message: trouble.message }];
  });
}

async function storeReasons({ clock, askStore, isShutDown }: OperationsPorts): Promise<NotReady[]> {
  if (isShutDown()) return [];
  const answer = await withinLimit(askStore, clock);
  if (answer === 'timed_out')
    return [{ code: 'STORE_SILENT', message: `the store has not answered for ${STORE_LIMIT_MS / 1_000} s` }];
  return answer.error === undefined ? [] : [answer.error];
}

/** A caller that asks while an answer is awaited gets that one: a store that is away is not asked more and more. */
export function shared<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | undefined;
  return () =>
    (pending ??= ask().finally(() => {
      pending = undefined;
    }));
}

type Answer<Value> = { readonly value: Value; readonly error?: undefined } | { readonly error: NotReady };

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

function reasonOf(error: unknown): NotReady {
  return { code: RuntimeError.is(error) ? error.code : 'STORAGE_FAILED', message: messageOf(error) };
}
