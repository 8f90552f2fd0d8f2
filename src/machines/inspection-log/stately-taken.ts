/**
 * Which transitions a machine has taken, where only the event is known and the states before and after it: what the
 * frames of other programs tell. Guards cannot be asked, so more than one answer may fit. Then the answer is that it is
 * unknown; nothing is guessed.
 */
import { UNKNOWN_TRANSITION } from './taken-words.ts';
import type { ChartTransition } from '../inspection/chart-description.ts';
import { ROOT } from '../inspection/chart-states.ts';
import { matchesEvent } from '../inspection/event-match.ts';
import type { InspectedValue } from './inspection-record.ts';
import type { StatelyChart } from './stately-definition.ts';
import { ChartStates } from './stately-outcomes.ts';

const UNKNOWN: readonly string[] = [UNKNOWN_TRANSITION];
const MAX_COMBINATIONS = 64;

/** What XState says to an actor when it starts and stops it: no transition is searched for. */
export const LIFE_EVENTS: ReadonlySet<string> = new Set(['xstate.init', 'xstate.stop']);

export interface SeenStep {
  /** The type of the event, as XState calls it. */
  readonly type: string;
  readonly before: InspectedValue | undefined;
  readonly after: InspectedValue;
}

/** Together, in the order of the chart. Empty: the event was ignored. */
type Taken = readonly ChartTransition[];

export class TakenTransitions {
  readonly #states: ChartStates;
  readonly #eventTypes: ReadonlyMap<string, string>;
  readonly #isCut: boolean;

  constructor({ chart, eventTypes, isCut }: StatelyChart) {
    this.#states = new ChartStates(chart);
    this.#eventTypes = eventTypes;
    this.#isCut = isCut;
  }

  /** Whether it is in the states in which it starts. */
  isInitial(value: InspectedValue): boolean {
    const active = this.#states.activeIn(value);
    return active !== undefined && isSame(active, this.#states.initial.active);
  }

  /**
   * Ids, in the order of the chart. Empty: the event was ignored. With `(unknown)`: something, or something more, that
   * cannot be told.
   */
  of({ type, before, after }: SeenStep): readonly string[] {
    if (LIFE_EVENTS.has(type)) return [];
    const from = this.#states.activeIn(before);
    const to = this.#states.activeIn(after);
    if (this.#isCut || from === undefined || to === undefined) return UNKNOWN;
    const combinations = this.#combinations(from, type);
    if (combinations === undefined) return UNKNOWN;
    const [only, ...others] = combinations;
    if (only === undefined) return UNKNOWN;
    if (others.length === 0) return this.#told(only, from, to);
    const fitting = combinations.filter((taken) => {
      const { active, isOpen } = this.#states.after(from, taken);
      return isOpen || isSame(active, to);
    });
    const [fit] = fitting;
    return fit === undefined || fitting.length > 1 ? UNKNOWN : this.#told(fit, from, to);
  }

  #told(taken: Taken, from: ReadonlySet<string>, to: ReadonlySet<string>): readonly string[] {
    const { active } = this.#states.after(from, taken);
    const ids = taken.map(({ id }) => id);
    return isSame(active, to) ? ids : [...ids, UNKNOWN_TRANSITION];
  }

  /** Everything that may have been taken together. Undefined: too much. */
  #combinations(active: ReadonlySet<string>, type: string): readonly Taken[] | undefined {
    const offered = this.#offered(ROOT, active, type);
    if (offered === undefined) return undefined;
    const told = new Map(
      offered
        .map((taken) => this.#withoutConflicts(taken, active))
        .map((taken) => [taken.map(({ id }) => id).join('\n'), taken]),
    );
    return [...told.values()];
  }

  /**
   * What a state may have done with the event: what its inner states have, and where none of them has taken it, what it
   * does itself.
   */
  #offered(state: string, active: ReadonlySet<string>, type: string): readonly Taken[] | undefined {
    let inner: readonly Taken[] = [[]];
    for (const { id } of this.#states.childrenOf(state)) {
      if (!active.has(id)) continue;
      const below = this.#offered(id, active, type);
      if (below === undefined || inner.length * below.length > MAX_COMBINATIONS) return undefined;
      inner = inner.flatMap((before) => below.map((taken) => [...before, ...taken]));
    }
    const all = inner.flatMap((taken) => (taken.length > 0 ? [taken] : this.#own(state, type)));
    return all.length > MAX_COMBINATIONS ? undefined : all;
  }

  /** One of its own transitions, or none, where each has a guard. */
  #own(state: string, type: string): readonly Taken[] {
    const candidates = this.#candidates(state, type);
    const sure = candidates.findIndex(({ guard }) => guard === undefined);
    return sure === -1
      ? [...candidates.map((each) => [each]), []]
      : candidates.slice(0, sure + 1).map((each) => [each]);
  }

  /** XState offers an event to the longest description first. */
  #candidates(state: string, type: string): readonly ChartTransition[] {
    const described = this.#states
      .transitionsOf(state)
      .map((transition) => ({ transition, descriptor: this.#eventTypes.get(transition.id) ?? '' }));
    return described
      .filter(({ descriptor }) => descriptor !== '' && matchesEvent(type, descriptor))
      .toSorted(
        (one, other) =>
          other.descriptor.length - one.descriptor.length || one.transition.index - other.transition.index,
      )
      .map(({ transition }) => transition);
  }

  /** Of two that leave the same state the one of the inner state is taken, of two beside one another the first. */
  #withoutConflicts(taken: Taken, active: ReadonlySet<string>): Taken {
    let kept: Taken = [];
    for (const each of taken) {
      const left = new Set(this.#states.left(each, active));
      const rivals = kept.filter((other) => this.#states.left(other, active).some((id) => left.has(id)));
      if (rivals.some((rival) => !this.#states.isBelow(each.source, rival.source))) continue;
      kept = [...kept.filter((other) => !rivals.includes(other)), each];
    }
    return kept;
  }
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((id) => other.has(id));
}
