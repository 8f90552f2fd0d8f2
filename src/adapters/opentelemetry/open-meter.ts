/** Numbers for whatever provider of OpenTelemetry metrics the program has registered. */
import type { Attributes, Counter, Histogram, Meter as OpenTelemetryMeter } from '@opentelemetry/api';
import type { Meter } from '../../actors/telemetry/telemetry.ts';
import { METRICS } from '../../machines/telemetry/metric-catalog.ts';
import type { MetricChange, MetricLabels, MetricName, MetricReading } from '../../machines/telemetry/metric-catalog.ts';
import { providerName } from '../../machines/telemetry/span-words.ts';

type MetricsApi = Pick<typeof import('@opentelemetry/api'), 'metrics'>;

/** Changes that wait while the interface is loaded. More are dropped. */
const MAX_WAITING = 10_000;

/** Labels that the semantic conventions have names for. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  agent: 'gen_ai.agent.name',
  model: 'gen_ai.request.model',
  provider: 'gen_ai.provider.name',
  tool: 'gen_ai.tool.name',
};

export class OpenMeter implements Meter {
  readonly #onError: (error: unknown) => void;
  readonly #instruments = new Map<MetricName, Counter | Histogram>();
  #read: () => Promise<readonly MetricReading[]> = async () => [];
  #meter: OpenTelemetryMeter | undefined;
  #waiting: MetricChange[] = [];
  #state: 'off' | 'loading' | 'on' | 'broken' = 'off';

  /** @param onError told what kept numbers from being passed on */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  isOn(): boolean {
    return this.#state !== 'broken' && isRegistered('metrics');
  }

  readFrom(read: () => Promise<readonly MetricReading[]>): void {
    this.#read = read;
    // A worker that rests stores nothing, and is to be seen all the same.
    if (this.#state === 'off' && this.isOn()) this.#load();
  }

  add(changes: readonly MetricChange[]): void {
    if (this.#state === 'on') return this.#pass(changes);
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(...changes);
    if (this.#state === 'off') this.#load();
  }

  close(): void {
    this.#state = 'broken';
    this.#waiting = [];
    this.#read = async () => [];
  }

  #load(): void {
    this.#state = 'loading';
    void this.#loadApi();
  }

  /** Its import is awaited alone in a `try`: so bundlers let the package be missing. */
  async #loadApi(): Promise<void> {
    try {
      this.#begin(await import('@opentelemetry/api'));
    } catch (error) {
      this.#fail(error);
    }
  }

  #begin({ metrics }: MetricsApi): void {
    if (this.#state !== 'loading') return;
    try {
      this.#meter = metrics.getMeter('wakechart');
      this.#observe(this.#meter);
    } catch (error) {
      return this.#fail(error);
    }
    this.#state = 'on';
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#pass(waiting);
  }

  /** What is read when it is asked for, all at once: the store is asked once for each collection. */
  #observe(meter: OpenTelemetryMeter): void {
    const gauges = READ.map((name) => {
      const options = { description: METRICS[name].help };
      return METRICS[name].kind === 'counter'
        ? meter.createObservableCounter(openName(name), options)
        : meter.createObservableGauge(openName(name), options);
    });
    meter.addBatchObservableCallback(async (result) => {
      for (const { metric, labels, value } of await this.#read()) {
        const gauge = gauges[READ.indexOf(metric)];
        if (gauge !== undefined) result.observe(gauge, value, attributesOf(labels));
      }
    }, gauges);
  }

  #pass(changes: readonly MetricChange[]): void {
    try {
      for (const { metric, labels, value } of changes) {
        const instrument = this.#instrumentOf(metric);
        if (instrument === undefined) continue;
        if ('record' in instrument) instrument.record(value, attributesOf(labels));
        else instrument.add(value, attributesOf(labels));
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #instrumentOf(metric: MetricName): Counter | Histogram | undefined {
    const known = this.#instruments.get(metric);
    if (known !== undefined || this.#meter === undefined) return known;
    const { kind, help, buckets = [] } = METRICS[metric];
    const made =
      kind === 'histogram'
        ? this.#meter.createHistogram(openName(metric), {
            description: help,
            unit: 's',
            advice: { explicitBucketBoundaries: [...buckets] },
          })
        : this.#meter.createCounter(openName(metric), { description: help });
    this.#instruments.set(metric, made);
    return made;
  }

  #fail(error: unknown): void {
    this.close();
    this.#onError(error);
  }
}

/** Those of the process are told by the program's own instruments. */
const READ = (Object.keys(METRICS) as MetricName[]).filter(
  (name) => name.startsWith('wakechart_') && METRICS[name].kind === 'gauge',
);

/** `wakechart_model_steps_total` → `wakechart.model_steps`: exporters for Prometheus put back what it wants. */
function openName(name: MetricName): string {
  return name
    .replace(/^wakechart_/, 'wakechart.')
    .replace(/_total$/, '')
    .replace(/_seconds$/, '');
}

function attributesOf(labels: MetricLabels): Attributes {
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [
      ATTRIBUTES[label] ?? `wakechart.${label}`,
      label === 'provider' ? providerName(value) : value,
    ]),
  );
}

/** Where the interface keeps what was registered, whichever copy of it did so. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Whether the program has registered a provider: asked for each event, without loading the interface. */
export function isRegistered(signal: 'trace' | 'metrics'): boolean {
  const registered: unknown = Reflect.get(globalThis, REGISTERED);
  return typeof registered === 'object' && registered !== null && Reflect.get(registered, signal) !== undefined;
}
