/**
 * Reads the compiled definition of an XState machine: the only file that knows how XState keeps it, together with
 * ../xstate-internals.ts. test/machines/inspection/chart-reading.test.ts fails loudly when one of these facts changes.
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { ROOT } from './chart-states.ts';
import type { ChartInvocation, ChartOperation, ChartState, ChartTransition } from './chart-description.ts';

type Unknown = Readonly<Record<string, unknown>>;

/** What a transition definition holds; XState types it by the machine. */
interface Definition {
  readonly eventType: string;
  readonly target?: readonly AnyStateNode[] | undefined;
  readonly guard?: unknown;
  readonly actions: readonly unknown[];
  readonly reenter: boolean;
  readonly delay?: number | string;
  readonly description?: string | undefined;
}

/** Every state of the machine, in document order. */
export function nodesOf(machine: AnyStateMachine): readonly AnyStateNode[] {
  const below = (node: AnyStateNode): AnyStateNode[] => [
    node,
    ...Object.values(node.states as Readonly<Record<string, AnyStateNode>>).flatMap(below),
  ];
  return below(machine.root);
}

export function idOf(node: AnyStateNode): string {
  return node.path.length === 0 ? ROOT : node.path.join('.');
}

export function stateOf(node: AnyStateNode): ChartState {
  const { parent, type, description } = node;
  const initial = initialOf(node);
  const initialActions = initialActionsOf(node);
  return {
    id: idOf(node),
    key: node.key,
    ...(parent === undefined ? {} : { parent: idOf(parent) }),
    kind: type,
    ...(initial === undefined ? {} : { initial: idOf(initial) }),
    ...(type === 'history' && node.history !== false ? { history: node.history } : {}),
    ...(initialActions.length === 0 ? {} : { initialActions }),
    ...(node.output === undefined ? {} : { hasOutput: true }),
    ...(description === undefined ? {} : { description }),
    tags: [...node.tags],
    entry: (node.entry as readonly unknown[]).filter(isWritten).map(operationOf),
    exit: (node.exit as readonly unknown[]).filter(isWritten).map(operationOf),
    invokes: invokesOf(node).map(({ invocation }) => invocation),
  };
}

/** Where a compound state starts, and where a history state leads that remembers nothing. */
function initialOf(node: AnyStateNode): AnyStateNode | undefined {
  const first = ({ initial }: AnyStateNode): AnyStateNode | undefined =>
    (initial as { readonly target?: readonly AnyStateNode[] }).target?.[0];
  if (node.type === 'compound') return first(node);
  if (node.type !== 'history' || node.parent === undefined) return undefined;
  const { target } = node.config as { readonly target?: string | readonly string[] };
  const [wanted] = typeof target === 'string' ? [target] : (target ?? []);
  if (wanted === undefined) return node.parent.type === 'compound' ? first(node.parent) : undefined;
  if (wanted.startsWith('#')) return node.machine.getStateNodeById(wanted);
  return wanted
    .split('.')
    .reduce(
      (outer: AnyStateNode | undefined, key) =>
        (outer?.states as Readonly<Record<string, AnyStateNode>> | undefined)?.[key],
      node.parent,
    );
}

function initialActionsOf(node: AnyStateNode): ChartOperation[] {
  if (node.type !== 'compound') return [];
  return (node.initial as { readonly actions?: readonly unknown[] }).actions?.map(operationOf) ?? [];
}

/**
 * The transitions that the state itself has, those without an event last. With each goes XState's own object, by which
 * it tells what it took.
 */
export function transitionsOf(
  node: AnyStateNode,
): readonly { readonly transition: ChartTransition; readonly definition: object }[] {
  const listed = [...(node.transitions as ReadonlyMap<string, readonly Definition[]>)].map(([type, definitions]) => ({
    ...triggerOf(node, type),
    definitions,
  }));
  const eventless = {
    kind: 'eventless' as const,
    event: 'always',
    definitions: (node.always ?? []) as readonly Definition[],
  };
  return [...listed, eventless].flatMap(({ definitions, ...trigger }) =>
    definitions.map((definition, index) => ({
      transition: transitionOf(node, trigger, definition, index),
      definition,
    })),
  );
}

