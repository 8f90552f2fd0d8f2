/**
 * Tries a chart out, breadth first: every event, answer, error and timer in every snapshot that can be found, each told
 * apart by state, context and history.
 *
 * Nothing is started or executed (see explored-machine.ts). What is found is proven: each configuration with the
 * shortest path that leads to it. What is not found is not proven to be out of reach, unless every sample of every
 * event was given and no limit was met.
 */
import type { AnyStateMachine, StateValue } from 'xstate';
import type { ChartDescription } from './chart-description.ts';
import { idOf } from './chart-reading.ts';
import type { Chart } from './chart.ts';
import { describeChart, machineOf } from './describe-chart.ts';
import type { EventsOfChart, TriedEvent } from './explored-events.ts';
import { eventOfLabel, eventsToTry } from './explored-events.ts';
import type { ExploredMachine, TriedSnapshot, TriedStep } from './explored-machine.ts';
import { exploredMachine } from './explored-machine.ts';
import { checkedLimits } from './exploration-limits.ts';
import type { ExplorationLimits } from './exploration-limits.ts';

// One text for each state that a machine can be in: its value, its context and what its history states remember.

/** Deeper than this a context is taken for the same. */
const MAX_DEPTH = 24;

interface KeyedSnapshot {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly historyValue?: Readonly<Record<string, readonly { readonly id: string }[]>> | undefined;
}

/**
 * Two snapshots with the same key answer every event in the same way, as far as data can tell: functions and actors
 * count by their names.
 */
export function snapshotKey({ status, value, context, historyValue = {} }: KeyedSnapshot): string {
  const remembered = Object.entries(historyValue).map(([state, nodes]) => [state, nodes.map(({ id }) => id)]);
  return keyOf([status, value, context, Object.fromEntries(remembered)], []);
}

/** As JSON, the keys of objects sorted, with something for everything that JSON has no word for. */
function keyOf(value: unknown, above: readonly object[]): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `ƒ(${value.name})`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const depth = above.indexOf(value);
  if (depth !== -1) return `^${above.length - depth}`;
  if (above.length >= MAX_DEPTH) return '…';
  return objectKey(value, [...above, value]);
}

function objectKey(value: object, above: readonly object[]): string {
  const each = (part: unknown): string => keyOf(part, above);
  if (Array.isArray(value)) return `[${value.map(each).join(',')}]`;
  if (value instanceof Date) return `date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return `error(${each(value.name)},${each(value.message)})`;
  if (value instanceof Set) return `set(${[...value].map(each).toSorted().join(',')})`;
  if (value instanceof Map)
    return `map(${[...value]
      .map(([key, item]) => `${each(key)}:${each(item)}`)
      .toSorted()
      .join(',')})`;
  const { xstate$$type: isActor, id } = value as { readonly xstate$$type?: unknown; readonly id?: unknown };
  // An actor leads to its whole system, and its number in that differs from run to run.
  if (isActor !== undefined || 'getSnapshot' in value)
    return `actor(${typeof id === 'string' && !id.startsWith('x:') ? id : ''})`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .map(([key, member]) => `${JSON.stringify(key)}:${each(member)}`)
    .toSorted()
    .join(',')}}`;
}

/** Events that never come to an end, each of which takes long to try, after which no more are tried. */
const MAX_ENDLESS = 5;

export interface ExploredSnapshot {
  readonly snapshot: TriedSnapshot;
  /** Ids of the atomic and final states that are active, in document order. */
  readonly leaves: readonly string[];
  /** Labels of the events of the shortest path. */
  readonly path: readonly string[];
  /**
   * Whether all that its context is made of was given: an event that was tried without what it carries may have left
   * nonsense in it, and what stumbles over that proves nothing.
   */
  readonly isSound: boolean;
}

/** Something of the chart that threw, or never came to an end, when an event was tried. */
export interface FailedStep {
  readonly leaves: readonly string[];
  /** Absent: it was the start. */
  readonly label: string | undefined;
  readonly thrown: unknown;
  readonly isEndless: boolean;
  /** Whether a schema says what the event, or the input, carries, and nothing else was in the context. */
  readonly isGiven: boolean;
}

