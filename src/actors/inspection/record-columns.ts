/**
 * Records in columns: what many of them share is kept once, numbers take their bytes and nothing more, and the objects
 * that readers get are made when one reads. An unread record is never made, which would be most of the cost of
 * recording.
 */
import type {
  InspectedStatus,
  InspectedValue,
  InspectionRecord,
  InspectionRecordOf,
} from '../../machines/inspection-log/inspection-record.ts';
import type { RecordOwner } from './record-owner.ts';
import { factsOfKind } from './recorded-facts.ts';
import { hasCut, kindOf, statusOfMarks } from './record-row.ts';
import type { RecordRow, RowDetails } from './record-row.ts';

/** Cells of a record: owner, name, details, value, data. */
const CELLS = 5;

export class RecordColumns {
  readonly #boot: string;
  readonly #marks: Uint8Array;
  readonly #times: Float64Array;
  readonly #events: Float64Array;
  readonly #sizes: Uint32Array;
  readonly #cells: unknown[];

  /** @param boot what the keys of actors begin with @param length how many records there is space for */
  constructor(boot: string, length: number) {
    this.#boot = boot;
    this.#marks = new Uint8Array(length);
    this.#times = new Float64Array(length);
    this.#events = new Float64Array(length);
    this.#sizes = new Uint32Array(length);
    this.#cells = new Array<unknown>(length * CELLS).fill(undefined);
  }

  put(at: number, { marks, t, owner, e, name, details, value, data, size }: RecordRow): void {
    this.#marks[at] = marks;
    this.#times[at] = t;
    this.#events[at] = e;
    this.#sizes[at] = size;
    const cells = this.#cells;
    const cell = at * CELLS;
    cells[cell] = owner;
    cells[cell + 1] = name;
    cells[cell + 2] = details;
    cells[cell + 3] = value;
    cells[cell + 4] = data;
  }

  /** Releases what the record held. */
  clear(at: number): void {
    const cells = this.#cells;
    const cell = at * CELLS;
    cells[cell] = undefined;
    cells[cell + 1] = undefined;
    cells[cell + 2] = undefined;
    cells[cell + 3] = undefined;
    cells[cell + 4] = undefined;
  }

  marksAt(at: number): number {
    return this.#marks[at] ?? 0;
  }

  timeAt(at: number): number {
    return this.#times[at] ?? 0;
  }

  sizeAt(at: number): number {
    return this.#sizes[at] ?? 0;
  }

  ownerAt(at: number): RecordOwner {
    return this.#cells[at * CELLS] as RecordOwner;
  }

  valueAt(at: number): InspectedValue | undefined {
    return this.#cells[at * CELLS + 3] as InspectedValue | undefined;
  }

  /** @param s its number */
  recordAt(at: number, s: number): InspectionRecord {
    const cell = at * CELLS;
    const marks = this.marksAt(at);
    const owner = this.ownerAt(at);
    const t = this.timeAt(at);
    const a = keyOf(this.#boot, owner.sessionId);
    // Which kind has what in its cells is what `RecordRow` says.
    const name = this.#cells[cell + 1] as string;
    const details = this.#cells[cell + 2];
    const data = this.#cells[cell + 4];
    const e = this.#events[at] ?? 0;
    const status = statusOfMarks(marks);
    const cut = hasCut(marks) ? true : undefined;
    const k = kindOf(marks);
    switch (k) {
      case 'event':
        return { s, t, a, k, e, from: keyOf(this.#boot, details as RowDetails['event']), type: name, data, cut };
      case 'step':
        // The schema gives the list as one that may be edited; no reader does.
        return {
          s,
          t,
          a,
          k,
          e: e === 0 ? undefined : e,
          type: name,
          taken: details as string[],
          value: this.valueAt(at) ?? '',
          status,
          context: data,
          cut,
        };
      case 'snap':
        return { s, t, a, k, value: this.valueAt(at), status, output: data, error: details as RowDetails['snap'], cut };
      case 'actor':
        return actorRecord({ s, t, boot: this.#boot, owner, status });
      case 'action':
        return { s, t, a, k, name, params: data, cut };
      case 'emit':
        return { s, t, a, k, type: name, data, cut };
      case 'machine':
        return { s, t, a, k, ...(details as RowDetails['machine']) };
      case 'timer':
        return { s, t, a, k, ...(details as RowDetails['timer']) };
      case 'cancel':
        return { s, t, a, k, ...(details as RowDetails['cancel']) };
      case 'error':
        return { s, t, a, k, ...(details as RowDetails['error']) };
    }
  }
}

function keyOf(boot: string, sessionId: string): string;
function keyOf(boot: string, sessionId: string | undefined): string | undefined;
function keyOf(boot: string, sessionId: string | undefined): string | undefined {
  return sessionId === undefined ? undefined : `${boot}:${sessionId}`;
}

interface ActorStand {
  readonly s: number;
  readonly t: number;
  readonly boot: string;
  readonly owner: RecordOwner;
  readonly status: InspectedStatus;
}

/** What is told of an actor, as its owner has it. */
export function actorRecord({ s, t, boot, owner, status }: ActorStand): InspectionRecordOf<'actor'> {
  const { sessionId, above, id, kind, chart, value, facts } = owner;
  return {
    s,
    t,
    a: keyOf(boot, sessionId),
    k: 'actor',
    parent: keyOf(boot, above),
    id,
    kind,
    chart,
    value,
    status,
    facts: factsOfKind(kind, id, facts),
  };
}
