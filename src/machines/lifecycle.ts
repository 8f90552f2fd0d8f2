/**
 * Compiles a pure lifecycle chart into actor logic with interned snapshots.
 *
 * The chart stays the only source of truth: the table is made by asking XState's own `transition` for every reachable
 * configuration and every event, once, when the module loads. One transition of the result is a map lookup, where an
 * interpreted machine spends microseconds. Only charts whose every answer depends on (state, event) alone can be
 * compiled; anything else (context, guards, actions, delays, invokes) is refused by name.
 */
import { createEmptyActor } from 'xstate';
import type {
  ActorLogic,
  AnyActorScope,
  AnyEventObject,
  AnyStateMachine,
  AnyStateNode,
  Snapshot,
  StateValue,
} from 'xstate';
import { chartWatch } from './chart-watch.ts';
import { RuntimeError } from './errors.ts';
import { initialSnapshotOf, nextSnapshotOf, reportMicrostep, transitionsTaken } from './xstate-internals.ts';
import type { MachineSnapshotLike, TakenTransitions } from './xstate-internals.ts';

/** One configuration of a compiled chart. There is exactly one object per configuration, so `===` compares states. */
export interface LifecycleSnapshot<Value extends StateValue = StateValue> {
  readonly status: 'active' | 'done' | 'stopped';
  readonly output: undefined;
  readonly error: undefined;
  readonly value: Value;
  /** The outermost state: the part before any nesting. */
  readonly topLevel: string;
  readonly tags: ReadonlySet<string>;
  readonly context: Readonly<Record<string, never>>;
  readonly children: Readonly<Record<string, never>>;
  /** Whether the event moves this state. */
  can(event: { readonly type: string }): boolean;
  matches(value: StateValue): boolean;
  hasTag(tag: string): boolean;
  toJSON(): object;
}

export interface CompiledLifecycle<
  Value extends StateValue = StateValue,
  Event extends AnyEventObject = AnyEventObject,
> extends ActorLogic<LifecycleSnapshot<Value> & Snapshot<undefined>, Event> {
  readonly machine: AnyStateMachine;
  readonly initial: LifecycleSnapshot<Value>;
  /** Every reachable configuration, in breadth-first order from the initial one. */
  readonly snapshots: readonly LifecycleSnapshot<Value>[];
  /** Every event the chart mentions. */
  readonly events: readonly string[];
  /** The configuration after `eventType`, or undefined when the chart ignores it there. */
  next(snapshot: LifecycleSnapshot<Value>, eventType: string): LifecycleSnapshot<Value> | undefined;
}

/** How XState reports an event that took no transition. */
const IGNORED: TakenTransitions = [];

const EMPTY: Readonly<Record<string, never>> = Object.freeze({});

interface Edge {
  readonly target: Node;
  readonly taken: TakenTransitions;
  /** False for a forbidden event: XState reports it as taken, and nothing changes. */
  readonly moves: boolean;
}

/** A configuration and its outgoing edges; also the snapshot that actors hold. */
class Node {
  readonly status: 'active' | 'done' | 'stopped';
  readonly output = undefined;
  readonly error = undefined;
  readonly value: StateValue;
  readonly topLevel: string;
  readonly tags: ReadonlySet<string>;
  readonly context = EMPTY;
  readonly children = EMPTY;
  readonly edges: Map<string, Edge>;
  readonly stopped: Node;

  constructor(full: MachineSnapshotLike, active?: Node) {
    this.status = active === undefined ? (full.status === 'done' ? 'done' : 'active') : 'stopped';
    this.value = full.value;
    this.topLevel = typeof full.value === 'string' ? full.value : (Object.keys(full.value)[0] ?? '');
    this.tags = full.tags;
    this.edges = active === undefined ? new Map<string, Edge>() : active.edges;
    this.stopped = active === undefined ? new Node(full, this) : this;
  }

  can(event: { readonly type: string }): boolean {
    return this.status === 'active' && this.edges.get(event.type)?.moves === true;
  }

  matches(value: StateValue): boolean {
    return includes(this.value, value);
  }

  hasTag(tag: string): boolean {
    return this.tags.has(tag);
  }

  toJSON(): object {
    return { status: this.status, value: this.value, tags: [...this.tags] };
  }
}

/**
 * Compiles `machine`. @throws RuntimeError LIFECYCLE_NOT_PURE naming the state and the feature that stands in the way.
 */
