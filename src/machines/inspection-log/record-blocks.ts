/**
 * The records that are kept, by position: in blocks, so that the oldest can be dropped. Beside each stands what led to
 * it, and the first and the last of what it led to; the others follow as a chain. Each block begins with the counts as
 * they were before it, so that a moment costs one block at most.
 */
import type { InspectedStatus, InspectionRecord } from './inspection-record.ts';
import { ACTOR_STATUSES } from './actor-statuses.ts';
import { countUpTo } from './inspected-actor.ts';

export const BLOCK_RECORDS = 4_096;

/** What happened up to a moment; of what is not remembered any more too. */
export interface InspectionCounts extends Readonly<Record<InspectedStatus, number>> {
  /** Sent to actors with charts, and not processed. */
  readonly inFlight: number;
  readonly events: number;
  readonly steps: number;
  /** Steps without a transition. */
  readonly ignored: number;
}

type Counting = { -readonly [Name in keyof InspectionCounts]: number };

const NONE: InspectionCounts = {
  active: 0,
  done: 0,
  error: 0,
  stopped: 0,
  inFlight: 0,
  events: 0,
  steps: 0,
  ignored: 0,
};

/** No record stands there. */
const NOWHERE = -1;

/** How one record changed the counts. Statuses are by their place in the list, plus one; 0 is none. */
interface Change {
  readonly before: number;
  readonly after: number;
}

class Block {
  readonly records: InspectionRecord[] = [];
  readonly counts: InspectionCounts;
  readonly causes = new Float64Array(BLOCK_RECORDS).fill(NOWHERE);
  readonly firstEffects = new Float64Array(BLOCK_RECORDS).fill(NOWHERE);
  readonly lastEffects = new Float64Array(BLOCK_RECORDS).fill(NOWHERE);
  readonly nextEffects = new Float64Array(BLOCK_RECORDS).fill(NOWHERE);
  /** Of an event: where it was processed or lost. Infinity: it waits. Elsewhere 0. */
  readonly flightEnds = new Float64Array(BLOCK_RECORDS);
  readonly inFlight = new Float64Array(BLOCK_RECORDS);
  /** Events of this block that wait still, and where the last of the others ended: most blocks need no second check. */
  waiting = 0;
  lastFlightEnd = NOWHERE;
  /** Of a record that makes an actor known or changes its status. */
  readonly changes = new Map<number, Change[]>();

  constructor(counts: InspectionCounts) {
    this.counts = counts;
  }
}

export class RecordBlocks {
  #blocks: Block[] = [new Block(NONE)];
  /** The position of the first record that is kept. */
  #first = 0;
  #end = 0;
  readonly #now: Counting = { ...NONE };

  get first(): number {
    return this.#first;
  }

  /** One more than the position of the last. */
  get end(): number {
    return this.#end;
  }

  get kept(): number {
    return this.#end - this.#first;
  }

