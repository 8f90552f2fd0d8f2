/**
 * What is searched for in a recording again and again, found once: where something failed, and where nothing happened for
 * long. It is brought up to date from where it was.
 */
import { countUpTo } from '../../../machines/inspection-log/inspected-actor.ts';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import { missedIn } from './missed-events.ts';
import { isFailure } from './outcomes.ts';

export interface Failure {
  /** Number of the record that tells it. */
  readonly s: number;
  /** Key of the actor. */
  readonly actor: string;
}

export interface Pause {
  /** Number of the first record after it. */
  readonly s: number;
  readonly ms: number;
}

/** Shorter ones are no pauses. */
export const PAUSE_MS = 60_000;
const AT_A_TIME = 4_000;
/** The oldest are forgotten. */
const MOST_PAUSES = 10_000;

export class RecordIndex {
  readonly #timeline: InspectionTimeline;
  #failures: Failure[] = [];
  /** Actors that have failed, each with the record that told it first: more may tell the same end. */
  readonly #failed = new Map<string, number>();
  /** By actor, the numbers of the records that tell of an event that it ignored and another state takes. */
  readonly #missed = new Map<string, number[]>();
  #pauses: Pause[] = [];
  /** Of all pauses, in milliseconds. */
  #paused = 0;
  #seen = 0;
  #lastTime: number | undefined;

  constructor(timeline: InspectionTimeline) {
    this.#timeline = timeline;
  }

  /** In ascending order. */
  get failures(): readonly Failure[] {
    return this.#failures;
  }

  get pauses(): readonly Pause[] {
    return this.#pauses;
  }

  get pausedMs(): number {
    return this.#paused;
  }

  bringUp(): void {
    const last = this.#timeline.last?.s ?? 0;
    while (this.#seen < last) {
      const records = this.#timeline.records({ from: this.#seen + 1, limit: AT_A_TIME });
      for (const record of records) this.#see(record);
      this.#seen = records.at(-1)?.s ?? last;
    }
    this.#forget(this.#timeline.first?.s ?? 0);
  }

  /** How many had failed by record number `seq`. */
  failedBy(seq: number): number {
    return placeAfter(this.#failures, seq);
  }

  /** The nearest one before or after record number `seq`. */
  failureFrom(seq: number, direction: 'back' | 'on'): Failure | undefined {
    return direction === 'on'
      ? this.#failures[placeAfter(this.#failures, seq)]
      : this.#failures[placeAfter(this.#failures, seq - 1) - 1];
  }

  /** How many events an actor had missed by record number `seq`. */
  missedBy(actor: string, seq: number): number {
    const missed = this.#missed.get(actor) ?? [];
    return countUpTo(missed.length, (place) => (missed[place] as number) <= seq);
  }

  #see(record: InspectionRecord): void {
    if (missedIn(record, this.#timeline).length > 0) {
      const missed = this.#missed.get(record.a);
      if (missed === undefined) this.#missed.set(record.a, [record.s]);
      else missed.push(record.s);
    }
    const pause = record.t - (this.#lastTime ?? record.t);
    this.#lastTime = record.t;
    if (pause > PAUSE_MS) {
      this.#pauses.push({ s: record.s, ms: pause });
      this.#paused += pause;
    }
    if (isFailure(record)) {
      if (this.#failed.has(record.a)) return;
      this.#failed.set(record.a, record.s);
      this.#failures.push({ s: record.s, actor: record.a });
    } else if ('status' in record && record.status === 'active') this.#failed.delete(record.a);
  }

  #forget(first: number): void {
    const [failures, pauses] = [
      placeAfter(this.#failures, first - 1),
      Math.max(placeAfter(this.#pauses, first), this.#pauses.length - MOST_PAUSES),
    ];
    for (const { actor, s } of this.#failures.slice(0, failures))
      if (this.#failed.get(actor) === s) this.#failed.delete(actor);
    for (const [actor, missed] of this.#missed) {
      if ((missed[0] ?? first) >= first) continue;
      const left = missed.filter((seq) => seq >= first);
      if (left.length === 0) this.#missed.delete(actor);
      else this.#missed.set(actor, left);
    }
    if (failures > 0) this.#failures = this.#failures.slice(failures);
    if (pauses === 0) return;
    for (const { ms } of this.#pauses.slice(0, pauses)) this.#paused -= ms;
    this.#pauses = this.#pauses.slice(pauses);
  }
}

const indices = new WeakMap<InspectionTimeline, RecordIndex>();

/** Up to date. */
export function indexOf(timeline: InspectionTimeline): RecordIndex {
  const found = indices.get(timeline) ?? new RecordIndex(timeline);
  indices.set(timeline, found);
  found.bringUp();
  return found;
}

/** How many of `entries`, which ascend, stand at number `seq` or before. */
export function placeAfter(entries: readonly { readonly s: number }[], seq: number): number {
  return countUpTo(entries.length, (place) => (entries[place] as { readonly s: number }).s <= seq);
}
