/**
 * Records what the actors of a living system do, from the moment it is made until it is detached. It does no harm:
 * whatever goes wrong in it is counted and stays in it, payloads are bounded and redacted before they are read, and of
 * what it cannot keep it says how much that was.
 */
import type { AnyActorRef } from 'xstate';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { INSPECTION_LOG_FORMAT } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectionHeader, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { Clock } from '../clock/clock.ts';
import { createIdSource } from '../session/id-source.ts';
import { reportToConsole, safely } from '../streams/listener-errors.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { liveActorsOf, scheduledTimersOf, watchSystem } from '../xstate-system.ts';
import { ChartRegistry } from './chart-registry.ts';
import { InspectedText } from './inspected-text.ts';
import type { Redact } from './inspected-text.ts';
import { InspectionObserver } from './inspection-observer.ts';
import type { Inspected } from './inspection-observer.ts';
import type { InspectionRange, InspectionRecording } from './inspection-source.ts';
import { LaterSecrets } from './later-secrets.ts';
import { Payloads } from './payloads.ts';
import { RecordNotifier } from './record-notifier.ts';
import { RecordRing } from './record-ring.ts';
import type { FactsOf } from './recorded-facts.ts';
import { RecordedValues } from './recorded-values.ts';
import { recorderLimits } from '../../machines/inspection-log/recorder-limits.ts';
import type { RecorderLimits } from '../../machines/inspection-log/recorder-limits.ts';

export interface RecorderOptions {
  /** The actor of a supervisor: everything in its system is recorded. Several, where a program has several. */
  readonly root: AnyActorRef | readonly AnyActorRef[];
  readonly clock: Clock;
  /** Takes secrets out of every text before it is cut and kept. Without it none is taken out. */
  readonly redact?: Redact | undefined;
  readonly factsOf?: FactsOf | undefined;
  readonly limits?: Partial<RecorderLimits> | undefined;
  readonly program?: InspectionHeader['program'];
  /** Tells the actors of this recording from those of another. Default: an id of its own */
  readonly boot?: string | undefined;
  /** Told the first thing that goes wrong in the recorder, and what followers throw. Default: writes to the console. */
  readonly onListenerError?: OnListenerError | undefined;
}

export interface RecorderStatistics {
  /** Living actors that were told, and those that were there and are still to be told. */
  readonly actors: number;
  readonly untoldActors: number;
  readonly records: number;
  /** Records that are kept, and about how many characters they take up. */
  readonly keptRecords: number;
  readonly keptCharacters: number;
  /** Payloads of which something was left out; and those left out whole, because the turn had too many. */
  readonly cutPayloads: number;
  readonly droppedPayloads: number;
  /** Charts that were too many, too large or broken. */
  readonly untoldCharts: number;
  /** Times that the recorder broke over something, which is then missing. */
  readonly faults: number;
}

/** Actors that are met in one turn of the event loop: a system of many must not wait. */
const MET_PER_TURN = 1_000;
const PAGE_RECORDS = 1_000;

export class Recorder implements InspectionRecording {
  readonly header: InspectionHeader;
  readonly #ring: RecordRing;
  readonly #charts: ChartRegistry;
  readonly #payloads: Payloads;
  readonly #text: InspectedText;
  readonly #laterSecrets: LaterSecrets;
  readonly #observer: InspectionObserver;
  readonly #notifier: RecordNotifier;
  readonly #report: OnListenerError;
  /** Each ends the watch over one system. */
  #watches: readonly (() => void)[] = [];
  /** Who was there when the recorder came, those who are next last. */
  #unmet: AnyActorRef[] = [];
  /** Number of the next record when followers were told last. */
  #told = 1;
  #isTurnAwaited = false;
  #faults = 0;

