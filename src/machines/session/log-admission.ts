/**
 * Which records of a session's log count. Every reader applies the same rules to the same records in the same order, so
 * that all of them agree without talking: the log itself decides who won a race.
 *
 *   duplicate:   its first event, or its idempotency key, is in the log already. A retry is not a second piece of work.
 *   moved:       it was to follow a certain event, and another one came first. Compare-and-append without a lock.
 *   superseded:  it belongs to a wake whose epoch has been passed, or claims an epoch that is taken. A fenced-off writer changes nothing.
 *
 * A record that is void takes no sequence numbers.
 */
import { RecordTable } from './record-table.ts';
import type { RecordPlace } from './record-table.ts';
import type { NewSessionEvent } from './session-event.ts';

export type { RecordPlace } from './record-table.ts';

/** What one append writes, all or nothing. */
export interface LogRecord {
  readonly events: readonly [NewSessionEvent, ...NewSessionEvent[]];
  /** Idempotency key, unique in its session. */
  readonly key?: string | undefined;
  /** Id of the event that must be the last one before this record; the empty string for an empty log. */
  readonly after?: string | undefined;
}

export type Verdict =
  | { readonly kind: 'admitted'; readonly firstSeq: number }
  /** `firstSeq` and `count` are those of the record it repeats. */
  | { readonly kind: 'duplicate'; readonly firstSeq: number; readonly count: number }
  | { readonly kind: 'moved'; readonly head: number }
  | { readonly kind: 'superseded'; readonly epoch: number };

export class LogAdmission {
  #head = 0;
  #headId = '';
  #epoch = 0;
  /** The records that count, by number. */
  readonly records = new RecordTable();
  /** Numbers of records. */
  readonly #byKey = new Map<string, number>();

  /** Sequence number of the last event. */
  get head(): number {
    return this.#head;
  }

  /** Id of the last event; the empty string for an empty log. */
  get headId(): string {
    return this.#headId;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Where the record lies whose first event has this id. */
  findId(id: string): RecordPlace | undefined {
    return this.#placeAt(this.records.find(id));
  }

  /** Where the record lies that was stored under this idempotency key. */
  findKey(key: string): RecordPlace | undefined {
    return this.#placeAt(this.#byKey.get(key));
  }

  /** What would become of `record`, were it next. Nothing changes. */
  judge(record: LogRecord, { afterDamage = false }: { readonly afterDamage?: boolean } = {}): Verdict {
    const [first] = record.events;
    const repeated = this.findId(first.id) ?? (record.key === undefined ? undefined : this.findKey(record.key));
    if (repeated !== undefined) return { kind: 'duplicate', ...repeated };
    if (this.#isSuperseded(record)) return { kind: 'superseded', epoch: this.#epoch };
    // After a damaged record it is unknown whether the event before was the one meant; losing two records to one flaw
    // would be worse.
    if (record.after !== undefined && record.after !== this.#headId && !afterDamage)
      return { kind: 'moved', head: this.#head };
    return { kind: 'admitted', firstSeq: this.#head + 1 };
  }

  /** Takes `record` as the next one of the log. */
  admit(record: LogRecord, place: { readonly afterDamage?: boolean } = {}): Verdict {
    const verdict = this.judge(record, place);
    if (verdict.kind !== 'admitted') return verdict;
    const { events, key } = record;
    const { firstSeq } = verdict;
    const number = this.records.add(events[0].id, { firstSeq, count: events.length });
    if (key !== undefined) this.#byKey.set(key, number);
    this.#head += events.length;
    this.#headId = events.at(-1)?.id ?? this.#headId;
    this.#epoch = Math.max(this.#epoch, epochOf(record) ?? 0);
    return verdict;
  }

  #placeAt(number: number | undefined): RecordPlace | undefined {
    return number === undefined ? undefined : this.records.placeAt(number);
  }

  #isSuperseded(record: LogRecord): boolean {
    const epoch = epochOf(record);
    if (epoch === undefined) return false;
    return claimsEpoch(record) ? epoch <= this.#epoch : epoch < this.#epoch;
  }
}

/** The epoch a record is written under: all its events share it. */
export function epochOf({ events }: LogRecord): number | undefined {
  return events[0].epoch;
}

/** Whether it begins a wake. */
export function claimsEpoch({ events }: LogRecord): boolean {
  return events.some(({ type }) => type === 'wake.started');
}
