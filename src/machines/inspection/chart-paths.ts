/**
 * A shortest way to every state and every transition of a chart, on a clock: as steps that a test can do again. The
 * same chart gives the same ways.
 */
import type { StateValue } from 'xstate';
import { messageOf } from '../errors.ts';
import { ROOT } from './chart-states.ts';
import type { ChartTransition } from './chart-description.ts';
import { indexChart } from './chart-index.ts';
import type { ChartIndex } from './chart-index.ts';
import type { ChartStep } from './chart-step.ts';
import type { ChartPlace, ChartWalk, WalkedStep } from './chart-walk.ts';
import { leavesIn } from './explore-chart.ts';
import { checkedLimits } from './exploration-limits.ts';
import type { ExplorationLimits } from './exploration-limits.ts';
import { enteredBy, shadowedTransitions, startedWith } from './reachability.ts';

export interface ChartPath {
  /** Id of a state (`paying`, `running.active`) or of a transition (`open|PAY|0`). */
  readonly to: string;
  /** The last one reaches it. */
  readonly steps: readonly ChartStep[];
  /** Where the chart stands at the start and after each step. */
  readonly values: readonly StateValue[];
}

export interface ChartPaths {
  readonly chart: string;
  /** In document order. */
  readonly states: readonly ChartPath[];
  readonly transitions: readonly ChartPath[];
  /** The fewest of the paths that take, together, every transition that can be reached; the longest first. */
  readonly cover: readonly ChartPath[];
  /** What no path was found to, and why. */
  readonly unreached: readonly { readonly id: string; readonly because: string }[];
  /** Whether all that the samples lead to was tried; else a limit was met. */
  readonly isComplete: boolean;
}

/** Breadth first: what is found first is found on a shortest way. */
export function shortestPaths(
  walk: ChartWalk,
  { limits, events }: { readonly limits?: ExplorationLimits | undefined; readonly events?: Events } = {},
): ChartPaths {
  const search = new Search(walk, checkedLimits(limits), events);
  search.run();
  return search.paths();
}

/** Types of the only events that are sent. */
type Events = ReadonlySet<string> | undefined;

/** A place that was found, and how; the start was found by nothing. */
interface Found {
  readonly place: ChartPlace;
  readonly by: { readonly from: Found; readonly step: ChartStep } | undefined;
}

class Search {
  readonly #walk: ChartWalk;
  readonly #index: ChartIndex;
  readonly #limits: ExplorationLimits;
  readonly #events: Events;
  readonly #found: Found[] = [];
  readonly #keys = new Set<string>();
  readonly #alike = new Map<string, number>();
  /** Where each state and transition was met first. */
  readonly #states = new Map<string, Found>();
  readonly #transitions = new Map<string, Found>();
  readonly #taken = new Map<Found, readonly string[]>();
  readonly #thrown = new Map<string, string>();
  readonly #targets: ReadonlyMap<string, readonly string[]>;
  #isCut = false;

  constructor(walk: ChartWalk, limits: ExplorationLimits, events: Events) {
    this.#walk = walk;
    this.#index = indexChart(walk.description);
    this.#limits = limits;
    this.#events = events;
    this.#targets = new Map(walk.description.transitions.map(({ id, targets }) => [id, targets]));
  }

