/** XState itself as the real thing of any machine: its actors are replaced by calls of the plan, and nothing else is. */
import { createActor, fromPromise } from 'xstate';
import type { AnyActor, AnyStateMachine } from 'xstate';
import { invokesOf, nodesOf } from '../../src/machines/inspection/chart-reading.ts';
import { ChartWalk } from '../../src/machines/inspection/chart-walk.ts';
import type { Chart } from '../../src/machines/inspection/chart.ts';
import type { ChartAdapter, ChartWorld } from '../../src/testing/chart-adapter.ts';

interface Setting extends Pick<Chart, 'input' | 'events' | 'samples'> {
  /** Whether its context is a matter of the chart alone. Default true. */
  readonly hasOwnContext?: boolean;
}

export function xstateAdapter(
  machine: AnyStateMachine,
  { hasOwnContext = true, ...known }: Setting = {},
): ChartAdapter<AnyActor> {
  // Those that wildcards take too.
  const { events } = new ChartWalk({ machine, ...known });
  const seen = ({ value, status, context }: Snapshot): object => ({
    value,
    status,
    ...(hasOwnContext ? { context: plain(context) } : {}),
  });
  return {
    start: (world) => createActor(calling(machine, world), { clock: world.clock, input: known.input }).start(),
    events: Object.fromEntries(
      events.map(({ event: { type } }) => [
        type,
        (actor: AnyActor, event: { readonly type: string }) => {
          // An actor at its end complains of what comes.
          if ((actor.getSnapshot() as Snapshot).status === 'active') actor.send(event);
        },
      ]),
    ),
    read: (actor) => seen(actor.getSnapshot() as Snapshot),
    expected: seen,
    stop: (actor) => actor.stop(),
  };
}

interface Snapshot {
  readonly value: unknown;
  readonly status: string;
  readonly context: unknown;
}

/** Actors in it differ in what is no matter of the chart. */
function plain(context: unknown): unknown {
  return JSON.parse(
    JSON.stringify(context ?? null, (_, value: unknown) =>
      typeof value === 'object' && value !== null && 'getSnapshot' in value ? 'an actor' : value,
    ),
  );
}

function calling(original: AnyStateMachine, world: ChartWorld): AnyStateMachine {
  const names = new Map(
    nodesOf(original).flatMap((node) => invokesOf(node).map(({ raw, invocation }) => [raw, invocation.id] as const)),
  );
  // What is spawned is no call that the chart waits for.
  const logic = fromPromise(({ self }) => {
    const name = names.get(self.id);
    return name === undefined ? new Promise(() => undefined) : world.call(name);
  });
  const actors = Object.keys(original.implementations.actors as object);
  const machine = original.provide({ actors: Object.fromEntries(actors.map((name) => [name, logic])) as never });
  for (const node of nodesOf(machine)) {
    const invoke = (node.invoke as readonly object[]).map((each) => ({ ...each, src: logic, input: undefined }));
    if (invoke.length > 0) Object.defineProperty(node, 'invoke', { value: invoke });
  }
  return machine;
}
