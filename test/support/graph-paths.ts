/** Path helpers over charts; the one place that knows which graph package serves them. */
import { getShortestPaths } from '@xstate/graph';
import type { AnyStateMachine, StateValue } from 'xstate';

export interface Step {
  readonly from: StateValue;
  readonly event: string;
}

/** For every transition of the chart: a shortest way to its source, and the transition itself. */
export function pathsOverEveryTransition(
  machine: AnyStateMachine,
  events: readonly string[],
): { readonly events: readonly string[]; readonly last: Step }[] {
  const paths = getShortestPaths(machine, {
    events: events.map((type) => ({ type })) as never,
    serializeState: (state: { value: StateValue }) => JSON.stringify(state.value) as never,
  } as never) as unknown as {
    readonly state: { readonly value: StateValue; can(event: object): boolean };
    readonly steps: readonly { readonly event: { readonly type: string } }[];
  }[];
  return paths.flatMap((path) => {
    // The walk begins with xstate.init, which nobody sends.
    const way = path.steps.map((step) => step.event.type).filter((type) => !type.startsWith('xstate.'));
    return events
      .filter((type) => path.state.can({ type }))
      .map((type) => ({ events: [...way, type], last: { from: path.state.value, event: type } }));
  });
}
