/**
 * A copy of a machine that can be tried out without anything happening: actions are not executed, actors are neither
 * those of the user nor started, timers are not set, a machine that runs in circles is stopped, and every answer of a
 * guard is noted.
 *
 * What is tried is XState's own `transition`, so that what is found out here is what an actor does. What this knows of
 * XState's inside is held by test/machines/inspection/chart-reading.test.ts.
 */
import { createActor, createEmptyActor, fromTransition, not } from 'xstate';
import type { AnyActorScope, AnyEventObject, AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { emptyScope } from '../xstate-internals.ts';
import { idOf, nodesOf, transitionsOf } from './chart-reading.ts';

/** Microsteps after one event, above which the machine is taken to run in circles. */
const MAX_MICROSTEPS = 100;

/** The part of a machine's snapshot that exploring needs. */
export interface TriedSnapshot {
  readonly status: string;
  readonly value: StateValue;
  readonly context: unknown;
  readonly error: unknown;
  readonly historyValue?: Readonly<Record<string, readonly { readonly id: string }[]>>;
  readonly _nodes: readonly AnyStateNode[];
}

/**
 * What became of one event: the snapshot after it, or what was thrown, and the ids of the transitions that were taken.
 */
export interface TriedStep {
  readonly snapshot: TriedSnapshot | undefined;
  readonly thrown: unknown;
  readonly isEndless: boolean;
  readonly taken: readonly string[];
  /** In the order in which an actor would execute them. */
  readonly effects: readonly TriedEffect[];
}

/** What the machine would set in motion beside itself. */
export type TriedEffect =
  | { readonly kind: 'arm'; readonly id: string | undefined; readonly event: AnyEventObject; readonly delayMs: number }
  | { readonly kind: 'disarm'; readonly id: string }
  | { readonly kind: 'invoke' | 'stop'; readonly id: string };

/** What the guard of a transition was seen to answer. */
export interface GuardAnswers {
  hasHeld: boolean;
  hasFailed: boolean;
}

export interface ExploredMachine {
  readonly machine: AnyStateMachine;
  /** In document order. */
  readonly nodes: readonly AnyStateNode[];
  /** By transition id; of guarded transitions only. */
  readonly answers: ReadonlyMap<string, GuardAnswers>;
  start(input: unknown): TriedStep;
  step(snapshot: TriedSnapshot, event: AnyEventObject): TriedStep;
  /**
   * The ids of the transitions of one state for one event whose guards hold, all of them, where XState takes the first.
   */
  holding(node: AnyStateNode, snapshot: TriedSnapshot, event: AnyEventObject): readonly string[];
}

type Check = (
  snapshot: unknown,
  args: { readonly context: unknown; readonly event: unknown },
  self: unknown,
) => boolean;

interface Definition {
  guard?: unknown;
}

interface Probe {
  readonly id: string;
  readonly holds: (snapshot: TriedSnapshot, event: AnyEventObject) => boolean;
}

export function exploredMachine(original: AnyStateMachine): ExploredMachine {
  const machine = copyOf(original);
  const nodes = nodesOf(machine);
  const ids = new Map(
    nodes.flatMap((node) =>
      transitionsOf(node).map(({ transition, definition }) => [definition, transition.id] as const),
    ),
  );
  const { answers, probes } = withProbes(ids);
  const { scope, noted, effects } = quietScope();

  const tried = (act: () => unknown): TriedStep => {
    noted.length = 0;
    effects.length = 0;
    try {
      const snapshot = act() as TriedSnapshot;
      const hasFailed = snapshot.status === 'error';
      return {
        snapshot: hasFailed ? undefined : snapshot,
        thrown: hasFailed ? snapshot.error : undefined,
        isEndless: hasFailed && isEndless(snapshot.error),
        taken: takenIds(noted, ids),
        effects: [...effects],
      };
    } catch (thrown) {
      return { snapshot: undefined, thrown, isEndless: isEndless(thrown), taken: takenIds(noted, ids), effects: [] };
    }
  };
  return {
    machine,
    nodes,
    answers,
    start: (input) => tried(() => machine.getInitialSnapshot(scope, input)),
    step: (snapshot, event) => tried(() => machine.transition(snapshot as never, event, scope)),
    holding: (node, snapshot, event) =>
      (probes.get(`${idOf(node)}|${event.type}`) ?? [])
        .filter(({ holds }) => holds(snapshot, event))
        .map(({ id }) => id),
  };
}

/**
 * An actor that does nothing takes the place of every one that the machine invokes or spawns, so that actions may send
 * to it.
 */
const idleActor = fromTransition((state: object) => state, {});

function copyOf(original: AnyStateMachine): AnyStateMachine {
  const invoked = nodesOf(original).flatMap((node) =>
    (node.invoke as readonly { readonly src: unknown }[]).map(({ src }) => src),
  );
  const names = [
    ...Object.keys(original.implementations.actors as object),
    ...invoked.filter((src) => typeof src === 'string'),
  ];
  const machine = original.provide({ actors: Object.fromEntries(names.map((name) => [name, idleActor])) as never });
  const { options } = machine;
  options.maxIterations = Math.min(options.maxIterations ?? MAX_MICROSTEPS, MAX_MICROSTEPS);
  for (const node of nodesOf(machine)) {
    const invoke = (node.invoke as readonly Invoked[]).map(harmless);
    if (invoke.length > 0) Object.defineProperty(node, 'invoke', { value: invoke });
  }
  return machine;
}

interface Invoked {
  readonly id: string;
  readonly src: unknown;
  readonly onDone?: unknown;
  readonly onError?: unknown;
}

/**
 * Without input, and without a place in the system. What is written in the chart itself is found by XState there, so it
 * has to be replaced here.
 */
function harmless({ id, src, onDone, onError }: Invoked): Invoked {
  const isNamed = typeof src === 'string' && !src.startsWith('xstate.invoke.');
  return { id, src: isNamed ? src : idleActor, onDone, onError };
}

/** Puts a probe in the place of every guard, which asks it and notes the answer. */
function withProbes(ids: ReadonlyMap<object, string>): {
  readonly answers: Map<string, GuardAnswers>;
  readonly probes: Map<string, Probe[]>;
} {
  const answers = new Map<string, GuardAnswers>();
  const probes = new Map<string, Probe[]>();
  for (const [definition, id] of ids) {
    const { guard, eventType, source } = definition as Definition & {
      readonly eventType: string;
      readonly source: AnyStateNode;
    };
    if (guard === undefined) continue;
    const noted: GuardAnswers = { hasHeld: false, hasFailed: false };
    answers.set(id, noted);
    // XState exports no way to ask a guard with its parameters, but asks it itself for the answer of `not`.
    const negated = not(guard as never) as unknown as { readonly check: Check };
    const holds = (snapshot: unknown, context: unknown, event: unknown): boolean =>
      !negated.check(snapshot, { context, event }, negated);
    const probe = Object.assign((): boolean => false, {
      check: (
        snapshot: unknown,
        { context, event }: { readonly context: unknown; readonly event: unknown },
      ): boolean => {
        const answer = holds(snapshot, context, event);
        noted[answer ? 'hasHeld' : 'hasFailed'] = true;
        return answer;
      },
    });
    (definition as Definition).guard = probe;
    const place = `${idOf(source)}|${eventType}`;
    probes.set(place, [
      ...(probes.get(place) ?? []),
      { id, holds: (snapshot, event) => holds(snapshot, snapshot.context, event) },
    ]);
  }
  return { answers, probes };
}

interface QuietScope {
  readonly scope: AnyActorScope;
  readonly noted: object[];
  readonly effects: TriedEffect[];
}

/** A scope in which nothing is executed, and which notes the transitions of every microstep and what they set going. */
function quietScope(): QuietScope {
  const noted: object[] = [];
  const effects: TriedEffect[] = [];
  const parent = createEmptyActor();
  // With a parent, so that what is sent to the parent has somewhere to go.
  const self = createActor(idleActor, { parent });
  self.system.inspect((event) => {
    if (event.type === '@xstate.microstep' && event.actorRef === self)
      noted.push(...(event as unknown as { readonly _transitions: readonly object[] })._transitions);
  });
  const actionExecutor: AnyActorScope['actionExecutor'] = ({ type, params }) => {
    const effect = effectOf(type, params as EffectParams | undefined, self);
    if (effect !== undefined) effects.push(effect);
  };
  return { scope: { ...emptyScope(self), actionExecutor }, noted, effects };
}

interface EffectParams {
  readonly id?: string;
  readonly sendId?: string;
  readonly to?: unknown;
  readonly event?: AnyEventObject;
  readonly delay?: unknown;
}

/** Of what the machine does only what comes back to it: its timers, and the actors that answer it. */
function effectOf(type: string, params: EffectParams | undefined, self: unknown): TriedEffect | undefined {
  const { id, sendId, event, delay, to } = params ?? {};
  const isToItself = type === 'xstate.raise' || (type === 'xstate.sendTo' && to === self);
  if (isToItself && event !== undefined && typeof delay === 'number') return { kind: 'arm', id, event, delayMs: delay };
  if (type === 'xstate.cancel' && sendId !== undefined) return { kind: 'disarm', id: sendId };
  if (type === 'xstate.spawnChild' && id !== undefined) return { kind: 'invoke', id };
  return type === 'xstate.stopChild' && id !== undefined ? { kind: 'stop', id } : undefined;
}

function takenIds(noted: readonly object[], ids: ReadonlyMap<object, string>): readonly string[] {
  return [...new Set(noted.map((definition) => ids.get(definition)).filter((id) => id !== undefined))];
}

function isEndless(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith('Infinite loop detected');
}