export function compileLifecycle<Value extends StateValue, Event extends AnyEventObject>(
  machine: AnyStateMachine,
): CompiledLifecycle<Value, Event> {
  refuseImpure(machine.root);
  const events = (machine.events as string[]).filter((type) => !type.startsWith('xstate.'));
  const nodes = explore(machine, events);
  const initial = [...nodes.values()][0];
  if (initial === undefined) throw notPure(machine.root, 'no initial state');
  const byValue = (value: StateValue): Node | undefined => nodes.get(JSON.stringify(value));

  const logic = {
    machine,
    config: machine.config,
    initial,
    events,
    snapshots: [...nodes.values()],
    next: (snapshot: Node, eventType: string): Node | undefined => {
      const edge = snapshot.edges.get(eventType);
      if (edge === undefined) return undefined;
      chartWatch.watcher?.(machine, edge.taken);
      return edge.moves ? edge.target : undefined;
    },
    transition(snapshot: Node, event: AnyEventObject, scope: AnyActorScope): Node {
      const edge = snapshot.edges.get(event.type);
      if (edge !== undefined) chartWatch.watcher?.(machine, edge.taken, scope.self);
      const next = edge === undefined ? (event.type === 'xstate.stop' ? snapshot.stopped : snapshot) : edge.target;
      reportMicrostep(scope, event, next, edge === undefined ? IGNORED : edge.taken);
      return next;
    },
    getInitialSnapshot: (): Node => initial,
    getPersistedSnapshot: (snapshot: Node): object => ({ status: snapshot.status, value: snapshot.value }),
    restoreSnapshot(persisted: { readonly value: StateValue }): Node {
      const node = byValue(persisted.value);
      if (node !== undefined) return node;
      throw new RuntimeError(
        'LIFECYCLE_UNKNOWN_STATE',
        `chart "${machine.id}" has no state ${JSON.stringify(persisted.value)}`,
        {
          category: 'validation',
          hint: 'The snapshot was written by another version of the chart; fold the state from its events instead.',
        },
      );
    },
  };
  // The compiled nodes are the snapshots that the typed interface promises; the cast narrows their values to the
  // chart's own.
  return logic as unknown as CompiledLifecycle<Value, Event>;
}

/** All configurations reachable from the initial one with their edges, keyed by value. */
function explore(machine: AnyStateMachine, events: readonly string[]): Map<string, Node> {
  const scope = emptyScope();
  const first = initialSnapshotOf(machine, scope);
  const nodes = new Map<string, Node>();
  const pending: { readonly full: MachineSnapshotLike; readonly node: Node }[] = [];

  const intern = (full: MachineSnapshotLike): Node => {
    const key = JSON.stringify(full.value);
    const known = nodes.get(key);
    if (known !== undefined) return known;
    const node = new Node(full);
    nodes.set(key, node);
    pending.push({ full, node });
    return node;
  };

  intern(first);
  for (let entry = pending.shift(); entry !== undefined; entry = pending.shift()) {
    if (entry.node.status !== 'active') continue;
    for (const type of events) {
      const taken = transitionsTaken(machine, entry.full, { type });
      if (taken.length === 0) continue;
      const moves = taken.some((transition) => transition.target !== undefined);
      const target = moves ? intern(nextSnapshotOf(machine, entry.full, { type }, scope)) : entry.node;
      entry.node.edges.set(type, { target, taken, moves });
    }
  }
  return nodes;
}

function refuseImpure(node: AnyStateNode): void {
  const transitions = [...node.transitions.values()].flat();
  const impure =
    (node.entry.length > 0 && 'entry actions') ||
    (node.exit.length > 0 && 'exit actions') ||
    (node.invoke.length > 0 && 'an invoked actor') ||
    (node.after.length > 0 && 'a delayed transition') ||
    ((node.always?.length ?? 0) > 0 && 'an eventless transition') ||
    (node.type === 'history' && 'a history state') ||
    (transitions.some((transition) => transition.guard !== undefined) && 'a guard') ||
    (transitions.some((transition) => transition.actions.length > 0) && 'a transition action') ||
    (node.parent === undefined && node.machine.config.context !== undefined && 'context');
  if (impure !== false) throw notPure(node, impure);
  for (const child of Object.values(node.states)) refuseImpure(child);
}

function notPure(node: AnyStateNode, feature: string): RuntimeError {
  return new RuntimeError(
    'LIFECYCLE_NOT_PURE',
    `chart "${node.machine.id}" cannot be compiled: state "${node.id}" has ${feature}`,
    {
      category: 'validation',
      hint: 'Compile only pure lifecycles; run richer charts as ordinary XState machines.',
    },
  );
}

/** Whether configuration `actual` contains `wanted`, with XState's meaning of `matches`. */
function includes(actual: StateValue, wanted: StateValue): boolean {
  if (typeof wanted === 'string') return typeof actual === 'string' ? actual === wanted : wanted in actual;
  if (typeof actual === 'string') return false;
  return Object.entries(wanted).every(([key, inner]) => {
    const own = actual[key];
    return own !== undefined && inner !== undefined && includes(own, inner);
  });
}

function emptyScope(): AnyActorScope {
  const self = createEmptyActor();
  return {
    self,
    id: '',
    sessionId: '',
    logger: () => undefined,
    defer: () => undefined,
    system: self.system,
    stopChild: () => undefined,
    emit: () => undefined,
    actionExecutor: () => undefined,
  };
}
