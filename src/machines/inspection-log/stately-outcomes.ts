/** Which states a chart is in after a transition, as far as the chart alone tells. */
import type { ChartDescription, ChartState, ChartTransition } from '../inspection/chart-description.ts';
import { ROOT } from '../inspection/chart-states.ts';
import type { InspectedValue } from './inspection-record.ts';

export interface Outcome {
  readonly active: ReadonlySet<string>;
  /**
   * More may have followed in the same step than the chart tells: a history, a transition without an event, an event
   * that was raised.
   */
  readonly isOpen: boolean;
}

/** Actions that may make the machine go on by itself. */
const MAY_RAISE: ReadonlySet<string> = new Set(['(enqueueActions)', '(inline)', '(unknown)']);

/** A chart, looked up quickly. */
export class ChartStates {
  readonly byId: ReadonlyMap<string, ChartState>;
  readonly #children = new Map<string, ChartState[]>();
  readonly #transitions = new Map<string, ChartTransition[]>();

  constructor({ states, transitions }: ChartDescription) {
    this.byId = new Map(states.map((state) => [state.id, state]));
    for (const state of states) if (state.parent !== undefined) pushTo(this.#children, state.parent, state);
    for (const transition of transitions) pushTo(this.#transitions, transition.source, transition);
  }

  transitionsOf(state: string): readonly ChartTransition[] {
    return this.#transitions.get(state) ?? [];
  }

  childrenOf(state: string): readonly ChartState[] {
    return this.#children.get(state) ?? [];
  }

  /** From the state itself up to the root. */
  lineage(state: string): readonly string[] {
    const line: string[] = [];
    for (
      let next = this.byId.get(state);
      next !== undefined;
      next = next.parent === undefined ? undefined : this.byId.get(next.parent)
    )
      line.push(next.id);
    return line;
  }

  isBelow(state: string, other: string): boolean {
    return state !== other && this.lineage(state).includes(other);
  }

  /** Ids of all states of the value, the root among them. Undefined: the chart has no such states. */
  activeIn(value: InspectedValue | undefined): ReadonlySet<string> | undefined {
    if (value === undefined) return undefined;
    const active = new Set<string>([ROOT]);
    return this.#collect(ROOT, value, active) ? active : undefined;
  }

  /** In which states the chart starts. */
  get initial(): Outcome {
    const active = new Set<string>();
    return { active, isOpen: this.#enter(ROOT, active, new Set()) };
  }

  /** @param transitions none of which leaves what another one leaves */
  after(active: ReadonlySet<string>, transitions: readonly ChartTransition[]): Outcome {
    const now = new Set(active);
    let isOpen = false;
    for (const transition of transitions) isOpen = this.#take(transition, now) || isOpen;
    return {
      active: now,
      isOpen: isOpen || [...now].some((id) => this.transitionsOf(id).some(({ kind }) => kind === 'eventless')),
    };
  }

  /** The states that it leaves, of those that are active. */
  left(transition: ChartTransition, active: ReadonlySet<string>): readonly string[] {
    const domain = this.#domain(transition);
    if (domain === undefined) return [];
    const leavesItself = transition.reenters && domain === transition.source && !this.#isOutermost(domain);
    return [...active].filter((id) => this.isBelow(id, domain) || (leavesItself && id === domain));
  }

  #take(transition: ChartTransition, now: Set<string>): boolean {
    let isOpen = transition.actions.some(mayRaise);
    const domain = this.#domain(transition);
    if (domain === undefined) return isOpen;
    for (const id of this.left(transition, now)) {
      now.delete(id);
      isOpen = this.byId.get(id)?.exit.some(mayRaise) === true || isOpen;
    }
    // Another transition of the same step has left it: what XState makes of that is its own affair.
    if (!now.has(domain) && !transition.reenters) return true;
    const wanted = new Set(
      transition.targets.flatMap((target) => this.lineage(target)).filter((id) => this.isBelow(id, domain)),
    );
    return this.#enter(domain, now, wanted) || isOpen;
  }

  /**
   * Enters the state, and below it what is wanted, and where nothing is, what it starts with. @returns whether more may
   * follow
   */
  #enter(id: string, now: Set<string>, wanted: ReadonlySet<string>): boolean {
    const state = this.byId.get(id);
    if (state === undefined || state.kind === 'history') return true;
    const isNew = !now.has(id);
    now.add(id);
    let isOpen = isNew && (state.entry.some(mayRaise) || this.#endsItsParent(state));
    const children = this.childrenOf(id).filter(({ kind, id: child }) => kind !== 'history' || wanted.has(child));
    const next =
      state.kind === 'parallel'
        ? children
        : children.filter((child) => wanted.has(child.id) || now.has(child.id)).slice(0, 1);
    if (state.kind === 'compound' && next.length === 0) {
      isOpen = state.initialActions?.some(mayRaise) === true || isOpen;
      return state.initial === undefined || this.#enterInitial(id, state.initial, now) || isOpen;
    }
    for (const child of next) isOpen = this.#enter(child.id, now, wanted) || isOpen;
    return isOpen;
  }

  #enterInitial(id: string, initial: string, now: Set<string>): boolean {
    if (!this.isBelow(initial, id)) return true;
    const wanted = new Set(this.lineage(initial).filter((each) => this.isBelow(each, id)));
    const first = this.childrenOf(id).find((child) => wanted.has(child.id));
    return first === undefined || this.#enter(first.id, now, wanted);
  }

  /** The machine tells itself that the parent is done, which may be an event of a transition. */
  #endsItsParent({ kind, parent }: ChartState): boolean {
    return (
      kind === 'final' &&
      parent !== undefined &&
      this.lineage(parent).some((id) => this.transitionsOf(id).some((each) => each.kind === 'done'))
    );
  }

  /** The innermost state that is not left. Undefined: no state is. */
  #domain({ targets, source, reenters }: ChartTransition): string | undefined {
    const [first] = targets;
    if (first === undefined) return undefined;
    if (!reenters && targets.every((target) => target === source || this.isBelow(target, source))) return source;
    const all = [...targets, source];
    return (
      this.lineage(first)
        .slice(1)
        .find((outer) => all.every((id) => this.isBelow(id, outer))) ?? ROOT
    );
  }

  #isOutermost(id: string): boolean {
    return id === ROOT;
  }

  #collect(parent: string, value: InspectedValue, active: Set<string>): boolean {
    const below = typeof value === 'string' ? [[value, undefined] as const] : Object.entries(value);
    return below.every(([key, inner]) => {
      const child = this.childrenOf(parent).find((each) => each.key === key);
      if (child === undefined) return false;
      active.add(child.id);
      return inner === undefined || this.#collect(child.id, inner, active);
    });
  }
}

function mayRaise({ name }: { readonly name: string }): boolean {
  return /^\(raise[ )]/.test(name) || MAY_RAISE.has(name);
}

function pushTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
