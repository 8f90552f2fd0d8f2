/**
 * Child actors of XState, built without the detours of its constructor.
 *
 * `new Actor(logic, { parent, id })` spreads its options into a fresh object, which on Node 20 makes a hidden class per actor, and
 * creates four closures, a Set and a Map that most children never use. That is most of the cost of a short task. The actors
 * made here are `Actor`s in every respect (prototype, system, inspection, subscribe, on); only their empty collections are shared
 * until somebody subscribes, and the scope's functions live on a prototype.
 *
 * This file knows XState's private fields, so it checks itself when it loads: if an actor made here has other fields than one made by
 * XState, every child is made by `createActor` instead, and if systems cannot be watched directly, they are inspected. test/actors/xstate-child.test.ts
 * compares each in behavior.
 */
import { Actor, createActor, createEmptyActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject } from 'xstate';

/** The private side of an actor, as of XState 5.33. */
interface ActorInternals {
  readonly system: SystemInternals;
  readonly mailbox: object;
  readonly _deferred: (() => void)[];
  readonly _parent?: unknown;
  _stop?(): void;
}

interface SystemInternals {
  _bookId(): string;
  readonly _logger: (...values: unknown[]) => void;
  readonly _clock: unknown;
  _sendInspectionEvent: (event: object) => void;
  _register(sessionId: string, actor: AnyActorRef): string;
  _unregister(actor: AnyActorRef): void;
  getSnapshot(): { readonly _scheduledEvents: Readonly<Record<string, ScheduledEvent>> };
}

interface ScheduledEvent {
  readonly source: AnyActorRef;
  readonly event: { readonly type: string };
  readonly id: string;
  readonly delay: number;
  readonly startedAt: number;
}

const internalsOf = (actor: AnyActorRef): ActorInternals => actor as unknown as ActorInternals;

const sample = createEmptyActor();
const Mailbox = internalsOf(sample).mailbox.constructor as new (process: (event: AnyEventObject) => void) => object;

/**
 * Stands for the collections of all children that nobody has subscribed to: XState only iterates, looks up and clears those. Unlike a
 * shared empty Set it allocates nothing when it is iterated or cleared, which XState does at every transition.
 */
class Nobody {
  readonly size = 0;
  clear(): void {}
  get(): undefined {
    return undefined;
  }
  [Symbol.iterator](): Iterator<never> {
    return NO_ITERATION;
  }
}

const FINISHED: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });
const NO_ITERATION: Iterator<never> = Object.freeze({ next: () => FINISHED });
const NOBODY = new Nobody();

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
    child._stop?.();
  }

  /** Compiled lifecycles neither emit nor act; logic that does is not given to `startChild`. */
  emit(): void {}
  actionExecutor(): void {}
}

const NO_OPTIONS = Object.freeze({});

/**
 * The fields of an `Actor`, in its order, initialised for a child. Its methods come from `Actor.prototype`.
 * Each is assigned as `this.name = …`: V8 sizes objects by counting those, and an object that is sized wrongly grows by copying.
 */
class ChildActor {
  declare readonly _process: (event: AnyEventObject) => void;
  declare logic: AnyActorLogic;
  declare _snapshot: unknown;
  declare clock: unknown;
  declare options: object;
  declare id: string;
  declare mailbox: object;
  declare observers: Nobody | Set<unknown>;
  declare eventListeners: Nobody | Map<string, unknown>;
  declare logger: unknown;
  declare _processingStatus: number;
  declare _parent: AnyActorRef;
  declare _syncSnapshot: unknown;
  declare ref: unknown;
  declare _actorScope: unknown;
  declare systemId: string | undefined;
  declare sessionId: string;
  declare system: SystemInternals;
  declare _doneEvent: unknown;
  declare src: AnyActorLogic;
  declare _deferred: (() => void)[];
  declare send: (event: AnyEventObject) => void;

  constructor(logic: AnyActorLogic, parent: AnyActorRef, id: string) {
    const { system } = internalsOf(parent);
    this.logic = logic;
    this._snapshot = undefined;
    this.clock = system._clock;
    this.options = NO_OPTIONS;
    this.id = id;
    this.mailbox = new Mailbox(this._process.bind(this));
    this.observers = NOBODY;
    this.eventListeners = NOBODY;
    this.logger = system._logger;
    this._processingStatus = 0;
    this._parent = parent;
    this._syncSnapshot = undefined;
    this.ref = this;
    this._actorScope = undefined;
    this.systemId = undefined;
    this.sessionId = system._bookId();
    this.system = system;
    this._doneEvent = undefined;
    this.src = logic;
    this._deferred = [];
    this.send = this.send.bind(this);
    const scope = new ChildScope(this, id, this.sessionId);
    this._actorScope = scope;
    system._sendInspectionEvent({ type: '@xstate.actor', actorRef: this });
    this._snapshot = logic.getInitialSnapshot(scope as never, undefined);
  }
}

Object.setPrototypeOf(ChildActor.prototype, Actor.prototype);

// A subscriber needs collections of its own; everybody else goes on sharing the empty one.
for (const method of ['subscribe', 'on'] as const) {
  const original = Actor.prototype[method] as (...values: unknown[]) => unknown;
  Object.defineProperty(ChildActor.prototype, method, {
    value(this: ChildActor, ...values: unknown[]): unknown {
      if (this.observers === NOBODY) this.observers = new Set();
      if (this.eventListeners === NOBODY) this.eventListeners = new Map();
      return original.apply(this, values);
    },
  });
}