  run(): void {
    const begun = this.#walk.start();
    const start: Found = { place: begun.place, by: undefined };
    for (const id of startedWith(this.#index, ROOT)) this.#states.set(id, start);
    this.#arrive(start, begun);
    // What is found is added to the end while this goes over it.
    for (const from of this.#found)
      for (const step of this.#walk.stepsAt(from.place)) {
        if (step.kind === 'event' && this.#events?.has(step.event.type) === false) continue;
        const walked = this.#walk.take(from.place, step);
        if (walked === undefined) continue;
        if ('thrown' in walked) this.#thrown.set(eventOf(step), messageOf(walked.thrown));
        else this.#arrive({ place: walked.place, by: { from, step } }, walked);
      }
  }

  #arrive(found: Found, { place, taken }: WalkedStep): void {
    this.#taken.set(found, taken);
    for (const id of taken) {
      if (!this.#transitions.has(id)) this.#transitions.set(id, found);
      for (const state of enteredBy(this.#index, this.#targets.get(id) ?? [])) this.#meet(state, found);
    }
    for (const leaf of leavesIn(place.snapshot)) for (const { id } of this.#index.lineage(leaf)) this.#meet(id, found);
    this.#keep(found);
  }

  #meet(state: string, found: Found): void {
    if (!this.#states.has(state)) this.#states.set(state, found);
  }

  #keep(found: Found): void {
    const key = this.#walk.keyOf(found.place);
    if (this.#keys.has(key)) return;
    const configuration = JSON.stringify(found.place.snapshot.value);
    const alike = this.#alike.get(configuration) ?? 0;
    if (this.#keys.size >= this.#limits.maxSnapshots || alike >= this.#limits.maxPerConfiguration) {
      this.#isCut = true;
      return;
    }
    this.#keys.add(key);
    this.#alike.set(configuration, alike + 1);
    this.#found.push(found);
  }

  paths(): ChartPaths {
    const { states, transitions, id } = this.#index.chart;
    const inhabited = states.filter((state) => state.id !== ROOT && state.kind !== 'history');
    const real = transitions.filter(({ forbids }) => !forbids);
    const to = (of: readonly { readonly id: string }[], met: ReadonlyMap<string, Found>): ChartPath[] =>
      of.flatMap((each) => {
        const found = met.get(each.id);
        return found === undefined ? [] : [pathTo(each.id, found)];
      });
    return {
      chart: id,
      states: to(inhabited, this.#states),
      transitions: to(real, this.#transitions),
      cover: this.#cover(),
      unreached: [
        ...inhabited.filter((state) => !this.#states.has(state.id)).map((state) => this.#unreachedState(state.id)),
        ...real.filter((each) => !this.#transitions.has(each.id)).map((each) => this.#unreachedTransition(each)),
      ],
      isComplete: !this.#isCut,
    };
  }

  #cover(): readonly ChartPath[] {
    const left = new Set(this.#transitions.keys());
    const ways = [...this.#transitions].map(([id, found]) => ({ found, path: pathTo(id, found) }));
    return ways
      .toSorted((one, other) => other.path.steps.length - one.path.steps.length)
      .flatMap(({ found, path }) => {
        let isNew = false;
        for (let at: Found | undefined = found; at !== undefined; at = at.by?.from)
          for (const id of this.#taken.get(at) ?? []) isNew = left.delete(id) || isNew;
        return isNew ? [path] : [];
      });
  }

  #unreachedState(id: string): ChartPaths['unreached'][number] {
    const leads = this.#index.chart.transitions.some(({ targets }) => enteredBy(this.#index, targets).includes(id));
    return { id, because: this.#orCut(leads ? 'no transition that leads to it was taken' : 'nothing leads to it') };
  }

  #unreachedTransition(transition: ChartTransition): ChartPaths['unreached'][number] {
    const { id, source, event, kind, guard } = transition;
    const because = (): string => {
      if (source !== ROOT && !this.#states.has(source)) return `the state ${source} was not reached`;
      const before = shadowedTransitions(this.#index).find(({ shadowed }) => shadowed.id === id);
      if (before !== undefined) return `${before.by.id} is taken before it`;
      if (kind === 'event' && this.#events?.has(event) === false) return `${event} is not sent`;
      const thrown = this.#thrown.get(event);
      if (thrown !== undefined) return `the chart throws: ${thrown}`;
      if (guard !== undefined) return `its guard ${guard.name} never held with the samples that were given`;
      if (kind === 'delayed') return 'the state is left before the time is up';
      if (kind === 'invoke-snapshot') return 'snapshots of invoked actors are not among the steps';
      return 'another transition was taken whenever its event came';
    };
    return { id, because: this.#orCut(because()) };
  }

  #orCut(because: string): string {
    return this.#isCut ? `${because}, as far as was searched` : because;
  }
}

/** The event of a step by the name that descriptions have for it. */
function eventOf(step: ChartStep): string {
  if (step.kind === 'event') return step.event.type;
  return step.kind === 'done' || step.kind === 'error' ? `${step.kind}(${step.call})` : step.kind;
}

function pathTo(to: string, found: Found): ChartPath {
  const steps: ChartStep[] = [];
  const values: StateValue[] = [];
  for (let at: Found | undefined = found; at !== undefined; at = at.by?.from) {
    values.unshift(at.place.snapshot.value);
    if (at.by !== undefined) steps.unshift(at.by.step);
  }
  return { to, steps, values };
}
