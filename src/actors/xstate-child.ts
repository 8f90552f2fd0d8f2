/**
 * Child actors of XState, built without the detours of its constructor.
 *
 * `new Actor(logic, { parent, id })` spreads its options into a fresh object, which on Node 20 makes a hidden class per actor, and
 * creates four closures, a Set and a Map that most children never use. That is most of the cost of a short task. The actors
 * made here are `Actor`s in every respect (prototype, system, inspection, subscribe, on); only their empty collections are shared
 * until somebody subscribes, and the scope's functions live on a prototype.
 *
 * This file knows XState's private fields, so it checks itself when it loads: if an actor made here has other fields than one made by
 * XState, every child is made by `createActor` instead. test/actors/xstate-child.test.ts compares the two in behaviour.
 */
import { Actor, createActor, createEmptyActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject } from 'xstate';

/** The private side of an actor, as of XState 5.33. */
interface ActorInternals {
  readonly system: SystemInternals;
  readonly mailbox: { readonly constructor: new (process: (event: AnyEventObject) => void) => object };
  readonly _process: (event: AnyEventObject) => void;
  readonly _deferred: (() => void)[];
  readonly _parent: unknown;
  _stop(): void;
  send(event: AnyEventObject): void;
}

interface SystemInternals {
  _bookId(): string;
  readonly _logger: (...values: unknown[]) => void;
  readonly _clock: unknown;
  _sendInspectionEvent(event: object): void;
}

const internalsOf = (actor: AnyActorRef): ActorInternals => actor as unknown as ActorInternals;

const sample = createEmptyActor();
const Mailbox = internalsOf(sample).mailbox.constructor;

/** Shared by all children that nobody has subscribed to. Only ever read and cleared. */
const NO_OBSERVERS: ReadonlySet<unknown> = new Set();
const NO_LISTENERS: ReadonlyMap<string, unknown> = new Map();

/** What logic gets to act on its actor with; XState makes an object of closures per actor for this. */
class ChildScope {
  readonly self: ActorInternals;
  readonly id: string;
  readonly sessionId: string;
  readonly logger: unknown;
  readonly system: SystemInternals;

  constructor(self: ActorInternals, id: string, sessionId: string) {
    this.self = self;
    this.id = id;
    this.sessionId = sessionId;
    this.logger = self.system._logger;
    this.system = self.system;
  }

  defer(effect: () => void): void {
    this.self._deferred.push(effect);
  }

  stopChild(child: ActorInternals): void {
    if (child._parent !== this.self) throw new Error('an actor can only stop its own children');
    child._stop();
  }

  /** Compiled lifecycles neither emit nor act; logic that does is not given to `startChild`. */
  emit(): void {}
  actionExecutor(): void {}
}

/** The fields of an `Actor`, in its order, initialised for a child. Its methods come from `Actor.prototype`. */
class ChildActor {
  constructor(logic: AnyActorLogic, parent: AnyActorRef, id: string) {
    const own = this as unknown as Record<string, unknown>;
    const self = this as unknown as ActorInternals;
    const { system } = internalsOf(parent);
    const sessionId = system._bookId();
    const process = self._process;
    own['logic'] = logic;
    own['_snapshot'] = undefined;
    own['clock'] = system._clock;
    own['options'] = NO_OPTIONS;
    own['id'] = id;
    own['mailbox'] = new Mailbox((event) => process.call(self, event));
    own['observers'] = NO_OBSERVERS;
    own['eventListeners'] = NO_LISTENERS;
    own['logger'] = system._logger;
    own['_processingStatus'] = 0;
    own['_parent'] = parent;
    own['_syncSnapshot'] = undefined;
    own['ref'] = self;
    own['_actorScope'] = undefined;
    own['systemId'] = undefined;
    own['sessionId'] = sessionId;
    own['system'] = system;
    own['_doneEvent'] = undefined;
    own['src'] = logic;
    own['_deferred'] = [];
    own['send'] = self.send.bind(self);
    const scope = new ChildScope(self, id, sessionId);
    own['_actorScope'] = scope;
    system._sendInspectionEvent({ type: '@xstate.actor', actorRef: self });
    own['_snapshot'] = logic.getInitialSnapshot(scope as never, undefined);
  }
}

const NO_OPTIONS = Object.freeze({});
Object.setPrototypeOf(ChildActor.prototype, Actor.prototype);

interface Collections {
  observers: ReadonlySet<unknown>;
  eventListeners: ReadonlyMap<string, unknown>;
}

// A subscriber needs collections of its own; everybody else goes on sharing the empty ones.
for (const method of ['subscribe', 'on'] as const) {
  const original = Actor.prototype[method] as (...values: unknown[]) => unknown;
  Object.defineProperty(ChildActor.prototype, method, {
    value(this: Collections, ...values: unknown[]): unknown {
      if (this.observers === NO_OBSERVERS) this.observers = new Set();
      if (this.eventListeners === NO_LISTENERS) this.eventListeners = new Map();
      return original.apply(this, values);
    },
  });
}

const PROBE: AnyActorLogic = {
  transition: (snapshot) => snapshot,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot) => snapshot,
};

/** Whether actors made here have exactly the fields of XState's own. */
export const buildsChildrenDirectly: boolean =
  fieldsOf(new ChildActor(PROBE, sample, 'probe')) === fieldsOf(createActor(PROBE, { parent: sample, id: 'probe' }));

function fieldsOf(actor: object): string {
  return Object.keys(actor).sort().join();
}

/**
 * Creates and starts a child of `parent`. For compiled lifecycles: logic that neither emits nor executes actions, takes no input and
 * starts from its initial snapshot.
 */
export function startChild(parent: AnyActorRef, logic: AnyActorLogic, id: string): AnyActorRef {
  const child = buildsChildrenDirectly ? (new ChildActor(logic, parent, id) as unknown as AnyActorRef) : createActor(logic, { parent, id });
  child.start();
  return child;
}
