/**
 * The numbers of one runtime. Nothing is counted before a scraper or a meter is there: an event then costs a question.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { MetricRegistry } from '../../machines/telemetry/metric-registry.ts';
import type { MetricFamily } from '../../machines/telemetry/metric-registry.ts';
import type { MetricChange, MetricReading } from '../../machines/telemetry/metric-catalog.ts';
import { MetricFold } from '../../machines/telemetry/metric-fold.ts';
import type { SessionWorkerEvent } from '../session/session-worker-types.ts';
import type { Meter, Telemetry } from './telemetry.ts';

interface RuntimeMetricsOptions {
  /** Hears the same events. */
  readonly telemetry: Telemetry | undefined;
  /** Never rejects. */
  readonly read: () => Promise<readonly MetricReading[]>;
}

export class RuntimeMetrics {
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
