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
