/**
 * A chart from the definition that a frame carries: the configuration of a machine as JSON, in which functions have
 * become `{ "type": NAME }` and what was nested too deeply `"[Object]"`. What is understood of it is written anew,
 * without anything that could run, and XState makes a machine of that.
 */
import { createMachine } from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { beginningOf } from '../cut-text.ts';
import { messageOf } from '../errors.ts';
import type { ChartDescription, ChartOperation } from '../inspection/chart-description.ts';
import { describeChart, transitionIds } from '../inspection/describe-chart.ts';
import { ConfigReader } from './stately-config-reader.ts';
import type { StatelyText } from './stately-text.ts';

/** A chart with more makes a line that readers of logs take for damage. */
export const MAX_DEFINITION_CHARACTERS = 262_144;
const MAX_CHART_CHARACTERS = 524_288;
const MAX_REASON_CHARACTERS = 300;

export interface StatelyChart {
  readonly chart: ChartDescription;
  /**
   * By the id of a transition: the type of the events that it is for, as XState calls them. Empty for those without
   * one.
   */
  readonly eventTypes: ReadonlyMap<string, string>;
  /** Parts are missing: the program left out what was nested too deeply. */
  readonly isCut: boolean;
}

/** `noChart`: what the actor runs is no machine. */
export type ReadDefinition = StatelyChart | { readonly noChart: true } | { readonly because: string };

/** Never throws. @param definition JSON, untrusted */
export function readDefinition(definition: string, text: StatelyText): ReadDefinition {
  if (definition.length > MAX_DEFINITION_CHARACTERS)
    return { because: `it is longer than ${MAX_DEFINITION_CHARACTERS} characters` };
  try {
    return chartFrom(JSON.parse(definition), text);
  } catch (error) {
    return { because: beginningOf(messageOf(error), MAX_REASON_CHARACTERS) };
  }
}

function chartFrom(stored: unknown, text: StatelyText): ReadDefinition {
  const reader = new ConfigReader(text);
  const config = reader.read(stored);
  if (config === undefined) return { noChart: true };
  try {
    const machine = createMachine(config as Parameters<typeof createMachine>[0]) as AnyStateMachine;
    const chart = inlineMarked(describeChart(machine));
    if (new Set(chart.states.map(({ id }) => id)).size < chart.states.length)
      return { because: 'two of its states have the same path' };
    if (JSON.stringify(chart).length > MAX_CHART_CHARACTERS) return { because: 'its chart is too large' };
    const eventTypes = new Map(
      [...transitionIds(machine)].map(([made, id]) => [id, (made as { readonly eventType: string }).eventType]),
    );
    return { chart, eventTypes, isCut: reader.isCut };
  } catch (error) {
    const hint = reader.isCut
      ? ' (parts of it were nested too deeply for the program: give createWebSocketInspector a larger serializationDepthLimit)'
      : '';
    return { because: `${beginningOf(messageOf(error), MAX_REASON_CHARACTERS)}${hint}` };
  }
}

/** What was a function was written as a name in parentheses. */
function inlineMarked(chart: ChartDescription): ChartDescription {
  const marked = (operation: ChartOperation): ChartOperation => ({
    name: operation.name,
    isInline: operation.isInline || operation.name.startsWith('('),
  });
  return {
    ...chart,
    states: chart.states.map((state) => ({
      ...state,
      entry: state.entry.map(marked),
      exit: state.exit.map(marked),
      ...(state.initialActions === undefined ? {} : { initialActions: state.initialActions.map(marked) }),
    })),
    transitions: chart.transitions.map((transition) => ({
      ...transition,
      actions: transition.actions.map(marked),
      ...(transition.guard === undefined ? {} : { guard: marked(transition.guard) }),
    })),
  };
}
