/** Paths over charts that live by events alone. */
import type { AnyStateMachine, StateValue } from 'xstate';
import { chartPaths } from '../../src/testing.ts';

export interface Step {
  readonly from: StateValue;
  readonly event: string;
}

/** For every state and every event that it takes: a shortest way to the state, and the event itself. */
export function pathsOverEveryTransition(
  machine: AnyStateMachine,
  events: readonly string[],
): { readonly events: readonly string[]; readonly last: Step }[] {
  const ways = chartPaths(machine).states.map(({ steps, values }) => ({
    way: steps.flatMap((step) => (step.kind === 'event' ? [step.event.type] : [])),
    from: values.at(-1) ?? '',
  }));
  // A state with states inside is where the first of them is.
  const places = new Map(ways.map(({ way, from }) => [JSON.stringify(from), { way, from }]));
  return [...places.values()].flatMap(({ way, from }) =>
    events
      .filter((type) => machine.resolveState({ value: from, context: {} }).can({ type }))
      .map((type) => ({ events: [...way, type], last: { from, event: type } })),
  );
}
