/** The charts of the actors that are recorded: each is described once, before the first actor of it. */
import type { AnyStateMachine } from 'xstate';
import { beginningOf } from '../../machines/cut-text.ts';
import { chartDescription } from '../../machines/inspection/chart-description.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { charts as known } from '../../machines/inspection/chart-catalog.ts';
import { describeChart, transitionIds } from '../../machines/inspection/describe-chart.ts';
import {
  MAX_LINE_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TAKEN,
} from '../../machines/inspection-log/inspection-record.ts';
import { UNKNOWN_TRANSITION } from '../../machines/inspection-log/taken-words.ts';
import type { InspectedText } from './inspected-text.ts';

/** A longer one would make a line that readers take for damage. */
const MAX_CHART_CHARACTERS = MAX_LINE_CHARACTERS / 2;
/** Texts of a chart may be longer than other names. */
const MAX_CHART_TEXT = 4_000;

/** XState reports an event that took none so. */
const NONE: readonly string[] = [];

export interface ToldChart {
  /** What its actors are. */
  readonly kind: string;
  /** Unique in the log. Undefined: it could not be described, or there are too many. */
  readonly id: string | undefined;
  readonly description: ChartDescription | undefined;
}

/** A machine of a chart: `provide` makes many of one, each with transitions of its own. */
export interface InspectedMachine extends ToldChart {
  /** A compiled lifecycle: it gives the same objects for states and transitions again and again. */
  readonly isCompiled: boolean;
  /** The logic around it handles events that the chart never sees. */
  readonly hasOwnLogic: boolean;
  /** The ids of what was taken. */
  taken(transitions: readonly object[]): readonly string[];
}

export class ChartRegistry {
  readonly #text: InspectedText;
  readonly #maxCharts: number;
  /** By the logic of actors. */
  readonly #machines = new WeakMap<object, InspectedMachine>();
  /** By the configuration, which all machines share that `provide` makes of one. */
  readonly #byConfig = new WeakMap<object, ToldChart>();
  readonly #byId = new Map<string, ChartDescription>();
  /** Charts that are not told: too many, too large, or broken. */
  untold = 0;

  constructor(text: InspectedText, maxCharts: number) {
    this.#text = text;
    this.#maxCharts = maxCharts;
  }

  /** @param logic of an actor @returns undefined where it has no chart */
  of(logic: unknown): InspectedMachine | undefined {
    if (typeof logic !== 'object' || logic === null) return undefined;
    const seen = this.#machines.get(logic);
    if (seen !== undefined) return seen;
    const isCompiled = !('root' in logic);
    const machine = (isCompiled ? (logic as { readonly machine?: unknown }).machine : logic) as
      | AnyStateMachine
      | undefined;
    if (typeof machine !== 'object' || machine === null) return undefined;
    const made = this.#inspected(machine, { isCompiled, hasOwnLogic: 'handlesEventsItself' in logic });
    this.#machines.set(logic, made);
    return made;
  }

  get charts(): ReadonlyMap<string, ChartDescription> {
    return this.#byId;
  }

  #inspected(
    machine: AnyStateMachine,
    { isCompiled, hasOwnLogic }: Pick<InspectedMachine, 'isCompiled' | 'hasOwnLogic'>,
  ): InspectedMachine {
    const chart = this.#chartOf(machine);
    let ids: ReadonlyMap<object, string> | undefined;
    const named = new WeakMap<object, readonly string[]>();
    return {
      ...chart,
      isCompiled,
      hasOwnLogic,
      taken: (transitions) => {
        if (transitions.length === 0) return NONE;
        const before = isCompiled ? named.get(transitions) : undefined;
        if (before !== undefined) return before;
        ids ??= chart.id === undefined ? new Map<object, string>() : transitionIds(machine);
        const names = transitions
          .slice(0, MAX_TAKEN)
          .map((each) => this.#text.name(ids?.get(each) ?? UNKNOWN_TRANSITION));
        if (isCompiled) named.set(transitions, names);
        return names;
      },
    };
  }

  #chartOf(machine: AnyStateMachine): ToldChart {
    const { config } = machine as { readonly config?: unknown };
    const key = typeof config === 'object' && config !== null ? config : machine;
    const told = this.#byConfig.get(key);
    if (told !== undefined) return told;
    const chart = this.#describe(machine, key);
    this.#byConfig.set(key, chart);
    if (chart.id === undefined || chart.description === undefined) this.untold += 1;
    else this.#byId.set(chart.id, chart.description);
    return chart;
  }

  #describe(machine: AnyStateMachine, config: object): ToldChart {
    const kind = this.#text.name(machine.id);
    const untold = { kind, id: undefined, description: undefined };
    if (this.#byId.size >= this.#maxCharts) return untold;
    try {
      const events = known.find((each) => each.machine.config === config)?.events;
      const json = JSON.stringify(describeChart(machine, { events }), (_key, value: unknown) =>
        typeof value === 'string' ? this.#text.cut(value, MAX_CHART_TEXT) : value,
      );
      if (json.length > MAX_CHART_CHARACTERS) return untold;
      const description = chartDescription.parse(JSON.parse(json));
      return { kind, id: this.#freeId(kind), description };
    } catch {
      return untold;
    }
  }

  /** Two charts may have the same id: then the second one is told under another. */
  #freeId(wanted: string): string {
    let id = wanted;
    for (let copy = 2; this.#byId.has(id); copy += 1) id = `${beginningOf(wanted, MAX_NAME_CHARACTERS - 10)}#${copy}`;
    return id;
  }
}