  /** @returns its position */
  add(record: InspectionRecord): number {
    const position = this.#end;
    if (this.#blockOf(position) === undefined) this.#blocks.push(new Block({ ...this.#now }));
    this.#at(position).records.push(record);
    this.#end += 1;
    count(this.#now, record);
    return position;
  }

  /** What the record at `position` did, once it is known. */
  close(position: number): void {
    this.#at(position).inFlight[position % BLOCK_RECORDS] = this.#now.inFlight;
  }

  changeStatus(position: number, before: InspectedStatus | undefined, after: InspectedStatus): void {
    const change = {
      before: before === undefined ? 0 : ACTOR_STATUSES.indexOf(before) + 1,
      after: ACTOR_STATUSES.indexOf(after) + 1,
    };
    const { changes } = this.#at(position);
    const index = position % BLOCK_RECORDS;
    changes.set(index, [...(changes.get(index) ?? []), change]);
    apply(this.#now, change);
  }

  beginFlight(position: number): void {
    const block = this.#at(position);
    block.flightEnds[position % BLOCK_RECORDS] = Infinity;
    block.waiting += 1;
    this.#now.inFlight += 1;
  }

  endFlight(position: number, end: number): void {
    this.#now.inFlight -= 1;
    const block = this.#blockOf(position);
    if (block === undefined) return;
    block.flightEnds[position % BLOCK_RECORDS] = end;
    block.waiting -= 1;
    block.lastFlightEnd = Math.max(block.lastFlightEnd, end);
  }

  link(cause: number, effect: number): void {
    const from = this.#blockOf(cause);
    if (from === undefined || cause >= effect) return;
    this.#at(effect).causes[effect % BLOCK_RECORDS] = cause;
    const index = cause % BLOCK_RECORDS;
    const last = from.lastEffects[index] ?? NOWHERE;
    if (last === NOWHERE) from.firstEffects[index] = effect;
    else this.#at(last).nextEffects[last % BLOCK_RECORDS] = effect;
    from.lastEffects[index] = effect;
  }

  record(position: number): InspectionRecord | undefined {
    return this.#blockOf(position)?.records[position % BLOCK_RECORDS];
  }

  causeOf(position: number): InspectionRecord | undefined {
    return this.record(this.#blockOf(position)?.causes[position % BLOCK_RECORDS] ?? NOWHERE);
  }

  effectsOf(position: number, limit: number): readonly InspectionRecord[] {
    const effects: InspectionRecord[] = [];
    let next = this.#blockOf(position)?.firstEffects[position % BLOCK_RECORDS] ?? NOWHERE;
    for (let record = this.record(next); record !== undefined && effects.length < limit; record = this.record(next)) {
      effects.push(record);
      next = this.#blockOf(next)?.nextEffects[next % BLOCK_RECORDS] ?? NOWHERE;
    }
    return effects;
  }

  /**
   * The position of the last record for which `isUpTo` holds, where all for which it does come first; before the first,
   * where it holds for none.
   */
  lastWhere(isUpTo: (record: InspectionRecord) => boolean): number {
    return (
      this.#first + countUpTo(this.kept, (index) => isUpTo(this.record(this.#first + index) as InspectionRecord)) - 1
    );
  }

  countsAt(position: number): InspectionCounts {
    const block = this.#blockOf(position);
    if (block === undefined) return this.#blocks[0]?.counts ?? NONE;
    const counts: Counting = { ...block.counts };
    for (let index = 0; index <= position % BLOCK_RECORDS; index += 1) {
      count(counts, block.records[index] as InspectionRecord);
      for (const change of block.changes.get(index) ?? []) apply(counts, change);
    }
    return { ...counts, inFlight: block.inFlight[position % BLOCK_RECORDS] ?? 0 };
  }

  /** The events that were sent up to `position` and not processed by then, the oldest first. */
  inFlightAt(position: number, limit: number): readonly InspectionRecord[] {
    const found: InspectionRecord[] = [];
    for (const [number, { records, flightEnds, waiting, lastFlightEnd }] of this.#blocks.entries()) {
      const start = this.#first + number * BLOCK_RECORDS;
      if (start > position || found.length >= limit) break;
      if (waiting === 0 && lastFlightEnd <= position) continue;
      const end = Math.min(records.length, position - start + 1);
      for (let index = 0; index < end && found.length < limit; index += 1)
        if ((flightEnds[index] as number) > position) found.push(records[index] as InspectionRecord);
    }
    return found;
  }

  /** Forgets the oldest block. @returns its records */
  dropOldest(): readonly InspectionRecord[] {
    const [oldest, ...rest] = this.#blocks;
    if (oldest === undefined || rest.length === 0) return [];
    this.#blocks = rest;
    this.#first += BLOCK_RECORDS;
    return oldest.records;
  }

  #blockOf(position: number): Block | undefined {
    return position < this.#first
      ? undefined
      : this.#blocks[(position - this.#first - (position % BLOCK_RECORDS)) / BLOCK_RECORDS];
  }

  /** Of a position that is kept. */
  #at(position: number): Block {
    return this.#blockOf(position) as Block;
  }
}

function count(counts: Counting, record: InspectionRecord): void {
  if (record.k === 'event') counts.events += 1;
  if (record.k !== 'step') return;
  counts.steps += 1;
  if (record.taken.length === 0) counts.ignored += 1;
}

function apply(counts: Counting, { before, after }: Change): void {
  const [lost, gained] = [ACTOR_STATUSES[before - 1], ACTOR_STATUSES[after - 1]];
  if (lost !== undefined) counts[lost] -= 1;
  if (gained !== undefined) counts[gained] += 1;
}
