/**
 * What kind of actor a state invokes, as far as the machine tells: whether it ends and fails by itself. XState keeps no
 * name of it, so it is told by what its logic is made of. None is started.
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { Chart } from './chart.ts';
import { idOf, nodesOf } from './chart-reading.ts';
import { machineOf } from './describe-chart.ts';

/**
 * `lasting`: callbacks, observables and reducers, which run for as long as their state does. `unknown`: nothing stands
 * behind the name.
 */
export type InvokedKind = 'promise' | 'machine' | 'lasting' | 'unknown';

/** By the state and the place among what it invokes. */
export type KindOfInvoked = (state: string, place: number) => InvokedKind;

/** Where a chart is strict, each actor counts as one that ends and fails. */
export function invokedKindsOf({ machine, isStrict = false }: Chart): KindOfInvoked {
  const kinds = new Map(nodesOf(machineOf(machine)).map((node) => [idOf(node), kindsOf(node)]));
  return (state, place) => (isStrict ? 'promise' : (kinds.get(state)?.[place] ?? 'unknown'));
}

function kindsOf(node: AnyStateNode): readonly InvokedKind[] {
  const written = [(node.config as { readonly invoke?: unknown }).invoke ?? []].flat() as readonly Written[];
  const { actors } = (node.machine as AnyStateMachine).implementations as { readonly actors: Actors };
  return written.map(({ src }) => kindOf(typeof src === 'string' ? ownOf(actors, src) : src));
}

interface Written {
  readonly src?: unknown;
}

type Actors = Readonly<Record<string, unknown>>;

function ownOf(actors: Actors, name: string): unknown {
  return Object.hasOwn(actors, name) ? actors[name] : undefined;
}

function kindOf(logic: unknown): InvokedKind {
  if (typeof logic !== 'object' || logic === null) return 'unknown';
  if ('root' in logic) return 'machine';
  return isPromise(logic) ? 'promise' : 'lasting';
}

interface Logic {
  readonly start?: unknown;
  readonly transition?: (state: object, event: object, scope: object) => { readonly status?: unknown } | undefined;
}

/** Only the logic of a promise takes a rejection. Reducers, whose transition is their author's, have no start. */
function isPromise(logic: Logic): boolean {
  if (typeof logic.start !== 'function') return false;
  try {
    return (
      logic.transition?.({ status: 'active' }, { type: 'xstate.promise.reject' }, { self: {} })?.status === 'error'
    );
  } catch {
    return false;
  }
}
