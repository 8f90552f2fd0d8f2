/** Records as a sequence diagram: who takes part, what passes between them in order, and when they are there. */
import type { InspectionRecord, InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import { stepName } from '../model/event-names.ts';
import { visibleText } from '../model/visible-text.ts';
import { stateText } from '../model/words.ts';
import { isIgnoring, sentName } from './record-words.ts';
import type { ActorNames } from './record-words.ts';

/** Stand for what is no actor, and for actors that find no space. Keys of actors are never so short. */
export const OUTSIDE = '>';
export const OTHERS = '*';

/** In records. */
const NEAR = 40;
/** Actors that talk with the chosen one come before those that do not. */
const TALKS = 1_000_000;
/** And those that the user wants before either, the latest wish first. */
const WANTED = 10 * TALKS;

export interface SequenceRow {
  readonly kind: 'message' | 'made' | 'step' | 'ended' | 'error';
  readonly seq: number;
  readonly t: number;
  /** Keys of columns; the same where it happens within one. */
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** Nothing came of it. */
  readonly isIgnored: boolean;
}

export interface Lifeline {
  /** Key of the actor, or one of the two above. */
  readonly key: string;
  /** Numbers of the records in which it begins and ends, where those are among the rows. */
  readonly begins?: number | undefined;
  readonly ends?: number | undefined;
}

export interface Sequence {
  /** From left to right. */
  readonly lifelines: readonly Lifeline[];
  readonly rows: readonly SequenceRow[];
  /** Those that take part and have no lifeline, what matters most first. */
  readonly others: readonly OtherActor[];
  /** How many rows happen among them alone. */
  readonly leftOut: number;
}

export interface OtherActor {
  readonly key: string;
  /** How many rows it takes part in. */
  readonly rows: number;
}

export interface SequenceOptions {
  readonly records: readonly InspectionRecord[];
  readonly names: ActorNames;
  /** Key of the actor that matters most. */
  readonly chosen: string | undefined;
  /** Keys of actors that the user wants to see, the latest wish last: they come before all but the chosen one. */
  readonly broughtIn?: readonly string[];
  /** How many lifelines there is space for. */
  readonly most: number;
  /** Number of the record around which it is drawn: what does something near it is shown first. */
  readonly moment: number;
  /** The number of the record in which an actor was first heard of: older ones stand to the left. */
  readonly bornAt: (key: string) => number;
}

export function sequenceOf({
  records,
  names,
  chosen,
  broughtIn = [],
  most,
  moment,
  bornAt,
}: SequenceOptions): Sequence {
  const all = new Rows(names, chosen).of(records);
  const counts = rowsOf(all);
  const keys = [...counts.keys()];
  const actors = ranked(
    keys.filter((key) => key !== OUTSIDE),
    all,
    { names, chosen, broughtIn, moment },
  );
  const places = Math.max(2, most) - (keys.includes(OUTSIDE) ? 1 : 0);
  const shown = new Set(actors.length <= places ? actors : actors.slice(0, places - 1));
  const columnOf = (key: string): string => (key === OUTSIDE || shown.has(key) ? key : OTHERS);
  const placed = all.map((row) => ({ ...row, from: columnOf(row.from), to: columnOf(row.to) }));
  const rows = placed
    .filter(({ from, to }) => from !== OTHERS || to !== OTHERS)
    .filter(({ from, to }) => !(from === OUTSIDE && to === OTHERS));
  const inOrder = [...shown].toSorted((one, other) => bornAt(one) - bornAt(other));
  const used = new Set(rows.flatMap(({ from, to }) => [from, to]));
  const columns = [...(used.has(OUTSIDE) ? [OUTSIDE] : []), ...inOrder, ...(used.has(OTHERS) ? [OTHERS] : [])];
  return {
    lifelines: columns.map((key) => lifeline(key, rows)),
    rows,
    others: actors.slice(shown.size).map((key) => ({ key, rows: counts.get(key) ?? 0 })),
    leftOut: placed.length - rows.length,
  };
}

/** In how many rows each takes part. */
function rowsOf(rows: readonly SequenceRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { from, to } of rows) for (const key of new Set([from, to])) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** The chosen one first, then those that were brought in, then those it talks with, then what says most. */
function ranked(
  keys: readonly string[],
  rows: readonly SequenceRow[],
  {
    names,
    chosen,
    broughtIn,
    moment,
  }: Pick<SequenceOptions, 'names' | 'chosen' | 'moment'> & {
    readonly broughtIn: readonly string[];
  },
): readonly string[] {
  const scores = new Map(keys.map((key) => [key, names.state(key)?.chart === undefined ? -1_000 : 0]));
  const partners = new Set<string>();
  const raise = (key: string, by: number): void => void scores.set(key, (scores.get(key) ?? 0) + by);
  for (const { from, to, seq } of rows) {
    const nearness = 1 / (1 + Math.abs(seq - moment) / NEAR);
    raise(from, nearness);
    if (to !== from) raise(to, nearness);
    const partner = from === to ? undefined : to === chosen ? from : from === chosen ? to : undefined;
    if (partner !== undefined) partners.add(partner);
  }
  for (const partner of partners) raise(partner, TALKS);
  for (const [index, key] of broughtIn.entries()) if (scores.has(key)) raise(key, WANTED * (index + 1));
  if (chosen !== undefined && scores.has(chosen)) raise(chosen, Number.MAX_SAFE_INTEGER / 2);
  return keys.toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0));
}

