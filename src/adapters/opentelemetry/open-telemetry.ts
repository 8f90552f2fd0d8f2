/**
 * Traces and metrics of what agents do, for whatever OpenTelemetry provider the program has registered. Without one it costs a read
 * of one property for each event, and not even the interface of OpenTelemetry is loaded.
 */
import { SpanFold } from '../../machines/telemetry/span-fold.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { Telemetry } from '../../actors/telemetry/telemetry.ts';
import { isRegistered, OpenMeter } from './open-meter.ts';
import { OpenSpans } from './open-spans.ts';
import type { TracingApi } from './open-spans.ts';

/** Events that wait while the interface is loaded. More are dropped. */
const MAX_WAITING_EVENTS = 10_000;

interface OpenTelemetryOptions {
  /**
   * Characters of what was said and given that a span tells, for each of its attributes. Default 0: it tells nothing of
   * it.
   */
  readonly contentCharacters?: number | undefined;
  /** Told once when spans or numbers cannot be passed on. Default: not told. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** For times that no event gives. Default: that of the system. */
  readonly now?: (() => number) | undefined;
}

export function createOpenTelemetry({
  contentCharacters,
  onError = () => undefined,
  now = Date.now,
}: OpenTelemetryOptions = {}): Telemetry {
  return new OpenTelemetry({ contentCharacters: checkedLimit(contentCharacters), onError, now });
}

interface CheckedOptions {
  readonly contentCharacters: number;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

type State = 'off' | 'loading' | 'on' | 'broken' | 'closed';

class OpenTelemetry implements Telemetry {
  readonly meter = new OpenMeter((error) => this.#report(error));
  readonly #options: CheckedOptions;
  #state: State = 'off';
  #fold: SpanFold;
  #spans: OpenSpans | undefined;
  #waiting: (readonly [event: SessionEvent, agentId: string | undefined])[] = [];
  #loading: Promise<void> = Promise.resolve();
  #isReported = false;

  constructor(options: CheckedOptions) {
    this.#options = options;
    this.#fold = this.#newFold();
  }

  take(event: SessionEvent, agentId?: string): void {
    if (this.#state === 'closed' || this.#state === 'broken') return;
    if (!isRegistered('trace')) return this.#forget();
    if (this.#state === 'off') this.#load();
    if (this.#state === 'on') this.#pass(event, agentId);
    else if (this.#waiting.length < MAX_WAITING_EVENTS) this.#waiting.push([event, agentId]);
  }

  async close(): Promise<void> {
    this.meter.close();
    await this.#loading;
    if (this.#state === 'closed') return;
    const isOn = this.#state === 'on';
    this.#state = 'closed';
    if (isOn) this.#safely(() => this.#spans?.apply(this.#fold.close(new Date(this.#options.now()).toISOString())));
    this.#waiting = [];
  }

  #load(): void {
    if (this.#spans !== undefined) {
      this.#state = 'on';
      return;
    }
    this.#state = 'loading';
    this.#loading = this.#loadApi();
  }

  async #loadApi(): Promise<void> {
    let api: TracingApi;
    try {
      api = await import('@opentelemetry/api');
    } catch (error) {
      this.#state = 'broken';
      this.#waiting = [];
      this.#report(error);
      return;
    }
    this.#begin(api);
  }

  #begin(api: TracingApi): void {
    this.#spans = new OpenSpans(api);
    this.#state = 'on';
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [event, agentId] of waiting) this.#pass(event, agentId);
  }

  #pass(event: SessionEvent, agentId: string | undefined): void {
    this.#safely(() => this.#spans?.apply(this.#fold.take(event, agentId)));
  }

  /** No provider takes spans any more, or not yet: what was open is of no use to a provider that comes later. */
  #forget(): void {
    if (this.#state !== 'on') return;
    this.#state = 'off';
    this.#fold = this.#newFold();
    this.#spans?.clear();
  }

  #newFold(): SpanFold {
    return new SpanFold({ contentCharacters: this.#options.contentCharacters });
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    try {
      this.#options.onError(error);
    } catch {
      // No listener is left to tell.
    }
  }
}

function checkedLimit(characters = 0): number {
  if (Number.isSafeInteger(characters) && characters >= 0) return characters;
  throw new RangeError(`contentCharacters: expected a whole number from 0 on, received ${String(characters)}`);
}
