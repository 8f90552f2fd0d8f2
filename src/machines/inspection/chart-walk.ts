/**
 * Walks along a chart step by step, with its timers on a clock of its own and with the calls that it waits for. Nothing
 * is started or executed: places are values, and a walk may go on from any of them in several ways.
 */
import type { AnyEventObject } from 'xstate';
import { RuntimeError, messageOf } from '../errors.ts';
import { invokesOf, nodesOf } from './chart-reading.ts';
import type { ChartDescription } from './chart-description.ts';
import type { ChartStep } from './chart-step.ts';
import type { Chart } from './chart.ts';
import { describeChart, machineOf } from './describe-chart.ts';
import { snapshotKey } from './explore-chart.ts';
import { sentEvents } from './explored-events.ts';
import { exploredMachine } from './explored-machine.ts';
import type { ExploredMachine, TriedSnapshot, TriedStep } from './explored-machine.ts';

interface ArmedTimer {
  readonly id: string | undefined;
  readonly event: AnyEventObject;
  readonly inMs: number;
}

/** Where a walk stands. */
export interface ChartPlace {
  readonly snapshot: TriedSnapshot;
  /** The next one first. */
  readonly timers: readonly ArmedTimer[];
  /** What XState calls the invoked actors that have not answered. */
  readonly running: readonly string[];
  /** Names of calls that the chart waits for no more, once for each, though they may be answered still. */
  readonly left: readonly string[];
}

export interface WalkedStep {
  readonly place: ChartPlace;
  /** Ids of the transitions that were taken, in order. */
  readonly taken: readonly string[];
  /** What a guard or an action threw. The place is the one before, then. */
  readonly thrown?: unknown;
}

/** Native timers wait that long at least, and simulated ones do. */
const SHORTEST_MS = 1;

/** How a call fails that the plan lets fail. */
export function plannedFailure(call: string): Error {
  return new Error(`planned: the call ${call} fails`);
}

export class ChartWalk {
  readonly description: ChartDescription;
  /** What may be sent, wherever the walk stands. */
  readonly events: readonly (ChartStep & { readonly kind: 'event' })[];
  /** Ids of invoked actors by what XState calls them. */
  readonly #names: ReadonlyMap<string, string>;
  /** Those of them that a transition waits for. */
  readonly #awaited: ReadonlySet<string>;
  readonly #chart: Chart;
  readonly #explored: ExploredMachine;

  constructor(chart: Chart) {
    this.#chart = chart;
    this.#explored = exploredMachine(machineOf(chart.machine));
    this.description = describeChart(chart.machine, { events: chart.events ?? {} });
    this.events = sentEvents(chart, this.description).map(({ event }) => ({ kind: 'event', event }));
    const nodes = nodesOf(this.#explored.machine);
    const invoked = nodes.flatMap(invokesOf);
    this.#names = new Map(invoked.map(({ raw, invocation }) => [raw, invocation.id]));
    this.#awaited = new Set(
      invoked.flatMap(({ raw }) =>
        nodes.some(
          ({ transitions }) =>
            transitions.has(`xstate.done.actor.${raw}`) || transitions.has(`xstate.error.actor.${raw}`),
        )
          ? [raw]
          : [],
      ),
    );
  }