interface Trigger {
  readonly kind: ChartTransition['kind'];
  readonly event: string;
  readonly invoke?: string;
}

function transitionOf(
  node: AnyStateNode,
  trigger: Trigger,
  { target = [], guard, actions, reenter, delay, description }: Definition,
  index: number,
): ChartTransition {
  const source = idOf(node);
  return {
    id: `${source}|${trigger.event}|${index}`,
    source,
    event: trigger.event,
    kind: trigger.kind,
    index,
    targets: target.map(idOf),
    ...(guard === undefined ? {} : { guard: guardOf(guard) }),
    actions: actions.map(operationOf),
    reenters: reenter,
    forbids:
      target.length === 0 &&
      actions.length === 0 &&
      guard === undefined &&
      (trigger.kind === 'event' || trigger.kind === 'wildcard'),
    ...(delay === undefined ? {} : { delay }),
    ...(trigger.invoke === undefined ? {} : { invoke: trigger.invoke }),
    ...(description === undefined ? {} : { description }),
  };
}

/**
 * What XState calls `xstate.done.actor.0.wake.claiming` is `done(claim)` here: its names hold indexes and ids that say
 * nothing.
 */
function triggerOf(node: AnyStateNode, type: string): Trigger {
  if (type === '*' || type.endsWith('.*')) return { kind: 'wildcard', event: type };
  if (type === `xstate.done.state.${node.id}`) return { kind: 'done', event: 'done' };
  const after = (node.after as readonly { readonly eventType: string; readonly delay?: number | string }[]).find(
    ({ eventType }) => eventType === type,
  );
  if (after !== undefined) return { kind: 'delayed', event: `after(${String(after.delay)})` };
  for (const { raw, invocation } of invokesOf(node)) {
    const { id } = invocation;
    if (type === `xstate.done.actor.${raw}`) return { kind: 'invoke-done', event: `done(${id})`, invoke: id };
    if (type === `xstate.error.actor.${raw}`) return { kind: 'invoke-error', event: `error(${id})`, invoke: id };
    if (type === `xstate.snapshot.${raw}`) return { kind: 'invoke-snapshot', event: `snapshot(${id})`, invoke: id };
  }
  return { kind: 'event', event: type };
}

/** The actors that the state invokes; `raw` is what XState calls each. */
export function invokesOf(
  node: AnyStateNode,
): readonly { readonly raw: string; readonly invocation: ChartInvocation }[] {
  const listed = node.invoke as readonly {
    readonly id: string;
    readonly src: unknown;
    readonly onDone?: unknown;
    readonly onError?: unknown;
  }[];
  const taken = new Set<string>();
  return listed.map(({ id: raw, src, onDone, onError }, index) => {
    const isInline = typeof src !== 'string' || src.startsWith('xstate.invoke.');
    const name = isInline ? '(inline)' : src;
    const wanted = raw === `${index}.${node.id}` ? name : raw;
    const id = taken.has(wanted) ? `${wanted}#${index}` : wanted;
    taken.add(id);
    return {
      raw,
      invocation: {
        id,
        source: { name, isInline },
        handlesDone: onDone !== undefined,
        handlesError: onError !== undefined,
      },
    };
  });
}

/** XState keeps the timers of `after` as entry and exit actions; no author wrote them. */
function isWritten(action: unknown): boolean {
  const { type, event, sendId } = (typeof action === 'function' ? action : {}) as {
    readonly type?: string;
    readonly event?: { readonly type?: string };
    readonly sendId?: unknown;
  };
  if (type === 'xstate.raise') return event?.type?.startsWith('xstate.after.') !== true;
  return type !== 'xstate.cancel' || typeof sendId !== 'string' || !sendId.startsWith('xstate.after.');
}

