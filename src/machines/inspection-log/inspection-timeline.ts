/**
 * What a recorder wrote, for a reader who goes back: records are appended, and every moment that is remembered can be
 * checked.
 *
 * Memory: the last `maxRecords` records (and up to 4,096 more), each with about 300 bytes beside what the record itself
 * takes; and the actors that are not over, or have records or children among those. What is older is forgotten, oldest
 * first; how the actors stood then is not.
 */
import { RuntimeError } from '../errors.ts';
import type { ChartDescription } from '../inspection/chart-description.ts';
import { InspectedSystem } from './inspected-system.ts';
import { InspectionWorld } from './inspection-world.ts';
import type { InspectedMoment } from './inspected-actor.ts';
import { countUpTo } from './inspected-actor.ts';
import type { InspectionRecord } from './inspection-record.ts';
import { BLOCK_RECORDS } from './record-blocks.ts';
import { RecordSequence } from './record-sequence.ts';

const MAX_RECORDS = 1_000_000;
const PAGE = 1_000;

interface RecordFilter {
  /** Key of the actor that they are about. */
  readonly actor?: string | undefined;
  /** Numbers, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /**
   * Upper and lower case alike, anywhere in the names of the record: type, transitions, action, message. Payloads are
   * not searched.
   */
  readonly text?: string | undefined;
  /** At most, 1,000 by default. */
  readonly limit?: number | undefined;
  /** Which of them, where there are more. The first by default. They come in ascending order either way. */
  readonly take?: 'first' | 'last' | undefined;
}

export class InspectionTimeline {
  readonly #system = new InspectedSystem();
  readonly #maxRecords: number;
  #last = 0;

  /** @throws RuntimeError INSPECTION_LIMIT_INVALID */
  constructor({ maxRecords = MAX_RECORDS }: { readonly maxRecords?: number | undefined } = {}) {
    if (!Number.isSafeInteger(maxRecords) || maxRecords < 1) {
      throw new RuntimeError(
        'INSPECTION_LIMIT_INVALID',
        `expected a whole number of records above 0, got ${maxRecords}`,
        { category: 'validation', hint: 'Leave it out to keep 1,000,000.' },
      );
    }
    this.#maxRecords = maxRecords;
  }

  /** In ascending order; a number that was there already is passed over. @returns how many were new */
  append(records: Iterable<InspectionRecord>): number {
    let added = 0;
    for (const record of records) {
      if (record.s <= this.#last) continue;
      this.#last = record.s;
      this.#system.add(record);
      added += 1;
      if (this.#system.blocks.kept >= this.#maxRecords + BLOCK_RECORDS) this.#system.forgetOldest();
    }
    return added;
  }

  /** The first moment that is remembered. */
  get first(): InspectedMoment | undefined {
    return this.#momentAt(this.#system.blocks.first);
  }

  get last(): InspectedMoment | undefined {
    return this.#momentAt(this.#system.blocks.end - 1);
  }

  /** Records that are remembered. */
  get length(): number {
    return this.#system.blocks.kept;
  }

  /** The chart that was told last with this id, whatever the moment. */
  chart(id: string): ChartDescription | undefined {
    return this.#system.charts.get(id);
  }

  /** The world after record number `seq`, or after the one before it where that is missing. */
  at(seq: number): InspectionWorld {
    return new InspectionWorld(this.#system, this.#positionUpTo(seq));
  }

  /**
   * The number of the last record up to a time. Clocks may jump back; then one of those that fit. @param time
   * milliseconds since the epoch
   */
  atTime(time: number): InspectionWorld {
    return new InspectionWorld(
      this.#system,
      this.#system.blocks.lastWhere(({ t }) => t <= time),
    );
  }

  record(seq: number): InspectionRecord | undefined {
    const record = this.#system.blocks.record(this.#positionUpTo(seq));
    return record?.s === seq ? record : undefined;
  }

  /**
   * The moment `by` records after `seq`, or before it; the first or the last, where there is none. Undefined while
   * there is nothing.
   */
  move(seq: number, by: number): InspectedMoment | undefined {
    const { first, end } = this.#system.blocks;
    return this.#momentAt(Math.min(end - 1, Math.max(first, this.#positionUpTo(seq) + by)));
  }

  /**
   * Of a step: the event that led to it. Of anything else: the step, the timer or the event in which its actor, or the
   * sender, did it. Undefined: it is unknown, or forgotten.
   */
  causeOf(seq: number): InspectionRecord | undefined {
    const position = this.#positionUpTo(seq);
    return this.#system.blocks.record(position)?.s === seq ? this.#system.blocks.causeOf(position) : undefined;
  }

  /** Of an event: the steps it led to. Of a step: the events it sent, the actors it made, and what it did. In order. */
  effectsOf(seq: number, limit = PAGE): readonly InspectionRecord[] {
    const position = this.#positionUpTo(seq);
    return this.#system.blocks.record(position)?.s === seq ? this.#system.blocks.effectsOf(position, limit) : [];
  }

  /** Of all actors, or of the one with this key. */
  sequence(actor?: string): RecordSequence {
    return new RecordSequence(this.#system, actor);
  }

  records({
    actor,
    from = 0,
    to = Infinity,
    text = '',
    limit = PAGE,
    take = 'first',
  }: RecordFilter = {}): readonly InspectionRecord[] {
    const { blocks } = this.#system;
    const positions = actor === undefined ? undefined : (this.#system.actors.get(actor)?.records ?? []);
    const positionOf = (index: number): number =>
      positions === undefined ? blocks.first + index : (positions[index] as number);
    const recordOf = (index: number): InspectionRecord => blocks.record(positionOf(index)) as InspectionRecord;
    const length = positions?.length ?? blocks.kept;
    const begin = countUpTo(length, (index) => recordOf(index).s < from);
    const end = countUpTo(length, (index) => recordOf(index).s <= to);
    const wanted = text.toLowerCase();
    const found: InspectionRecord[] = [];
    for (let at = 0; at < end - begin && found.length < limit; at += 1) {
      const record = recordOf(take === 'first' ? begin + at : end - 1 - at);
      if (wanted === '' || says(record, wanted)) found.push(record);
    }
    return take === 'first' ? found : found.toReversed();
  }

  #positionUpTo(seq: number): number {
    return this.#system.blocks.lastWhere(({ s }) => s <= seq);
  }

  #momentAt(position: number): InspectedMoment | undefined {
    const record = this.#system.blocks.record(position);
    return record === undefined ? undefined : { s: record.s, t: record.t };
  }
}

/** Whether the names of the record hold a text: type, transitions, action, message. @param wanted in lower case */
export function says(record: InspectionRecord, wanted: string): boolean {
  const { k } = record;
  if (k === 'step' && record.taken.some((id) => id.toLowerCase().includes(wanted))) return true;
  const named =
    'type' in record
      ? record.type
      : 'name' in record
        ? record.name
        : 'message' in record
          ? record.message
          : 'id' in record
            ? record.id
            : '';
  return named.toLowerCase().includes(wanted) || k.includes(wanted);
}
