/**
 * Decides which sequence numbers to believe. A number that jumps ahead is either true, since records are missing, or a
 * damaged one: a reader that believed that would take everything after it for repeated. So records that jump are held
 * until those that follow say which it was.
 */
import type { InspectionRecord } from './inspection-record.ts';

/** Held at most. Where numbers jump at every record, each waits for so many others. */
const MAX_HELD = 32;

/** Told in their order: the records to believe, and those whose number cannot be true. */
export interface OrderedRecords {
  readonly believed: readonly InspectionRecord[];
  readonly refused: readonly InspectionRecord[];
}

const NOTHING: readonly InspectionRecord[] = [];

export class RecordOrder {
  /** The last number that was believed. */
  #last = 0;
  #held: InspectionRecord[] = [];

  take(record: InspectionRecord): OrderedRecords {
    if (record.s <= this.#last) return { believed: NOTHING, refused: [record] };
    if (record.s === this.#last + 1) return this.#believe([record], this.#held);
    const before = this.#held.at(-1)?.s;
    this.#held.push(record);
    return before === record.s - 1 || this.#held.length >= MAX_HELD
      ? this.end()
      : { believed: NOTHING, refused: NOTHING };
  }

  /** Nothing follows: the longest row of ascending numbers is what to believe. */
  end(): OrderedRecords {
    const believed = longestAscending(this.#held);
    const chosen = new Set(believed);
    return this.#believe(
      believed,
      this.#held.filter((record) => !chosen.has(record)),
    );
  }

  #believe(believed: readonly InspectionRecord[], refused: readonly InspectionRecord[]): OrderedRecords {
    this.#held = [];
    this.#last = believed.at(-1)?.s ?? this.#last;
    return { believed, refused };
  }
}

interface Row {
  readonly record: InspectionRecord;
  readonly length: number;
  readonly before: Row | undefined;
}

/** Among those of one length the one that ends lowest, which refuses the least of what may follow. */
function longestAscending(records: readonly InspectionRecord[]): readonly InspectionRecord[] {
  const rows: Row[] = [];
  for (const record of records) {
    const before = best(rows.filter((row) => row.record.s < record.s));
    rows.push({ record, length: (before?.length ?? 0) + 1, before });
  }
  const chosen: InspectionRecord[] = [];
  for (let row = best(rows); row !== undefined; row = row.before) chosen.push(row.record);
  return chosen.toReversed();
}

function best(rows: readonly Row[]): Row | undefined {
  let found: Row | undefined;
  for (const row of rows)
    if (
      found === undefined ||
      row.length > found.length ||
      (row.length === found.length && row.record.s < found.record.s)
    )
      found = row;
  return found;
}