  /** @throws RuntimeError RECORDER_OPTIONS_INVALID */
  constructor({ root, clock, redact, factsOf, program, ...options }: RecorderOptions) {
    const limits = parseOrThrow(recorderLimits, options.limits ?? {}, {
      what: 'limits of a recorder',
      code: 'RECORDER_OPTIONS_INVALID',
    });
    const text = new InspectedText(redact);
    const boot = text.name(options.boot ?? createIdSource({ clock }).next());
    const roots = 'getSnapshot' in root ? [root] : root;
    this.header = {
      format: INSPECTION_LOG_FORMAT,
      boot,
      startedAt: clock.now(),
      ...(program === undefined ? {} : { program }),
    };
    this.#report = safely(options.onListenerError ?? reportToConsole);
    this.#notifier = new RecordNotifier((error) => this.#report(error, 'inspector'));
    this.#text = text;
    this.#laterSecrets = new LaterSecrets(text);
    this.#ring = new RecordRing(boot, limits);
    this.#charts = new ChartRegistry(text, limits.charts);
    this.#payloads = new Payloads({ clock, limits, text });
    this.#observer = new InspectionObserver({
      boot,
      clock,
      ring: this.#ring,
      charts: this.#charts,
      text,
      values: new RecordedValues(text),
      payloads: this.#payloads,
      factsOf,
    });
    this.#attach(roots);
  }

  get isAttached(): boolean {
    return this.#watches.length > 0;
  }

  get statistics(): RecorderStatistics {
    const { oldest, next, characters } = this.#ring;
    return {
      actors: this.#observer.size,
      untoldActors: this.#unmet.length,
      records: next - 1,
      keptRecords: next - oldest,
      keptCharacters: characters,
      cutPayloads: this.#payloads.cut,
      droppedPayloads: this.#payloads.dropped,
      untoldCharts: this.#charts.untold,
      faults: this.#faults,
    };
  }

  /**
   * Stops recording for good, and costs the system nothing from then on. What was recorded can still be read.
   * Idempotent.
   */
  detach(): void {
    for (const end of this.#watches) end();
    this.#watches = [];
    this.#unmet = [];
    this.#observer.forget();
  }

  /**
   * The oldest numbers are those of records that say how everything stood before the oldest that is kept: they change
   * as that one does.
   */
  range(): InspectionRange {
    return { first: this.#ring.first, last: this.#ring.next - 1 };
  }

  chart(id: string): ChartDescription | undefined {
    return this.#charts.charts.get(id);
  }

  toldCharts(): ReadonlyMap<string, ChartDescription> {
    return this.#charts.charts;
  }

  /** Pages from number `from` to the newest record. What falls out meanwhile is missing from them. */
  async *records(from: number): AsyncGenerator<readonly InspectionRecord[]> {
    const { last } = this.range();
    let next = Math.max(from, this.#ring.oldest);
    if (from < next) {
      for (const page of this.#ring.prelude(PAGE_RECORDS)) {
        const wanted = this.#laterSecrets.shown(
          page.filter(({ s }) => s >= from),
          this.#ring.next,
          true,
        );
        if (wanted.length > 0) yield wanted;
      }
    }
    while (next <= last) {
      const page = this.#laterSecrets.shown(
        this.#ring.slice(next, Math.min(PAGE_RECORDS, last - next + 1)),
        this.#ring.next,
      );
      const newest = page.at(-1);
      if (newest === undefined) return;
      next = newest.s + 1;
      yield page;
    }
  }

  /**
   * Tells, at the end of a turn of the event loop that has brought records, that there are some: `records` has them.
   * Nothing is kept for a listener, and no promise of its is waited for.
   */
  follow(listener: () => void): () => void {
    return this.#notifier.add(listener);
  }

  #attach(roots: readonly AnyActorRef[]): void {
    const observe = (event: object): void => this.#observe(event as Inspected);
    this.#watches = roots.map((root) => watchSystem(root, observe));
    try {
      this.#unmet = roots.flatMap((root) => [...liveActorsOf(root)]).toReversed();
      this.#meetSome();
      for (const root of roots) for (const timer of scheduledTimersOf(root)) this.#observer.meetTimer(timer);
    } catch (error) {
      this.#fault(error);
    }
    this.#awaitTurn();
  }

  /** Whatever is thrown in here would be thrown into the program. */
  #observe(inspected: Inspected): void {
    try {
      this.#observer.observe(inspected);
    } catch (error) {
      this.#fault(error);
    }
    if (!this.#isTurnAwaited) this.#awaitTurn();
  }

  #meetSome(): void {
    for (let count = 0; count < MET_PER_TURN; count += 1) {
      const ref = this.#unmet.pop();
      if (ref === undefined) return;
      this.#observer.meet(ref);
    }
  }

  #fault(error: unknown): void {
    this.#faults += 1;
    if (this.#faults === 1) this.#report(error, 'inspector');
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    setImmediate(() => {
      this.#isTurnAwaited = false;
      this.#endTurn();
    });
  }

  #endTurn(): void {
    this.#payloads.nextTurn();
    this.#text.nextTurn();
    try {
      this.#observer.sweep();
      this.#meetSome();
    } catch (error) {
      this.#fault(error);
    }
    if (this.#unmet.length > 0) this.#awaitTurn();
    this.#tell();
  }

  #tell(): void {
    const { next } = this.#ring;
    if (this.#told === next) return;
    this.#told = next;
    this.#notifier.notifyNow();
  }
}

/** Attaches to a living system. @throws RuntimeError RECORDER_OPTIONS_INVALID */
export function createRecorder(options: RecorderOptions): Recorder {
  return new Recorder(options);
}
