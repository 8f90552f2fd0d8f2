/** What the operator of a runtime asks: whether it can work, and in numbers what it does. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { MetricChange, MetricReading } from '../../machines/telemetry/metric-catalog.ts';
import { MetricFold } from '../../machines/telemetry/metric-fold.ts';
import type { MetricFamily } from '../../machines/telemetry/metric-registry.ts';
import { MetricRegistry } from '../../machines/telemetry/metric-registry.ts';
import type { Clock } from '../clock/clock.ts';
import type { SessionWorkerEvent, SessionWorkerStatus } from '../session/session-worker-types.ts';
import { readerOf, shared, STORE_LIMIT_MS, withinLimit } from './runtime-readings.ts';
import type { ReadingPorts } from './runtime-readings.ts';
import type { Meter, Telemetry } from './telemetry.ts';

/** Why a runtime cannot work now. */
interface NotReady {
  readonly because:
    | 'shut_down'
    | 'worker_starting'
    | 'worker_draining'
    | 'worker_stopped'
    | 'worker_troubled'
    | 'store_silent'
    | 'store_failed';
  /** For people. */
  readonly message: string;
  /** Of the error, where it is one. */
  readonly code?: string | undefined;
}

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

interface WatchedPorts extends Omit<ReadingPorts, 'workers'> {
  readonly telemetry?: Telemetry | undefined;
  /** Resolves when the store has answered and is the one that is expected. */
  readonly askStore?: (() => Promise<unknown>) | undefined;
  readonly workers: () => {
    statuses(): readonly SessionWorkerStatus[];
    /** Whether one was started and none runs any more. */
    readonly haveEnded: boolean;
  };
  readonly isShutDown: () => boolean;
}

export interface WatchedRuntime {
  /** Hears what is to be counted. */
  readonly metrics: RuntimeMetrics;
  readonly operations: RuntimeOperations;
}

export function watchRuntime(ports: WatchedPorts): WatchedRuntime {
  const { telemetry, workers } = ports;
  const read = readerOf({ ...ports, workers: { statuses: () => workers().statuses() } });
  const metrics = new RuntimeMetrics({ telemetry, read });
  const askStore = shared(ports.askStore ?? (async () => undefined));
  return {
    metrics,
    operations: {
      startCounting: () => metrics.startCounting(),
      metrics: () => metrics.families(),
      async readiness() {
        const reasons = ports.isShutDown()
          ? [{ because: 'shut_down', message: 'the runtime is shut down' } as const]
          : [...workerReasons(workers()), ...(await storeReasons(askStore, ports.clock))];
        return Object.freeze({ isReady: reasons.length === 0, reasons: Object.freeze(reasons) });
      },
    },
  };
}

function workerReasons(workers: ReturnType<WatchedPorts['workers']>): NotReady[] {
  if (workers.haveEnded) return [{ because: 'worker_stopped', message: 'the worker has ended' }];
  return workers.statuses().flatMap(({ phase, trouble }): NotReady[] => {
    if (phase === 'starting') return [{ because: 'worker_starting', message: 'the worker begins to work' }];
    if (phase !== 'working')
      return [{ because: 'worker_draining', message: 'the worker ends, and takes nothing more' }];
    return trouble === undefined ? [] : [{ because: 'worker_troubled', code: trouble.code, message: trouble.message }];
  });
}

async function storeReasons(ask: () => Promise<unknown>, clock: Clock): Promise<NotReady[]> {
  const answer = await withinLimit(ask, clock);
  if (answer === 'timed_out')
    return [{ because: 'store_silent', message: `the store has not answered for ${STORE_LIMIT_MS / 1_000} s` }];
  return answer.error === undefined ? [] : [{ because: 'store_failed', ...answer.error }];
}

interface RuntimeMetricsOptions {
  /** Hears the same events. */
  readonly telemetry: Telemetry | undefined;
  /** Never rejects. */
  readonly read: () => Promise<readonly MetricReading[]>;
}

/**
 * The numbers of one runtime. Nothing is counted before a scraper or a meter is there: an event then costs a
 * question.
 */
class RuntimeMetrics {
  readonly #telemetry: Telemetry | undefined;
  readonly #meter: Meter | undefined;
  readonly #read: () => Promise<readonly MetricReading[]>;
  readonly #fold = new MetricFold();
  /** How late sessions are that workers are about to wake, in milliseconds: another process may be at them already. */
  readonly #late = new Map<string, number>();
  #book: MetricRegistry | undefined;

  constructor({ telemetry, read }: RuntimeMetricsOptions) {
    this.#telemetry = telemetry;
    this.#meter = telemetry?.meter;
    this.#read = read;
    this.#meter?.readFrom(read);
  }

  take(event: SessionEvent, agentId?: string): void {
    this.#telemetry?.take(event, agentId);
    if (!this.#isHeard) return;
    this.#tell(this.#fold.take(event, agentId));
    const lateMs = event.type === 'wake.started' ? this.#late.get(event.sessionId) : undefined;
    if (lateMs !== undefined) this.#tell([this.#fold.change('wakechart_wake_lateness_seconds', {}, lateMs / 1_000)]);
  }

  /** What a worker of the runtime tells. */
  hear(event: SessionWorkerEvent): void {
    if (event.type === 'woke') this.#late.set(event.sessionId, event.latenessMs);
    else if ('sessionId' in event) this.#late.delete(event.sessionId);
  }

  /** Idempotent. */
  startCounting(): void {
    this.#book ??= new MetricRegistry();
  }

  /** As they are now, of what was counted since `startCounting`. */
  async families(): Promise<readonly MetricFamily[]> {
    this.startCounting();
    const readings = await this.#read();
    return this.#book?.families(readings) ?? [];
  }

  get #isHeard(): boolean {
    return this.#book !== undefined || this.#meter?.isOn() === true;
  }

  #tell(changes: readonly MetricChange[]): void {
    this.#book?.apply(changes);
    if (this.#meter?.isOn() === true) this.#meter.add(changes);
  }
}
