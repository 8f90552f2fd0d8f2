/**
 * One actor through time: what was told of it, the states it was in, the events that wait for it. Positions are those
 * of records, ascending.
 */
import type { ChartDescription } from '../inspection/chart-description.ts';
import type { InspectedStatus, InspectedValue, InspectionRecord, InspectionRecordOf } from './inspection-record.ts';
import { exitCodeIn, outcomeOf, reasonIn } from './actor-outcome.ts';
import type { ActorOutcome } from './actor-outcome.ts';
import { WaitingEvents } from './waiting-events.ts';
import type { WaitingEvent } from './waiting-events.ts';
import { HANDLED_BY_LOGIC } from './taken-words.ts';

/** A moment: the number of a record, and milliseconds since the epoch. */
export interface InspectedMoment {
  readonly s: number;
  readonly t: number;
}

interface LastTransition extends InspectedMoment {
  readonly type: string;
  readonly taken: readonly string[];
}

/** What it is. Each telling brings the one before it up to date. */
export interface Told {
  readonly position: number;
  readonly id: string;
  readonly kind?: string | undefined;
  readonly chart?: ChartDescription['id'] | undefined;
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** In lower case, for searching. */
  readonly text: string;
}

/** How it stood from one record on. */
export interface InspectedState {
  readonly position: number;
  readonly value?: InspectedValue | undefined;
  readonly status: InspectedStatus;
  /** Undefined: it is not over. */
  readonly outcome?: ActorOutcome | undefined;
  /** The first record with this value and this status. */
  readonly since: InspectedMoment;
  readonly last?: LastTransition | undefined;
  readonly error?: { readonly message: string; readonly code?: string | undefined } | undefined;
}

/** A list of children with the positions from which they belong to it. */
export interface Member {
  readonly from: number;
  /** Before this position: the actor turned out to be a child. */
  until: number;
  readonly actor: InspectedActor;
}

export class InspectedActor {
  readonly key: string;
  /** Where it was first heard of. */
  readonly from: number;
  /** The same as a moment. */
  readonly begun: InspectedMoment;
  /** Absent until a record says it: it was heard of before it was told. */
  parent: InspectedActor | undefined;
  /** From where on it is a child of its parent. */
  childFrom = Infinity;
  children: Member[] = [];
  told: Told[] = [];
  states: InspectedState[] = [];
  /** Positions of everything said of it. */
  records: number[] = [];
  /** How many of those were forgotten. */
  vanished = 0;
  /** Sent and not processed, the oldest first. */
  readonly queue = new WaitingEvents();
  /** The event that the last step processed. */
  processed: WaitingEvent | undefined;
  /** Positions of the last telling and the last step: whatever it does later comes of those. */
  lastCause = -1;
  /**
   * Where and when it came to its end, the last time: checking every actor of many must not go through all that each
   * of them was. Infinity while it has not.
   */
  over = { from: Infinity, t: Infinity };
  /** It went on after an end, so that where the last one was does not tell all. */
  isRevived = false;
  /** Timers that are set, with the positions of their records. Most actors never have any. */
  #timers: Map<string, number> | undefined;

  constructor(key: string, from: number, first: InspectedMoment) {
    this.key = key;
    this.from = from;
    this.begun = { s: first.s, t: first.t };
    this.told.push({ position: from, id: key, text: key.toLowerCase() });
    this.states.push({ position: from, status: 'active', since: this.begun });
  }

  get state(): InspectedState {
    return this.states.at(-1) as InspectedState;
  }

  get isOver(): boolean {
    return this.state.status !== 'active';
  }

  tell({ id, kind, chart, facts }: InspectionRecordOf<'actor'>, position: number): void {
    const before = this.told.at(-1);
    const now = {
      id,
      kind: kind ?? before?.kind,
      chart: chart ?? before?.chart,
      facts: facts === undefined ? before?.facts : { ...before?.facts, ...facts },
    };
    const text = [this.key, now.id, now.kind, now.chart, ...Object.values(now.facts ?? {})]
      .filter((each) => each !== undefined)
      .join('\n');
    this.told.push({ position, ...now, text: text.toLowerCase() });
  }