const PROBE: AnyActorLogic = {
  transition: (snapshot: unknown) => snapshot,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot: unknown) => snapshot as never,
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

/** Stops a child that has not come to its end: XState lets nobody but the parent do that, and has no public way for a parent without a chart. */
export function stopChild(child: AnyActorRef): void {
  internalsOf(child)._stop?.();
}

/** The actors of a system that run, by session id. */
const running = new WeakMap<object, Map<string, AnyActorRef>>();

/**
 * Makes the actors of a system known to `liveActorsOf`. XState keeps a map of them that nobody can read and that it reads never; one that can be
 * read takes its place, so this costs nothing. Before the root starts.
 */
export function keepLiveActors(root: AnyActorRef): void {
  const { system } = internalsOf(root);
  const actors = new Map<string, AnyActorRef>();
  const unregister = system._unregister.bind(system);
  running.set(system, actors);
  system._register = (sessionId, actor) => {
    actors.set(sessionId, actor);
    return sessionId;
  };
  system._unregister = (actor) => {
    actors.delete(actor.sessionId);
    if ((actor as { readonly systemId?: string }).systemId !== undefined) unregister(actor);
  };
}

/** The actors that run now, parents before their children. In a system whose actors are not kept: those that snapshots of machines name. */
export function liveActorsOf(root: AnyActorRef): readonly AnyActorRef[] {
  const kept = running.get(internalsOf(root).system);
  if (kept !== undefined) return [...kept.values()];
  const found = new Set([root]);
  for (const actor of found) {
    const { children = {} } = (actor.getSnapshot() as { readonly children?: Readonly<Record<string, AnyActorRef | undefined>> } | undefined) ?? {};
    for (const child of Object.values(children)) if (child !== undefined) found.add(child);
  }
  return [...found];
}

/** Told what XState tells inspectors, all but the id of the root. It must not throw: what it throws, the program gets. */
type SystemWatch = (inspected: object) => void;

/** Who watches a system, and how it told inspectors before. */
interface WatchedSystem {
  readonly tell: SystemWatch;
  readonly before: SystemWatch;
  watches: readonly SystemWatch[];
}

const watched = new WeakMap<object, WatchedSystem>();

/**
 * Watches all actors of a system as `inspect` does, for a fraction of what that costs: XState copies what it tells for each inspector it has. Nothing of
 * it is left when nobody watches any more.
 * @returns ends the watch; idempotent
 */
export function watchSystem(root: AnyActorRef, watch: SystemWatch): () => void {
  if (watchesDirectly) return watchDirectly(internalsOf(root).system, watch);
  const subscription = root.system.inspect(watch);
  return () => subscription.unsubscribe();
}

function watchDirectly(system: SystemInternals, watch: SystemWatch): () => void {
  const known = watched.get(system) ?? takePlace(system);
  // One function may watch twice, and each of the two ends by itself.
  const own: SystemWatch = (inspected) => watch(inspected);
  known.watches = [...known.watches, own];
  return () => {
    known.watches = known.watches.filter((each) => each !== own);
    if (known.watches.length === 0 && watched.get(system) === known) givePlaceBack(system, known);
  };
}

function takePlace(system: SystemInternals): WatchedSystem {
  const before = system._sendInspectionEvent;
  const known: WatchedSystem = {
    watches: [],
    before,
    tell: (inspected) => {
      for (const watch of known.watches) watch(inspected);
      before(inspected);
    },
  };
  system._sendInspectionEvent = known.tell;
  watched.set(system, known);
  return known;
}

/** Somebody else may have taken the place over meanwhile: then this one stays under it, tells nobody, and is used again. */
function givePlaceBack(system: SystemInternals, { tell, before }: WatchedSystem): void {
  if (system._sendInspectionEvent !== tell) return;
  system._sendInspectionEvent = before;
  watched.delete(system);
}

/** Whether what is told so is what XState tells its inspectors. */
export const watchesDirectly: boolean = tellsWhatInspectorsHear();

function tellsWhatInspectorsHear(): boolean {
  const root = createActor(PROBE);
  const { system } = internalsOf(root);
  if (typeof system._sendInspectionEvent !== 'function') return false;
  const told: string[] = [];
  const heard: string[] = [];
  const end = watchDirectly(system, (inspected) => told.push((inspected as { readonly type: string }).type));
  root.system.inspect(({ type }) => heard.push(type));
  root.start();
  root.send({ type: 'probe' });
  root.stop();
  end();
  return heard.length > 0 && told.join() === heard.join();
}

/** What the actor runs. */
export function logicOf(actor: AnyActorRef): unknown {
  return (actor as unknown as { readonly logic: unknown }).logic;
}

/** A timer that an actor has set by XState's means. */
export interface ScheduledTimer {
  readonly source: AnyActorRef;
  readonly id: string;
  /** Of the event that it sends. */
  readonly type: string;
  readonly delayMs: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export function scheduledTimersOf(root: AnyActorRef): readonly ScheduledTimer[] {
  const scheduled = Object.values(internalsOf(root).system.getSnapshot()._scheduledEvents);
  return scheduled.map(({ source, event, id, delay, startedAt }) => ({ source, id, type: event.type, delayMs: delay, startedAt }));
}
