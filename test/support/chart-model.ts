/**
 * A chart as a model that a test leads along: what a machine would do, as pure values, with no actor, promise or timer
 * in it. Beside its configuration it has facts: what a subject knows that its chart does not, such as who holds a slot.
 */
import { initialTransition, transition } from 'xstate';
import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import { describeChart, machineOf } from '../../src/machines/inspection/describe-chart.ts';
import type { ChartSource } from '../../src/machines/inspection/describe-chart.ts';
import { idOf, nodesOf, transitionsOf } from '../../src/machines/inspection/chart-reading.ts';
import type { ChartDescription } from '../../src/machines/inspection/chart-description.ts';
import { whileModelling } from './chart-model-watch.ts';
import { takenIds } from './chart-model-ids.ts';

/**
 * An event by the name that the description of its chart gives it, with its data: `STOP`, `{ event: 'done(claim)',
 * output: { next: 'claimed' } }`.
 */
export type Told = string | { readonly event: string; readonly [data: string]: unknown };

interface Trigger {
  readonly type: string;
  readonly state: string;
}

/** What is known of a chart before anything happens. */
export class ChartPlan {
  readonly machine: AnyStateMachine;
  readonly description: ChartDescription;
  readonly input: unknown;
  /** What XState calls an event, by the name in the description. */
  readonly #triggers = new Map<string, Trigger[]>();
  readonly #sent: readonly string[];

  constructor(chart: ChartSource, input?: unknown) {
    this.machine = machineOf(chart);
    this.description = describeChart(chart);
    this.#sent = [
      ...new Set(this.description.transitions.filter(({ kind }) => kind === 'event').map(({ event }) => event)),
    ];
    this.input = input;
    for (const node of nodesOf(this.machine)) {
      for (const {
        transition: { event },
        definition,
      } of transitionsOf(node)) {
        const trigger = { type: (definition as { readonly eventType: string }).eventType, state: idOf(node) };
        this.#triggers.set(event, [...(this.#triggers.get(event) ?? []), trigger]);
      }
    }
  }

  /** Ids of the transitions by which something happens: one that only forbids an event is none. */
  get transitions(): readonly string[] {
    return this.description.transitions.filter(({ forbids }) => !forbids).map(({ id }) => id);
  }

  /** Names of the events that somebody sends. */
  get sent(): readonly string[] {
    return this.#sent;
  }

  /** @throws Error when the chart knows no such event */
  typeOf(event: string, isActive: (state: string) => boolean): string {
    const known = this.#triggers.get(event) ?? [];
    const found = known.find(({ state }) => isActive(state)) ?? known[0];
    if (found === undefined)
      throw new Error(
        `the chart ${this.machine.id} has no event ${event}; it has ${[...this.#triggers.keys()].join(', ')}`,
      );
    return found.type;
  }

  start<Facts extends object>(facts: Facts): ChartModel<Facts> {
    const snapshot = whileModelling(() => initialTransition(this.machine, this.input as never)[0]);
    return new ChartModel(this, snapshot, facts, []);
  }
}

export class ChartModel<Facts extends object> {
  readonly facts: Facts;
  readonly #plan: ChartPlan;
  #snapshot: AnyMachineSnapshot;
  readonly #taken: string[];

  constructor(plan: ChartPlan, snapshot: AnyMachineSnapshot, facts: Facts, taken: readonly string[]) {
    this.#plan = plan;
    this.#snapshot = snapshot;
    this.facts = facts;
    this.#taken = [...taken];
  }

  get value(): StateValue {
    return this.#snapshot.value;
  }

  get isOver(): boolean {
    return this.#snapshot.status !== 'active';
  }

  /** Ids of the transitions that were taken, in order. */
  get taken(): readonly string[] {
    return this.#taken;
  }

  /** Whether it is in the state of this id, or in one inside it. */
  is(state: string): boolean {
    return state === '' || isIn(this.value, state.split('.'));
  }

  /** Whether an event that somebody sends would move it. */
  can(event: string): boolean {
    return (
      whileModelling(() => takenIds(this.#plan.machine, this.#snapshot, { type: event }).length > 0) && !this.isOver
    );
  }

  /** What the chart does not take here changes nothing. */
  tell(told: Told): void {
    if (this.isOver) return;
    const { event: name, ...data } = typeof told === 'string' ? { event: told } : told;
    const event = { type: this.#plan.typeOf(name, (state) => this.is(state)), ...data };
    whileModelling(() => {
      const taken = takenIds(this.#plan.machine, this.#snapshot, event);
      if (taken.length === 0) return;
      this.#taken.push(...taken);
      [this.#snapshot] = transition(this.#plan.machine, this.#snapshot, event);
    });
  }

  /** Another one that stands where this one does and has taken nothing yet. */
  copy(): ChartModel<Facts> {
    return new ChartModel(this.#plan, this.#snapshot, structuredClone(this.facts), []);
  }

  /** Two models with the same key have the same future. */
  get key(): string {
    return JSON.stringify([this.value, this.#snapshot.context, this.facts]);
  }
}

function isIn(value: StateValue | undefined, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (value === undefined) return false;
  if (typeof value === 'string') return value === first && rest.length === 0;
  return first in value && isIn(value[first], rest);
}
