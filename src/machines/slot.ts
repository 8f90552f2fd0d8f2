/** The work that a chart names and does not do: an actor fills the place from a port. */
import { fromPromise } from 'xstate';
import { RuntimeError } from './errors.ts';

/** Fails with `SLOT_EMPTY` unless it is provided. @param chart as the error names it: "run", "tool call" */
export function slotsOf<Common>(
  chart: string,
): <Output, Input extends Common = Common>(name: string) => ReturnType<typeof fromPromise<Output, Input>> {
  return <Output, Input extends Common>(name: string) =>
    fromPromise<Output, Input>(() => {
      throw new RuntimeError('SLOT_EMPTY', `the ${chart} chart has no actor for "${name}"`, {
        category: 'crash',
        hint: `Provide the actor "${name}".`,
      });
    });
}

/**
 * What the states before have made, by the arrows of the chart: XState types a context by machine, not by state. Fails
 * with `CHART_PART_MISSING`.
 */
export function madeIn(chart: string): <Value>(value: Value | undefined, what: string) => Value {
  return (value, what) => {
    if (value !== undefined) return value;
    throw new RuntimeError('CHART_PART_MISSING', `the ${chart} chart reached a state without ${what}`, {
      category: 'crash',
      hint: 'This is a defect; please report it.',
    });
  };
}