export interface Exploration {
  /** In the order in which they were found: paths never get shorter. */
  readonly snapshots: readonly ExploredSnapshot[];
  /** Where a limit was met. */
  readonly isCut: boolean;
  /** The leaves of a configuration in which more contexts or histories were found than are checked. */
  readonly endlessIn: readonly string[] | undefined;
  /** Ids of transitions that were taken, each with the shortest path after which it was. */
  readonly taken: ReadonlyMap<string, readonly string[]>;
  /** Once for each event in each configuration. */
  readonly failures: readonly FailedStep[];
  /**
   * Transitions of one state whose guards held for the same event in the same snapshot, each set once, with the leaves
   * where.
   */
  readonly overlaps: readonly {
    readonly transitions: readonly string[];
    readonly leaves: readonly string[];
    readonly label: string;
  }[];
  readonly explored: ExploredMachine;
}

export function exploreChart(chart: Chart, description: ChartDescription, limits?: ExplorationLimits): Exploration {
  const explored = exploredMachine(machineOf(chart.machine));
  const silent = description.transitions.flatMap(({ id, actions }) => (actions.length === 0 ? [id] : []));
  const search = new Search(explored, checkedLimits(limits), new Set(silent));
  search.arrive(
    explored.start(chart.input),
    { leaves: [], path: [], isSound: chart.input !== undefined || !needsInput(explored.machine) },
    { label: undefined, isGiven: chart.input !== undefined },
  );
  const events = eventsToTry({ ...chart, machine: explored.machine }, description);
  // What is found is added to the end while this goes over it.
  for (const from of search.snapshots)
    if (from.snapshot.status === 'active') for (const tried of events(from.snapshot)) search.try(from, tried);
  return {
    snapshots: search.snapshots,
    isCut: search.isCut,
    endlessIn: search.endlessIn,
    taken: search.taken,
    failures: search.failures,
    overlaps: [...search.overlaps.values()],
    explored,
  };
}

/** A context that is made by a function which takes something. */
function needsInput({ config }: AnyStateMachine): boolean {
  const { context } = config as { readonly context?: unknown };
  return typeof context === 'function' && context.length > 0;
}

class Search {
  readonly snapshots: ExploredSnapshot[] = [];
  readonly taken = new Map<string, readonly string[]>();
  readonly failures: FailedStep[] = [];
  readonly overlaps = new Map<string, Exploration['overlaps'][number]>();
  isCut = false;
  endlessIn: readonly string[] | undefined;
  readonly #explored: ExploredMachine;
  readonly #limits: ExplorationLimits;
  readonly #keys = new Set<string>();
  readonly #perConfiguration = new Map<string, number>();
  readonly #failed = new Set<string>();

  /** Of transitions that do nothing: what they are taken with cannot be at fault. */
  readonly #silent: ReadonlySet<string>;

  constructor(explored: ExploredMachine, limits: ExplorationLimits, silent: ReadonlySet<string>) {
    this.#explored = explored;
    this.#limits = limits;
    this.#silent = silent;
  }

