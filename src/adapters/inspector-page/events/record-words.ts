/** What a record says, in the few words of a row. */
import { isBad, reasonIn } from '../../../machines/inspection-log/actor-outcome.ts';
import type { ActorOutcome } from '../../../machines/inspection-log/actor-outcome.ts';
import { HANDLED_BY_LOGIC } from '../../../machines/inspection-log/taken-words.ts';
import type { InspectionRecord, InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectedActorState, InspectionWorld } from '../../../machines/inspection-log/inspection-world.ts';
import { actorName, keyName } from '../model/actor-names.ts';
import { eventName, stepName } from '../model/event-names.ts';
import { takersText } from '../model/missed-events.ts';
import { TONE_WORDS, outcomeIn } from '../model/outcomes.ts';
import { visibleText } from '../model/visible-text.ts';
import { duration, stateText } from '../model/words.ts';

/** Each has a sign of its own. */
export type RecordSign = Exclude<InspectionRecord['k'], 'step'> | ActorOutcome | 'running' | 'ignored';
export type RecordTone = 'plain' | 'quiet' | 'good' | 'bad';

export interface RecordWords {
  readonly sign: RecordSign;
  /** What the sign means. */
  readonly kind: string;
  readonly tone: RecordTone;
  /** What it is about. */
  readonly name: string;
  readonly rest: string;
}

/** Names of actors at one moment, each looked up once. */
export class ActorNames {
  readonly #world: InspectionWorld;
  readonly #known = new Map<string, { readonly state: InspectedActorState | undefined; readonly name: string }>();

  readonly #missedIn: (record: InspectionRecord) => readonly string[];

  /** @param missedIn the states that would have taken what the record says was ignored */
  constructor(world: InspectionWorld, missedIn: (record: InspectionRecord) => readonly string[] = () => []) {
    this.#world = world;
    this.#missedIn = missedIn;
  }

  missedIn(record: InspectionRecord): readonly string[] {
    return this.#missedIn(record);
  }

  of(key: string): string {
    return this.#check(key).name;
  }

  state(key: string): InspectedActorState | undefined {
    return this.#check(key).state;
  }

  #check(key: string): { readonly state: InspectedActorState | undefined; readonly name: string } {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const state = this.#world.actor(key);
    const checked = { state, name: state === undefined ? keyName(key) : actorName(state) };
    this.#known.set(key, checked);
    return checked;
  }
}

/** For a `title`: the number of a record, and its event as it was written. */
export function exactText(record: InspectionRecord): string {
  return `record ${record.s}${'type' in record ? `, ${visibleText(record.type)}` : ''}`;
}

export function recordWords(record: InspectionRecord, names: ActorNames): RecordWords {
  const of = names.of(record.a);
  switch (record.k) {
    case 'machine':
      return { sign: 'machine', kind: 'Chart told', tone: 'quiet', name: visibleText(record.id), rest: 'its chart' };
    case 'actor':
      return { sign: 'actor', kind: 'Actor made', tone: 'plain', name: of, rest: madeText(record, names) };
    case 'event':
      return {
        sign: 'event',
        kind: 'Event sent',
        tone: 'plain',
        name: sentName(record, names),
        rest:
          record.from === record.a
            ? `${of} to itself`
            : `${record.from === undefined ? 'outside' : names.of(record.from)} → ${of}`,
      };
    case 'step':
      return stepWords(record, of, names.missedIn(record));
    case 'action':
      return { sign: 'action', kind: 'Action ran', tone: 'quiet', name: visibleText(record.name), rest: of };
    case 'emit':
      return { sign: 'emit', kind: 'Event emitted', tone: 'quiet', name: visibleText(record.type), rest: of };
    case 'timer':
      return {
        sign: 'timer',
        kind: 'Timer set',
        tone: 'quiet',
        name: eventName(record.id),
        rest: `in ${duration(record.delayMs)} · ${of}`,
      };
    case 'cancel':
      return { sign: 'cancel', kind: 'Timer cleared', tone: 'quiet', name: eventName(record.id), rest: of };
    case 'snap':
      return snapWords(record, of);
    case 'error':
      return { sign: 'error', kind: 'Broke', tone: 'bad', name: of, rest: visibleText(record.message) };
  }
}

export function sentName({ type, from }: InspectionRecordOf<'event'>, names: ActorNames): string {
  return eventName(type, from === undefined ? undefined : names.state(from));
}

function madeText({ kind, parent, status }: InspectionRecordOf<'actor'>, names: ActorNames): string {
  const by = parent === undefined ? '' : ` by ${names.of(parent)}`;
  const what = kind === undefined ? '' : `${visibleText(kind)} · `;
  return `${what}${status === 'active' ? 'made' : status}${by}`;
}

/** No transition was taken. One that ends the actor is no such step, whatever led to it. */
export function isIgnoring({ taken, status }: InspectionRecordOf<'step'>): boolean {
  return taken.length === 0 && status === 'active';
}

function stepWords(record: InspectionRecordOf<'step'>, of: string, missedIn: readonly string[]): RecordWords {
  const name = stepName(record);
  const state = visibleText(stateText(record.value));
  if (missedIn.length > 0)
    return {
      sign: 'ignored',
      kind: 'Event ignored, which another state takes',
      tone: 'bad',
      name,
      rest: `was ignored in ${state}: ${visibleText(takersText(missedIn))} · ${of}`,
    };
  if (isIgnoring(record))
    return { sign: 'ignored', kind: 'Event ignored', tone: 'quiet', name, rest: `ignored in ${state} · ${of}` };
  if (record.taken[0] === HANDLED_BY_LOGIC)
    return { sign: 'running', kind: 'Step beside the chart', tone: 'quiet', name, rest: `no change of state · ${of}` };
  const outcome = outcomeIn(record);
  return {
    sign: outcome ?? 'running',
    kind: outcome === undefined ? 'Step' : `Step, and ${TONE_WORDS[outcome]}`,
    tone: isBad(outcome) ? 'bad' : 'plain',
    name: record.taken.length === 0 ? record.status : `→ ${state}`,
    rest: `${name} · ${of}`,
  };
}

function snapWords(record: InspectionRecordOf<'snap'>, of: string): RecordWords {
  const { value, output } = record;
  const outcome = outcomeIn(record);
  if (outcome === undefined)
    return {
      sign: 'snap',
      kind: 'Snapshot',
      tone: 'quiet',
      name: of,
      rest: value === undefined ? 'runs' : visibleText(stateText(value)),
    };
  const error = record.error ?? (outcome === 'completed' ? undefined : reasonIn(output));
  return {
    sign: outcome,
    kind: 'Ended',
    tone: isBad(outcome) ? 'bad' : 'quiet',
    name: of,
    rest: error === undefined ? TONE_WORDS[outcome] : `${TONE_WORDS[outcome]}: ${visibleText(error.message)}`,
  };
}