  /** @throws RuntimeError CHART_NOT_STARTED */
  start(): WalkedStep {
    const tried = this.#explored.start(this.#chart.input);
    if (tried.snapshot === undefined) {
      throw new RuntimeError(
        'CHART_NOT_STARTED',
        `the chart "${this.description.id}" cannot be started: ${messageOf(tried.thrown)}`,
        {
          category: 'validation',
          hint: 'Give what an actor of it is given: { machine, input }.',
          cause: tried.thrown,
        },
      );
    }
    const nowhere: ChartPlace = { snapshot: tried.snapshot, timers: [], running: [], left: [] };
    return { place: this.#placeAfter(nowhere, tried), taken: tried.taken };
  }

  /** Names of the calls that the chart waits for: what it invokes, and goes on by the answer of. */
  callsAt(place: ChartPlace): readonly string[] {
    return this.#runningAt(place).flatMap(({ name, isAwaited }) => (isAwaited ? [name] : []));
  }

  /** Names of the calls that may be under way here, though the chart waits for none of them. */
  sparedAt(place: ChartPlace): readonly string[] {
    return [...place.left, ...this.#runningAt(place).flatMap(({ name, isAwaited }) => (isAwaited ? [] : [name]))];
  }

  /** A name that several of the actors that run here have: a call of it cannot be told from another. */
  sharedNameAt({ running }: ChartPlace): string | undefined {
    const names = [...new Set(running)].flatMap((raw) => this.#names.get(raw) ?? []);
    return names.find((name, index) => names.indexOf(name) !== index && this.outputsOf(name).length > 0);
  }

  /** One with no answers given is left out: what it does is not the matter of the test. */
  #runningAt({ running }: ChartPlace): readonly { readonly name: string; readonly isAwaited: boolean }[] {
    return running.flatMap((raw) => {
      const name = this.#names.get(raw);
      return name === undefined ? [] : [{ name, isAwaited: this.#awaited.has(raw) && this.outputsOf(name).length > 0 }];
    });
  }

  /** What a call may answer, as the chart was given it. */
  outputsOf(call: string): readonly unknown[] {
    const { outputs = {} } = this.#chart;
    return (Object.hasOwn(outputs, call) ? outputs[call] : undefined) ?? [undefined];
  }

  /** All that can be done here but faults: what is sent, what calls answer, the next timer. */
  stepsAt(place: ChartPlace): readonly ChartStep[] {
    if (place.snapshot.status !== 'active') return [];
    const [next] = place.timers;
    const answers = this.callsAt(place).flatMap((call): ChartStep[] => [
      ...this.outputsOf(call).map((output): ChartStep => doneStep(call, output)),
      ...(this.#takesError(place, call) ? [{ kind: 'error' as const, call }] : []),
    ]);
    return [...this.events, ...answers, ...(next === undefined ? [] : [{ kind: 'wait' as const, ms: next.inMs }])];
  }

  /** Undefined: that cannot happen here. Faults that the chart does not hear of change nothing. */
  take(place: ChartPlace, step: ChartStep): WalkedStep | undefined {
    if (step.kind === 'event') return this.#tell(place, step.event);
    if (step.kind === 'wait') return this.#wait(place, step.ms);
    if (step.kind === 'done') return this.#answer(place, step.call, { output: step.output });
    if (step.kind === 'error' || step.kind === 'lost') {
      if (!this.#takesError(place, step.call)) return undefined;
      return this.#answer(place, step.call, { error: plannedFailure(step.call) });
    }
    if (step.kind === 'restart') return { place: { ...place, left: [] }, taken: [] };
    if (step.kind === 'again') return { place, taken: [] };
    if (!place.left.includes(step.call)) return undefined;
    return { place: { ...place, left: place.left.toSpliced(place.left.indexOf(step.call), 1) }, taken: [] };
  }

  /** Two places with the same key have the same future. */
  keyOf({ snapshot, timers, running }: ChartPlace): string {
    return JSON.stringify([
      snapshotKey(snapshot),
      timers.map(({ event, inMs }) => [event.type, inMs]),
      running.toSorted(),
    ]);
  }

  #tell(place: ChartPlace, event: AnyEventObject): WalkedStep {
    if (place.snapshot.status !== 'active') return { place, taken: [] };
    const tried = this.#explored.step(place.snapshot, event);
    if (tried.snapshot === undefined) return { place, taken: [], thrown: tried.thrown };
    return { place: this.#placeAfter(place, tried), taken: tried.taken };
  }

  #answer(
    place: ChartPlace,
    call: string,
    answer: { readonly output: unknown } | { readonly error: unknown },
  ): WalkedStep | undefined {
    const raw = this.#rawOf(place, call);
    if (raw === undefined) return undefined;
    const type = 'error' in answer ? `xstate.error.actor.${raw}` : `xstate.done.actor.${raw}`;
    const running = place.running.toSpliced(place.running.indexOf(raw), 1);
    return this.#tell({ ...place, running }, { type, actorId: raw, ...answer });
  }

  /** Time passes, and each timer fires at its moment. */
  #wait(from: ChartPlace, ms: number): WalkedStep {
    const taken: string[] = [];
    let [place, leftMs] = [from, ms];
    for (let [next] = place.timers; next !== undefined && next.inMs <= leftMs; [next] = place.timers) {
      leftMs -= next.inMs;
      const step = this.#tell({ ...place, timers: later(place.timers.slice(1), next.inMs) }, next.event);
      if ('thrown' in step) return { place: from, taken: [], thrown: step.thrown };
      taken.push(...step.taken);
      place = step.place;
    }
    return { place: { ...place, timers: later(place.timers, leftMs) }, taken };
  }

  #placeAfter(before: ChartPlace, { snapshot = before.snapshot, effects }: TriedStep): ChartPlace {
    let timers = [...before.timers];
    let running = [...before.running];
    const left = [...before.left];
    const stop = (raw: string): void => {
      const stopped = running.filter((each) => each === raw);
      running = running.filter((each) => each !== raw);
      left.push(...stopped.flatMap((each) => this.#names.get(each) ?? []));
    };
    for (const effect of effects) {
      if (effect.kind === 'arm') {
        const { id, event, delayMs } = effect;
        timers.push({ id, event, inMs: Math.max(SHORTEST_MS, delayMs) });
      } else if (effect.kind === 'disarm') timers = timers.filter(({ id }) => id !== effect.id);
      // XState enters a state that its own history leads to again without leaving it: there are two then.
      else if (effect.kind === 'invoke') running.push(effect.id);
      else stop(effect.id);
    }
    if (snapshot.status !== 'active') {
      timers = [];
      for (const raw of new Set(running)) stop(raw);
    }
    return {
      snapshot,
      timers: timers.toSorted((one, other) => one.inMs - other.inMs),
      running,
      left,
    };
  }

  #rawOf({ running }: ChartPlace, call: string): string | undefined {
    return running.find((raw) => this.#names.get(raw) === call);
  }

  /** A failure that no transition takes ends the machine: there is nothing to go on with. */
  #takesError(place: ChartPlace, call: string): boolean {
    const raw = this.#rawOf(place, call);
    return (
      raw !== undefined && place.snapshot._nodes.some(({ transitions }) => transitions.has(`xstate.error.actor.${raw}`))
    );
  }
}

function later(timers: readonly ArmedTimer[], byMs: number): readonly ArmedTimer[] {
  return byMs === 0 ? timers : timers.map((timer) => ({ ...timer, inMs: timer.inMs - byMs }));
}

function doneStep(call: string, output: unknown): ChartStep {
  return output === undefined ? { kind: 'done', call } : { kind: 'done', call, output };
}
