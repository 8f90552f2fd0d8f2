/**
 * A session over time, folded from the events of its log: its wakes, their model steps with the attempts behind them,
 * calls, what was asked for, and the sessions that work for it. Each event costs the same, however many came before. No
 * imports of schemas: the page of the inspector folds the records that it has.
 */
import type { PriceTable } from '../run/prices.ts';
import type { SessionBar } from './session-bar.ts';
import { CallBars } from './session-bars-calls.ts';
import { WakeBars } from './session-bars-wakes.ts';
import { BarTree } from './session-bars.ts';
import type { BarMeanings } from './session-bars.ts';

/** An event of the log, or the record that tells it. */
export interface TimelineEvent {
  /** Rises from event to event: whatever the reader finds it by. */
  readonly place: number;
  /** Milliseconds since the epoch. */
  readonly t: number;
  readonly type: string;
  /** Redacted and bounded: any of it may be missing. */
  readonly data: unknown;
  /** A wake wrote it, not a client. */
  readonly isOfWake: boolean;
}

export interface TimelineOptions {
  /** By `provider/model`: of the models that the session has asked. */
  readonly prices?: PriceTable | undefined;
  readonly maxBars?: number | undefined;
}

/** Of which it is remembered which bar they are about. */
const MAX_PLACES = 200_000;

export class SessionTimeline {
  readonly #tree: BarTree;
  readonly #wakes: WakeBars;
  readonly #calls: CallBars;
  readonly #means: BarMeanings;
  /** Of the events, and of the bar that each is about. */
  #places: number[] = [];
  #bars: number[] = [];

  /** @param first the first event that is known; what came before it need not be */
  constructor(first: Pick<TimelineEvent, 'place' | 't'>, { prices = {}, maxBars }: TimelineOptions = {}) {
    this.#tree = new BarTree({ ...first, maxBars });
    this.#wakes = new WakeBars(this.#tree, prices, (heard) => this.#calls.lose(heard));
    this.#calls = new CallBars(this.#tree, this.#wakes);
    this.#means = { ...this.#calls.means, ...this.#wakes.means };
  }

  /** The session itself, and in it everything else. */
  get root(): SessionBar {
    return this.#tree.root;
  }

  /** The bars of the sessions that work for it. */
  get children(): readonly SessionBar[] {
    return this.#calls.children;
  }

  /** Bars besides that of the session, as far as they are kept. */
  get count(): number {
    return this.#tree.count;
  }

  /** Bars of what is oldest, which are not kept. */
  get forgotten(): number {
    return this.#tree.forgotten;
  }

  /** When its last event happened, in milliseconds since the epoch. */
  get last(): number {
    return this.#tree.time;
  }

  /** When the wake that runs, or the last one, was heard of last. */
  get heard(): number {
    return this.#wakes.heard;
  }

  /** The events in the order of the log. */
  see({ place, t, type, data: given, isOfWake }: TimelineEvent): void {
    this.#tree.move(place, t);
    const data = (given ?? {}) as Readonly<Record<string, unknown>>;
    const about = this.#mean(type, data) ?? this.#about(data) ?? this.#wakes.open ?? this.#tree.root;
    if (isOfWake && !isWrittenLate(type, data)) {
      this.#wakes.hear();
      this.#calls.hear();
    }
    if (type === 'session.created') this.#tree.root.label = textOf(data['title']) ?? textOf(data['agentId']) ?? '';
    this.#places.push(place);
    this.#bars.push(about.id);
    if (this.#places.length <= MAX_PLACES) return;
    this.#places = this.#places.slice(MAX_PLACES / 4);
    this.#bars = this.#bars.slice(MAX_PLACES / 4);
  }

  /** The number of the bar that an event, or what was recorded right after it, is about. */
  barAt(place: number): number | undefined {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#places[middle] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return this.#bars[low - 1];
  }

  /** What was cut away may be missed: such an event is about nothing by itself. */
  #mean(type: string, data: object): SessionBar | undefined {
    if (!Object.hasOwn(this.#means, type)) return undefined;
    // The lookup by type ties the event and what it means together, which the compiler cannot follow through a computed
    // key.
    const mean = this.#means[type as keyof BarMeanings] as (data: object) => SessionBar | undefined;
    try {
      return mean(data);
    } catch {
      return undefined;
    }
  }

  #about(data: Readonly<Record<string, unknown>>): SessionBar | undefined {
    const id = (name: string): string => textOf(data[name]) ?? '';
    return (
      this.#calls.request(id('requestId')) ??
      this.#calls.call(id('callId')) ??
      this.#wakes.step(id('spanId')) ??
      this.#calls.child(id('childSessionId')) ??
      this.#wakes.wake(id('wakeId'))
    );
  }
}

/** What the next wake may say of one whose process died: it tells nothing of when that was heard of. */
function isWrittenLate(type: string, { outcome }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'agent.tool_result') return outcome === 'unknown' || outcome === 'cancelled';
  if (type === 'span.completed' || type === 'wake.ended') return outcome === 'lost';
  return type === 'agent.tool_requeued' || type === 'request.cancelled';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
