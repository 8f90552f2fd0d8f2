/** Writes a chart as the configuration of a machine, JSON, as the frames of other inspectors carry it. */
import type {
  ChartDescription,
  ChartInvocation,
  ChartOperation,
  ChartState,
  ChartTransition,
} from '../inspection/chart-description.ts';
import { ROOT } from '../inspection/chart-states.ts';
import { isRecord } from '../validate.ts';

type Written = Readonly<Record<string, unknown>>;

export function definitionOf(chart: ChartDescription): string {
  const { version } = chart;
  return JSON.stringify({
    id: chart.id,
    ...(version === undefined ? {} : { version }),
    ...new ConfigWriter(chart).state(ROOT),
  });
}

class ConfigWriter {
  readonly #chart: ChartDescription;
  readonly #states: ReadonlyMap<string, ChartState>;
  readonly #children = new Map<string, ChartState[]>();
  readonly #transitions = new Map<string, ChartTransition[]>();

  constructor(chart: ChartDescription) {
    this.#chart = chart;
    this.#states = new Map(chart.states.map((state) => [state.id, state]));
    for (const state of chart.states) if (state.parent !== undefined) pushTo(this.#children, state.parent, state);
    for (const transition of chart.transitions) pushTo(this.#transitions, transition.source, transition);
  }

  state(id: string): Written {
    const state = this.#states.get(id);
    if (state === undefined) return {};
    const transitions = this.#transitions.get(id) ?? [];
    const of = (...kinds: readonly ChartTransition['kind'][]): readonly ChartTransition[] =>
      transitions.filter(({ kind }) => kinds.includes(kind));
    return withoutEmpty({
      type: state.kind === 'compound' || state.kind === 'atomic' ? undefined : state.kind,
      history: state.history,
      target: state.kind === 'history' && state.initial !== undefined ? this.#target(state.initial) : undefined,
      initial:
        state.kind === 'compound' && state.initial !== undefined ? this.#initial(state, state.initial) : undefined,
      description: state.description,
      tags: state.tags,
      entry: state.entry.map(operation),
      exit: state.exit.map(operation),
      invoke: state.invokes.map((invocation) => this.#invocation(invocation, transitions)),
      on: this.#grouped(of('event', 'wildcard'), ({ event }) => event),
      after: this.#grouped(of('delayed'), ({ delay, event }) => String(delay ?? event)),
      always: of('eventless').map((each) => this.#transition(each)),
      onDone: of('done').map((each) => this.#transition(each)),
      states: Object.fromEntries((this.#children.get(id) ?? []).map((child) => [child.key, this.state(child.id)])),
    });
  }

  #initial(state: ChartState, initial: string): unknown {
    const child = this.#states.get(initial);
    const isDirect = child?.parent === state.id;
    const actions = state.initialActions?.map(operation) ?? [];
    if (isDirect && actions.length === 0) return child.key;
    return withoutEmpty({ target: isDirect ? child.key : this.#target(initial), actions });
  }

  #invocation({ id, source }: ChartInvocation, transitions: readonly ChartTransition[]): Written {
    const of = (kind: ChartTransition['kind']): readonly Written[] =>
      transitions.filter((each) => each.kind === kind && each.invoke === id).map((each) => this.#transition(each));
    return withoutEmpty({
      id,
      src: source.name,
      onDone: of('invoke-done'),
      onError: of('invoke-error'),
      onSnapshot: of('invoke-snapshot'),
    });
  }

  #grouped(transitions: readonly ChartTransition[], keyOf: (transition: ChartTransition) => string): Written {
    const groups = new Map<string, Written[]>();
    for (const transition of transitions) pushTo(groups, keyOf(transition), this.#transition(transition));
    return Object.fromEntries(groups);
  }

  #transition({ targets, guard, actions, reenters, description }: ChartTransition): Written {
    const wanted = targets.map((target) => this.#target(target));
    return withoutEmpty({
      target: wanted.length === 1 ? wanted[0] : wanted,
      guard: guard === undefined ? undefined : operation(guard),
      actions: actions.map(operation),
      reenter: reenters ? true : undefined,
      description,
    });
  }

  /** By what XState calls a state that was given no id of its own. */
  #target(id: string): string {
    return id === ROOT ? `#${this.#chart.id}` : `#${this.#chart.id}.${id}`;
  }
}

/** What was no name but a function goes out as senders write functions: without what `raise` raises. */
function operation({ name, isInline }: ChartOperation): unknown {
  if (!isInline) return name;
  return { type: name === '(inline)' ? '' : name.replace(/^\(raise .*$/, 'raise').replaceAll(/^\(|\)$/g, '') };
}

function withoutEmpty(config: Readonly<Record<string, unknown>>): Written {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    (Array.isArray(value) && value.length === 0) ||
    (isRecord(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(config).filter(([, value]) => !isEmpty(value)));
}

function pushTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
