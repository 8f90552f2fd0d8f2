/**
 * One record on its way into the ring. There is one row, which is filled again and again: an object for each record
 * would cost more than what is done with it.
 */
import { ACTOR_STATUSES } from '../../machines/inspection-log/actor-statuses.ts';
import type {
  InspectedStatus,
  InspectedValue,
  InspectionKind,
  InspectionRecordOf,
} from '../../machines/inspection-log/inspection-record.ts';
import { RecordOwner } from './record-owner.ts';
import type { Failure } from './recorded-values.ts';

type Common = 's' | 't' | 'a' | 'k';

/** What of a record is no column of its own, by kind. What an actor is stands in its owner. */
export interface RowDetails {
  /** Session id of the sender. */
  readonly event: string | undefined;
  /** Ids of transitions. */
  readonly step: readonly string[];
  readonly snap: Failure | undefined;
  readonly action: undefined;
  readonly emit: undefined;
  readonly actor: undefined;
  readonly machine: Omit<InspectionRecordOf<'machine'>, Common>;
  readonly timer: Omit<InspectionRecordOf<'timer'>, Common>;
  readonly cancel: Omit<InspectionRecordOf<'cancel'>, Common>;
  readonly error: Failure;
}

const KINDS = [
  'machine',
  'actor',
  'event',
  'step',
  'action',
  'emit',
  'timer',
  'cancel',
  'snap',
  'error',
] as const satisfies readonly InspectionKind[];
const KIND_BITS = 0b1111;
const STATUS_SHIFT = 4;
const STATUS_BITS = 0b11;
const CUT = 0b100_0000;

/** Kinds as numbers, which fit in the marks of a row beside its status and its cut. */
export const KIND = {
  machine: 0,
  actor: 1,
  event: 2,
  step: 3,
  action: 4,
  emit: 5,
  timer: 6,
  cancel: 7,
  snap: 8,
  error: 9,
} as const satisfies Readonly<Record<InspectionKind, number>>;

/** @param kind of `KIND` */
export function marksOf(kind: number, status: InspectedStatus, isCut: boolean): number {
  return kind | ((status === 'active' ? 0 : ACTOR_STATUSES.indexOf(status)) << STATUS_SHIFT) | (isCut ? CUT : 0);
}

/** Of `KIND`. */
export function kindCodeOf(marks: number): number {
  return marks & KIND_BITS;
}

export function kindOf(marks: number): InspectionKind {
  return KINDS[marks & KIND_BITS] ?? 'machine';
}

export function statusOfMarks(marks: number): InspectedStatus {
  return ACTOR_STATUSES[(marks >> STATUS_SHIFT) & STATUS_BITS] ?? 'active';
}

export function hasCut(marks: number): boolean {
  return (marks & CUT) !== 0;
}

export class RecordRow {
  /** Of `marksOf`. */
  declare marks: number;
  /** Milliseconds since the epoch. */
  declare t: number;
  declare owner: RecordOwner;
  /** Number of an event; 0 for none. */
  declare e: number;
  /** The type of an event, or the name of an action. */
  declare name: string | undefined;
  declare details: RowDetails[InspectionKind];
  declare value: InspectedValue | undefined;
  declare data: unknown;
  /** Of the data, in characters. */
  declare size: number;

  constructor() {
    this.marks = 0;
    this.t = 0;
    this.owner = NO_OWNER;
    this.e = 0;
    this.name = undefined;
    this.details = undefined;
    this.value = undefined;
    this.data = undefined;
    this.size = 0;
  }
}

const NO_OWNER = new RecordOwner('');