  /** A call says how the program that it ran has ended, in what it gives back. */
  #learn({ output }: InspectionRecordOf<'snap'>, position: number): void {
    const before = this.told.at(-1);
    const exitCode = before?.kind === CALL ? exitCodeIn(output) : undefined;
    if (before !== undefined && exitCode !== undefined)
      this.told.push({ ...before, position, facts: { ...before.facts, exitCode: String(exitCode) } });
  }

  /** Takes what the record says of how it stands. @returns whether its status is another one now */
  stand(record: InspectionRecord, position: number): boolean {
    if (record.k === 'snap') this.#learn(record, position);
    const before = this.state;
    const now = stateAfter(before, record, position);
    if (now === before) return false;
    this.states.push(now);
    this.isRevived ||= before.status !== 'active';
    if (now.status === before.status) return false;
    this.over = now.status === 'active' ? { from: Infinity, t: Infinity } : { from: position, t: now.since.t };
    return true;
  }

  setTimer(id: string, position: number): void {
    this.#timers ??= new Map();
    this.#timers.set(id, position);
  }

  /** It was cleared, or was due. @returns where it was set */
  clearTimer(id: string): number | undefined {
    const position = this.#timers?.get(id);
    this.#timers?.delete(id);
    return position;
  }

  clearTimers(): void {
    this.#timers = undefined;
  }

  /** Nothing is asked of what was before `position` any more, but how it stood then. */
  forgetBefore(position: number): void {
    const isBefore = (entries: readonly { readonly position: number }[]) => (index: number) =>
      (entries[index] as { readonly position: number }).position < position;
    const gone = countUpTo(this.records.length, (index) => (this.records[index] as number) < position);
    this.records = this.records.slice(gone);
    this.vanished += gone;
    this.told = this.told.slice(Math.max(0, countUpTo(this.told.length, isBefore(this.told)) - 1));
    this.states = this.states.slice(Math.max(0, countUpTo(this.states.length, isBefore(this.states)) - 1));
    for (const [id, at] of this.#timers ?? []) if (at < position) this.#timers?.delete(id);
  }

  forgetChildren(isKnown: (child: InspectedActor) => boolean): void {
    this.children = this.children.filter(({ actor }) => isKnown(actor));
  }

  /** The last of `entries` that began at `position` or before; the first, where none did. */
  static at<Entry extends { readonly position: number }>(entries: readonly Entry[], position: number): Entry {
    return entries[
      Math.max(0, countUpTo(entries.length, (index) => (entries[index] as Entry).position <= position) - 1)
    ] as Entry;
  }
}

/** Kind of tool calls, by their chart. */
const CALL = 'toolCall';

/** The same object, where nothing is different. */
function stateAfter(before: InspectedState, record: InspectionRecord, position: number): InspectedState {
  if (record.k !== 'actor' && record.k !== 'step' && record.k !== 'snap' && record.k !== 'error') return before;
  const status = record.k === 'error' ? 'error' : record.status;
  const value = record.k === 'error' ? before.value : (record.value ?? before.value);
  const hasMoved = status !== before.status || !isSameValue(value, before.value);
  const last =
    record.k === 'step' && record.taken.length > 0 && record.taken[0] !== HANDLED_BY_LOGIC
      ? { s: record.s, t: record.t, type: record.type, taken: record.taken }
      : before.last;
  const output = record.k === 'snap' ? record.output : undefined;
  const outcome = hasMoved || output !== undefined ? outcomeOf({ value, status, output }) : before.outcome;
  const error = errorOf(record, outcome) ?? (outcome === before.outcome ? before.error : undefined);
  if (!hasMoved && last === before.last && error === before.error && outcome === before.outcome) return before;
  return {
    position,
    value: hasMoved ? value : before.value,
    status,
    outcome,
    since: hasMoved ? { s: record.s, t: record.t } : before.since,
    last,
    error,
  };
}

function errorOf(record: InspectionRecord, outcome: ActorOutcome | undefined): InspectedState['error'] {
  if (record.k === 'error') return { message: record.message, code: record.code };
  if (record.k !== 'snap') return undefined;
  return record.error ?? (outcome === 'completed' ? undefined : reasonIn(record.output));
}

function isSameValue(one: InspectedValue | undefined, other: InspectedValue | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameValue(one[key], other[key]))
  );
}

/** How many of the first `length` indices hold, where all that hold come before all that do not. */
export function countUpTo(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