function operationOf(action: unknown): ChartOperation {
  if (typeof action === 'string') return { name: action, isInline: false };
  const { type, name } = action as { readonly type?: unknown; readonly name?: unknown };
  if (typeof action === 'object' && typeof type === 'string') return { name: type, isInline: false };
  if (typeof type === 'string') {
    // Which event is raised is half of what a chart does; one that is computed is not known.
    const raised = namedAction(action).find(({ kind }) => kind === 'raise');
    return { name: `(${type.replace('xstate.', '')}${raised === undefined ? '' : ` ${raised.name}`})`, isInline: true };
  }
  // A function that stands behind `actions:` is called so by the language; no author gave it that name.
  const isNamed = typeof name === 'string' && !['', 'actions', 'entry', 'exit'].includes(name);
  return { name: isNamed ? `(${name})` : '(inline)', isInline: true };
}

function guardOf(guard: unknown): ChartOperation {
  if (typeof guard === 'string') return { name: guard, isInline: false };
  const { type, guards, name, check } = guard as Unknown & { readonly name?: string };
  if (typeof guard === 'object' && typeof type === 'string') return { name: type, isInline: false };
  if (Array.isArray(guards)) {
    const parts = guards.map(guardOf);
    return {
      name: `${String(name)}(${parts.map((part) => part.name).join(', ')})`,
      isInline: parts.some(({ isInline }) => isInline),
    };
  }
  // `stateIn` has no name of its own and nothing inline either.
  if (check !== undefined && name === 'stateIn') return { name: 'stateIn', isInline: false };
  return { name: '(inline)', isInline: true };
}

/** Something that a state or a transition names, or an event that it raises. */
export interface ChartPart {
  readonly kind: 'guards' | 'actions' | 'actors' | 'delays' | 'raise';
  readonly name: string;
  readonly state: string;
  readonly event?: string | undefined;
  readonly transition?: string | undefined;
}

/** All that the state itself names. What stands in place has no name, and what is computed is not known. */
export function partsOf(node: AnyStateNode): readonly ChartPart[] {
  const state = idOf(node);
  const ofState = [
    ...[...(node.entry as readonly unknown[]), ...(node.exit as readonly unknown[])].flatMap(namedAction),
    ...node.invoke.flatMap(({ src }) =>
      typeof src === 'string' && !isMadeByXState(src) ? [{ kind: 'actors' as const, name: src }] : [],
    ),
  ].map((part) => ({ ...part, state }));
  const ofTransitions = transitionsOf(node).flatMap(({ transition: { id, event }, definition }) => {
    const { guard, actions, delay } = definition as Definition;
    return [
      ...namedGuards(guard),
      ...actions.flatMap(namedAction),
      ...(typeof delay === 'string' && Number.isNaN(Number(delay)) ? [{ kind: 'delays' as const, name: delay }] : []),
    ].map((part) => ({ ...part, state, event, transition: id }));
  });
  return [...ofState, ...ofTransitions];
}

/** An actor that stands in place gets a name of XState's own, by which it is kept. */
function isMadeByXState(source: string): boolean {
  return source.startsWith('xstate.');
}

type NamedPart = Pick<ChartPart, 'kind' | 'name'>;

function namedAction(action: unknown): readonly NamedPart[] {
  if (typeof action === 'string') return [{ kind: 'actions', name: action }];
  const { type, event } = action as { readonly type?: unknown; readonly event?: { readonly type?: unknown } };
  if (typeof action === 'object' && typeof type === 'string') return [{ kind: 'actions', name: type }];
  return type === 'xstate.raise' && isWritten(action) && typeof event?.type === 'string'
    ? [{ kind: 'raise', name: event.type }]
    : [];
}

function namedGuards(guard: unknown): readonly NamedPart[] {
  if (typeof guard === 'string') return [{ kind: 'guards', name: guard }];
  if (guard === undefined || guard === null) return [];
  const { type, guards } = guard as Unknown;
  if (typeof guard === 'object' && typeof type === 'string') return [{ kind: 'guards', name: type }];
  return Array.isArray(guards) ? guards.flatMap(namedGuards) : [];
}