function lifeline(key: string, rows: readonly SequenceRow[]): Lifeline {
  if (key === OUTSIDE || key === OTHERS) return { key };
  return {
    key,
    begins: rows.find(({ kind, to }) => kind === 'made' && to === key)?.seq,
    ends: rows.find(({ kind, to }) => (kind === 'ended' || kind === 'error') && to === key)?.seq,
  };
}

/** What an event to an actor is found by again when it is processed. */
const sending = (actor: string, e: number): string => `${e} ${actor}`;

class Rows {
  readonly #names: ActorNames;
  readonly #chosen: string | undefined;
  /** Events whose steps are among the records, and what became of them. */
  readonly #ignored = new Map<string, boolean>();
  readonly #told = new Set<string>();
  readonly #heard = new Set<string>();
  readonly #over = new Set<string>();

  constructor(names: ActorNames, chosen: string | undefined) {
    this.#names = names;
    this.#chosen = chosen;
  }

  of(records: readonly InspectionRecord[]): readonly SequenceRow[] {
    for (const record of records)
      if (record.k === 'step' && record.e !== undefined) this.#see(sending(record.a, record.e), isIgnoring(record));
    return records.flatMap((record) => {
      const row = this.#row(record);
      this.#heard.add(record.a);
      return row ?? [];
    });
  }

  /** One event may lead to several steps; one transition is enough. */
  #see(key: string, isIgnored: boolean): void {
    this.#ignored.set(key, isIgnored && (this.#ignored.get(key) ?? true));
  }

  #row(record: InspectionRecord): SequenceRow | undefined {
    switch (record.k) {
      case 'event':
        return this.#sent(record);
      case 'step':
        return this.#stepped(record);
      case 'actor':
        return this.#made(record);
      case 'snap':
        return this.#ended(record);
      case 'error':
        this.#over.add(record.a);
        return { ...within(record, 'error'), label: visibleText(record.message, 80) };
      case 'machine':
      case 'action':
      case 'emit':
      case 'timer':
      case 'cancel':
        return undefined;
    }
  }

  /**
   * What an invoked function says to its own machine is told by the step that it leads to: functions have no lifelines.
   */
  #sent(record: InspectionRecordOf<'event'>): SequenceRow | undefined {
    const { a, e, from, type } = record;
    const key = sending(a, e);
    if (from === a && type.startsWith('xstate.')) return undefined;
    if (from !== undefined && this.#isFunction(from) && this.#names.state(from)?.parent === a && this.#ignored.has(key))
      return undefined;
    this.#told.add(key);
    return {
      ...within(record, 'message'),
      from: from ?? OUTSIDE,
      label: sentName(record, this.#names),
      isIgnored: this.#ignored.get(key) ?? false,
    };
  }

  #stepped(record: InspectionRecordOf<'step'>): SequenceRow | undefined {
    const isIgnored = isIgnoring(record);
    const isTold = record.e !== undefined && this.#told.has(sending(record.a, record.e));
    if (isIgnored && isTold) return undefined;
    const state = visibleText(stateText(record.value), 60);
    const name = stepName(record);
    const isOver = record.status !== 'active';
    if (isOver) this.#over.add(record.a);
    return {
      ...within(record, isOver ? 'ended' : 'step'),
      label: isIgnored ? `${name} ignored` : isTold ? state : `${name} → ${state}`,
      isIgnored,
    };
  }

  #made(record: InspectionRecordOf<'actor'>): SequenceRow | undefined {
    if (record.parent === undefined || this.#heard.has(record.a) || this.#isFunction(record.a)) return undefined;
    return { ...within(record, 'made'), from: record.parent, label: `makes ${this.#names.of(record.a)}` };
  }

  #ended(record: InspectionRecordOf<'snap'>): SequenceRow | undefined {
    if (record.status === 'active' || this.#over.has(record.a) || this.#isFunction(record.a)) return undefined;
    this.#over.add(record.a);
    return { ...within(record, 'ended'), label: record.status };
  }

  #isFunction(key: string): boolean {
    return key !== this.#chosen && this.#names.state(key)?.chart === undefined;
  }
}

function within({ s, t, a }: InspectionRecord, kind: SequenceRow['kind']): Omit<SequenceRow, 'label'> {
  return { kind, seq: s, t, from: a, to: a, isIgnored: false };
}