  try(from: ExploredSnapshot, { label, event, isGiven }: TriedEvent): void {
    if (this.failures.filter(({ isEndless }) => isEndless).length >= MAX_ENDLESS) {
      this.isCut = true;
      return;
    }
    // One that has failed in this configuration tells nothing new in another context of it.
    if (this.#failed.has(failureKey(from.leaves, label))) return;
    const step = this.#explored.step(from.snapshot, event);
    this.arrive(step, from, { label, isGiven });
    if (step.snapshot !== undefined) this.#noteOverlaps(from, { label, event, isGiven });
  }

  arrive(
    { snapshot, taken, thrown, isEndless }: TriedStep,
    from: Pick<ExploredSnapshot, 'leaves' | 'path' | 'isSound'> & Partial<Pick<ExploredSnapshot, 'snapshot'>>,
    { label, isGiven }: Pick<FailedStep, 'label' | 'isGiven'>,
  ): void {
    const path = label === undefined ? [] : [...from.path, label];
    for (const id of taken) if (!this.taken.has(id)) this.taken.set(id, path);
    if (snapshot === undefined) {
      const isAtFault = isGiven || (isEndless && taken.every((id) => this.#silent.has(id)));
      this.#noteFailure({ leaves: from.leaves, label, thrown, isEndless, isGiven: isAtFault && from.isSound });
      return;
    }
    const key = snapshotKey(snapshot);
    if (this.#keys.has(key)) return;
    const configuration = JSON.stringify(snapshot.value);
    const alike = this.#perConfiguration.get(configuration) ?? 0;
    const isOverfull = alike >= this.#limits.maxPerConfiguration;
    if (this.#keys.size >= this.#limits.maxSnapshots || isOverfull) {
      this.isCut = true;
      if (isOverfull) this.endlessIn ??= leavesIn(snapshot);
      return;
    }
    this.#keys.add(key);
    this.#perConfiguration.set(configuration, alike + 1);
    const isUntouched = label === undefined || isGiven || snapshot.context === from.snapshot?.context;
    this.snapshots.push({ snapshot, leaves: leavesIn(snapshot), path, isSound: from.isSound && isUntouched });
  }

  #noteFailure(failure: FailedStep): void {
    const key = failureKey(failure.leaves, failure.label);
    if (this.#failed.has(key)) return;
    this.#failed.add(key);
    this.failures.push(failure);
  }

  #noteOverlaps(from: ExploredSnapshot, { label, event }: TriedEvent): void {
    for (const node of from.snapshot._nodes) {
      const transitions = holdingOf(this.#explored, node, from.snapshot, event);
      const key = transitions.join(' ');
      if (transitions.length > 1 && !this.overlaps.has(key))
        this.overlaps.set(key, { transitions, leaves: from.leaves, label });
    }
  }
}

function failureKey(leaves: readonly string[], label: string | undefined): string {
  return JSON.stringify([leaves, label]);
}

/** A guard that stumbles because one before it would have kept the event away proves nothing. */
function holdingOf(explored: ExploredMachine, ...asked: Parameters<ExploredMachine['holding']>): readonly string[] {
  try {
    return explored.holding(...asked);
  } catch {
    return [];
  }
}

export function leavesIn({ _nodes }: TriedSnapshot): readonly string[] {
  const leaves = _nodes.filter(({ type }) => type === 'atomic' || type === 'final');
  return leaves.toSorted((one, other) => one.order - other.order).map(idOf);
}

export interface Replay {
  readonly value: StateValue;
  readonly leaves: readonly string[];
  readonly status: string;
  /** Ids of the transitions that were taken on the way, in order. */
  readonly taken: readonly string[];
}

/**
 * Goes a path that an audit has written, perhaps of another version of the chart, and tells where it ends. Nothing is
 * started or executed. Undefined: it cannot be gone, since some step of it is no event here, or because something
 * threw.
 */
export function replayPath(chart: Chart, path: readonly string[]): Replay | undefined {
  const explored = exploredMachine(machineOf(chart.machine));
  const events: EventsOfChart = eventsToTry(
    { ...chart, machine: explored.machine },
    describeChart(chart.machine, { events: chart.events ?? {} }),
  );
  const taken: string[] = [];
  let at = explored.start(chart.input);
  taken.push(...at.taken);
  for (const label of path) {
    const next = at.snapshot?.status === 'active' ? eventOfLabel(events(at.snapshot), label) : undefined;
    if (at.snapshot === undefined || next === undefined) return undefined;
    at = explored.step(at.snapshot, next.event);
    taken.push(...at.taken);
  }
  return at.snapshot === undefined
    ? undefined
    : { value: at.snapshot.value, leaves: leavesIn(at.snapshot), status: at.snapshot.status, taken };
}
