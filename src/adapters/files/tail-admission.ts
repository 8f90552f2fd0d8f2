/**
 * Judges the records of a log behind a checkpoint, by the same rules as if all of the log had been judged in this
 * process.
 */
import { LogAdmission } from '../../machines/session/log-admission.ts';
import type { LogRecord, RecordPlace, Verdict } from '../../machines/session/log-admission.ts';

/** What the records before add up to. */
export interface AdmissionBase {
  readonly head: number;
  readonly headId: string;
  readonly epoch: number;
}

/** Where a record of the part before is, that another one repeats. */
export interface EarlierRecords {
  readonly byId?: RecordPlace | undefined;
  readonly byKey?: RecordPlace | undefined;
}

export interface JudgeOptions {
  readonly afterDamage: boolean;
  readonly earlier?: EarlierRecords | undefined;
}

/** Events that stand for the part before. */
const SEED_EVENTS = 2;

export class TailAdmission {
  readonly #records = new LogAdmission();
  /** What is added to a sequence number that `#records` gives. */
  readonly #shift: number;
  /** Records that stand for the part before. */
  readonly #seeds: number;

  constructor(base?: AdmissionBase) {
    this.#shift = base === undefined ? 0 : base.head - SEED_EVENTS;
    this.#seeds = base === undefined ? 0 : 1;
    // One record stands for all before: its first id is no event's, its last one is that of the last event.
    if (base !== undefined)
      this.#records.admit({ events: [seedEvent('', base.epoch), seedEvent(base.headId, base.epoch)] });
  }

  get head(): number {
    return this.#records.head + this.#shift;
  }

  get headId(): string {
    return this.#records.headId;
  }

  get epoch(): number {
    return this.#records.epoch;
  }

  /** Number of records of the tail that count. */
  get size(): number {
    return this.#records.records.size - this.#seeds;
  }

  /** The tail's record of this number, from 0. */
  recordAt(number: number): RecordPlace & { readonly id: string } {
    const { records } = this.#records;
    const { firstSeq, count } = records.placeAt(number + this.#seeds);
    return { firstSeq: firstSeq + this.#shift, count, id: records.idAt(number + this.#seeds) };
  }

  /** Number of the tail's record that holds event `seq`, or of the nearest one. */
  numberOf(seq: number): number {
    return this.#records.records.numberOf(seq - this.#shift, this.#seeds) - this.#seeds;
  }

  findId(id: string): RecordPlace | undefined {
    return this.#shifted(this.#records.findId(id));
  }

  findKey(key: string): RecordPlace | undefined {
    return this.#shifted(this.#records.findKey(key));
  }

  /** What would become of `record`, were it next. */
  judge(record: LogRecord, { afterDamage, earlier }: JudgeOptions): Verdict {
    return this.#repeated(record, earlier) ?? this.#shiftedVerdict(this.#records.judge(record, { afterDamage }));
  }

  /** Takes `record` as the next one of the log. */
  admit(record: LogRecord, { afterDamage, earlier }: JudgeOptions): Verdict {
    return this.#repeated(record, earlier) ?? this.#shiftedVerdict(this.#records.admit(record, { afterDamage }));
  }

  #repeated(record: LogRecord, earlier: EarlierRecords | undefined): Verdict | undefined {
    if (earlier === undefined) return undefined;
    const place = earlier.byId ?? (this.#records.findId(record.events[0].id) === undefined ? earlier.byKey : undefined);
    return place === undefined ? undefined : { kind: 'duplicate', ...place };
  }

  #shiftedVerdict(verdict: Verdict): Verdict {
    if (this.#shift === 0) return verdict;
    switch (verdict.kind) {
      case 'admitted':
        return { kind: 'admitted', firstSeq: verdict.firstSeq + this.#shift };
      case 'duplicate':
        return { kind: 'duplicate', firstSeq: verdict.firstSeq + this.#shift, count: verdict.count };
      case 'moved':
        return { kind: 'moved', head: verdict.head + this.#shift };
      case 'superseded':
        return verdict;
    }
  }

  #shifted(place: RecordPlace | undefined): RecordPlace | undefined {
    return place === undefined ? undefined : { firstSeq: place.firstSeq + this.#shift, count: place.count };
  }
}

function seedEvent(id: string, epoch: number): LogRecord['events'][0] {
  return { id, at: '', type: 'checkpoint', v: 1, data: {}, ...(epoch === 0 ? {} : { epoch }) };
}
