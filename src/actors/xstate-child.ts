/**
 * Child actors of XState, built without the detours of its constructor.
 *
 * `new Actor(logic, { parent, id })` spreads its options into a fresh object, which on Node 20 makes a hidden class per actor, and
 * creates four closures, a mailbox, a Set and a Map that most children never use. That is most of the cost of a short task. The actors
 * made here are `Actor`s in every respect (prototype, system, inspection, subscribe, on); what most never use is made when it is first
 * asked for, and as long as nothing looks at one, no objects are made that tell of it.
 *
 * This file knows XState's private fields, so it checks itself when it loads: if an actor made by XState has a field that one made here lacks,
 * every child is made by `createActor` instead, and if systems cannot be watched directly, they are inspected. test/actors/xstate-child.test.ts
 * compares each in behavior.
 */
import { Actor, createActor, createEmptyActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject } from 'xstate';
import { chartWatch } from '../machines/chart-watch.ts';

/** The private side of an actor, as of XState 5.33. */
interface ActorInternals {
  readonly system: SystemInternals;
  readonly mailbox: MailboxInternals;
  readonly observers: { readonly size: number };
  readonly _deferred: (() => void)[];
  readonly _parent?: unknown;
  _stop?(): void;
}

interface MailboxInternals {
  _current: MailboxEntry | null;
  _last: MailboxEntry | null;
  start(): void;
  flush(): void;
}

interface MailboxEntry {
  readonly value: AnyEventObject;
  readonly next: MailboxEntry | null;
}

interface SystemInternals {
  _bookId(): string;
  readonly _logger: (...values: unknown[]) => void;
  readonly _clock: unknown;
  _sendInspectionEvent: (event: object) => void;
  _register(sessionId: string, actor: AnyActorRef): string;
  _unregister(actor: AnyActorRef): void;
  inspect(observer: unknown): { unsubscribe(): void };
  getSnapshot(): { readonly _scheduledEvents: Readonly<Record<string, ScheduledEvent>> };
  [KEPT]?: KeptSystem;
}

interface ScheduledEvent {
  readonly source: AnyActorRef;
  readonly event: { readonly type: string };
  readonly id: string;
  readonly delay: number;
  readonly startedAt: number;
}

const KEPT = Symbol('kept');

/** XState's numbers for where an actor is in its life. */
const RUNNING = 1;
const STOPPED = 2;

const internalsOf = (actor: AnyActorRef): ActorInternals => actor as unknown as ActorInternals;

const sample = createEmptyActor();
const Mailbox = internalsOf(sample).mailbox.constructor as new (process: (event: AnyEventObject) => void) => MailboxInternals;

/**
 * Stands for the collections of all children without a subscriber: XState only iterates, looks up and clears those. Unlike a
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
/** The initial snapshot of a compiled lifecycle depends on nothing. */
const NO_SCOPE = Object.freeze({}) as never;

/**
 * The fields of an `Actor`, initialised for a child; what all children share is read elsewhere, and what most never need is made when it is
 * first read. Its methods come from `Actor.prototype`.
 * Each is assigned as `this.name = …`: V8 sizes objects by counting those, and an object that is sized wrongly grows by copying.
 */
class ChildActor {
  declare readonly _process: (event: AnyEventObject) => void;
  declare logic: AnyActorLogic;
  declare _snapshot: unknown;
  declare readonly options: object;
  declare id: string;
  declare observers: Nobody | Set<unknown>;
  declare eventListeners: Nobody | Map<string, unknown>;
  declare _processingStatus: number;
  declare _parent: AnyActorRef;
  declare readonly _syncSnapshot: unknown;
  declare readonly systemId: string | undefined;
  declare sessionId: string;
  declare system: SystemInternals;
  declare _doneEvent: unknown;
  /** Made when first read. */
  declare lazyMailbox: MailboxInternals | undefined;
  declare lazyScope: ChildScope | undefined;
  declare lazySend: ((event: AnyEventObject) => void) | undefined;
  declare lazyEffects: (() => void)[] | undefined;
  /** Neighbours among the children of the system that run. */
  declare keptBefore: ChildActor | undefined;
  declare keptAfter: ChildActor | undefined;

  constructor(logic: AnyActorLogic, parent: AnyActorRef, id: string) {
    const { system } = internalsOf(parent);
    this.logic = logic;
    this._snapshot = undefined;
    this.id = id;
    this.observers = NOBODY;
    this.eventListeners = NOBODY;
    this._processingStatus = 0;
    this._parent = parent;
    this.sessionId = system._bookId();
    this.system = system;
    this._doneEvent = undefined;
    this.lazyMailbox = undefined;
    this.lazyScope = undefined;
    this.lazySend = undefined;
    this.lazyEffects = undefined;
    this.keptBefore = undefined;
    this.keptAfter = undefined;
    if (!this.isUnseen()) system._sendInspectionEvent({ type: '@xstate.actor', actorRef: this });
    this._snapshot = logic.getInitialSnapshot(NO_SCOPE, undefined);
  }

  get clock(): unknown {
    return this.system._clock;
  }

  get logger(): unknown {
    return this.system._logger;
  }

  get src(): AnyActorLogic {
    return this.logic;
  }

  get ref(): this {
    return this;
  }

  get mailbox(): MailboxInternals {
    if (this.lazyMailbox === undefined) {
      this.lazyMailbox = new Mailbox(this._process.bind(this));
      if (this._processingStatus === RUNNING) this.lazyMailbox.start();
    }
    return this.lazyMailbox;
  }

  set mailbox(mailbox: MailboxInternals) {
    this.lazyMailbox = mailbox;
  }

  get _actorScope(): ChildScope {
    this.lazyScope ??= new ChildScope(this, this.id, this.sessionId);
    return this.lazyScope;
  }

  get _deferred(): (() => void)[] {
    this.lazyEffects ??= [];
    return this.lazyEffects;
  }

  get send(): (event: AnyEventObject) => void {
    this.lazySend ??= (Actor.prototype.send as (event: AnyEventObject) => void).bind(this);
    return this.lazySend;
  }

  /** Whether nothing looks at it or at its system, and no event is under way. */
  isUnseen(): boolean {
    return isSystemUnseen(this.system) && this.observers === NOBODY && (this.lazyMailbox === undefined || this.lazyMailbox._current === null);
  }

  /** What `start` does where nothing looks. */
  startUnseen(): void {
    this.system[KEPT]?.add(this);
    this._processingStatus = RUNNING;
  }

  /** What an event does where nothing looks, but for telling the parent of the end. */
  moveUnseen(next: { readonly status: string }): void {
    this._snapshot = next;
    if (next.status === 'active') return;
    this._processingStatus = STOPPED;
    this.system[KEPT]?.remove(this);
  }
}

Object.setPrototypeOf(ChildActor.prototype, Actor.prototype);
// The same for all children, so none has them of its own.
Object.assign(ChildActor.prototype, { options: NO_OPTIONS, systemId: undefined, _syncSnapshot: undefined });

/** What is known of a system whose actors are kept. */
class KeptSystem {
  /** How the system tells inspectors while no watch has taken that place. */
  readonly tell: SystemInternals['_sendInspectionEvent'];
  inspectors: number;
  /** The children made here that run: a list through their own links. A Map would keep its old tables alive, and dead actors with them. */
  #first: ChildActor | undefined;
  #last: ChildActor | undefined;
  readonly #others = new Set<AnyActorRef>();

  constructor(system: SystemInternals, inspectors: number) {
    this.tell = system._sendInspectionEvent;
    this.inspectors = inspectors;
  }

  add(actor: ChildActor | AnyActorRef): void {
    if (!(actor instanceof ChildActor)) {
      this.#others.add(actor);
      return;
    }
    actor.keptBefore = this.#last;
    if (this.#last === undefined) this.#first = actor;
    else this.#last.keptAfter = actor;
    this.#last = actor;
  }

  remove(actor: ChildActor | AnyActorRef): void {
    if (!(actor instanceof ChildActor)) {
      this.#others.delete(actor);
      return;
    }
    const { keptBefore, keptAfter } = actor;
    if (keptBefore !== undefined) keptBefore.keptAfter = keptAfter;
    else if (this.#first === actor) this.#first = keptAfter;
    if (keptAfter !== undefined) keptAfter.keptBefore = keptBefore;
    else if (this.#last === actor) this.#last = keptBefore;
    actor.keptBefore = undefined;
    actor.keptAfter = undefined;
  }

  /** Those that run, in the order of their making: parents before their children. */
  all(): AnyActorRef[] {
    const actors = [...this.#others];
    for (let child = this.#first; child !== undefined; child = child.keptAfter) actors.push(child as unknown as AnyActorRef);
    return actors.sort((one, other) => numberOf(one) - numberOf(other));
  }
}

/** Whether no inspector and no watch looks at a system. Only of systems whose actors are kept it is known. */
function isSystemUnseen(system: SystemInternals): boolean {
  const kept = system[KEPT];
  return kept !== undefined && kept.inspectors === 0 && kept.tell === system._sendInspectionEvent && chartWatch.watcher === undefined;
}

/** Session ids count up: `x:17`. */
function numberOf({ sessionId }: AnyActorRef): number {
  return Number(sessionId.slice(sessionId.indexOf(':') + 1));
}

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

/** Whether actors made here have all the fields of XState's own, and no others but our own. */
export const buildsChildrenDirectly: boolean = hasFieldsOf(new ChildActor(PROBE, sample, 'probe'), createActor(PROBE, { parent: sample, id: 'probe' }));

function hasFieldsOf(own: object, official: object): boolean {
  const known = Object.keys(official);
  return known.every((field) => field in own) && Object.keys(own).every((field) => known.includes(field) || /^(?:lazy|kept)[A-Z]/.test(field));
}

/**
 * Creates and starts a child of `parent`. For compiled lifecycles: logic that neither emits nor executes actions, takes no input and
 * starts from its initial snapshot.
 */
export function startChild(parent: AnyActorRef, logic: AnyActorLogic, id: string): AnyActorRef {
  if (!buildsChildrenDirectly) return createActor(logic, { parent, id }).start();
  const child = new ChildActor(logic, parent, id);
  if (child.isUnseen()) child.startUnseen();
  else (child as unknown as AnyActorRef).start();
  return child as unknown as AnyActorRef;
}

/**
 * Moves a child to `next`, which its chart answers to `event`. Where an inspector, a watch or a subscriber looks, the event is sent like any
 * other; where nothing looks, the objects that tell of it are not made. The child's snapshot is the only record of where it is.
 * @returns whether XState tells the parent of an end; otherwise the caller has to
 */
export function moveChild(child: AnyActorRef, event: AnyEventObject, next: { readonly status: string }): boolean {
  const own: unknown = child;
  const isUnseen = buildsChildrenDirectly && own instanceof ChildActor && own._processingStatus === RUNNING && own.isUnseen();
  if (isUnseen) own.moveUnseen(next);
  else child.send(event);
  return !isUnseen;
}

/**
 * Has the root of a system take an event that does not move its chart, where nothing looks: `take` runs at once, and what is sent meanwhile
 * waits in the mailbox for its end, as it always does.
 * @returns false when something looks or another event is under way: then nothing was done, and the event has to be sent
 */
export function takeUnseen<Event extends AnyEventObject>(root: AnyActorRef, event: Event, take: (event: Event) => void): boolean {
  const { mailbox, observers, system } = internalsOf(root);
  if (mailbox._current !== null || observers.size > 0 || !isSystemUnseen(system)) return false;
  const entry: MailboxEntry = { value: event, next: null };
  mailbox._current = entry;
  mailbox._last = entry;
  try {
    take(event);
  } finally {
    mailbox._current = entry.next;
    if (mailbox._current === null) mailbox._last = null;
    else mailbox.flush();
  }
  return true;
}

/** Stops a child that has not come to its end: XState lets nobody but the parent do that, and has no public way for a parent without a chart. */
export function stopChild(child: AnyActorRef): void {
  internalsOf(child)._stop?.();
}


/**
 * Makes the actors of a system known to `liveActorsOf`, and what looks at them known to the actors. XState keeps a map of its actors that it
 * never reads; one that can be read takes its place. Before the root starts.
 * @param isInspected whether the root was created with an inspector
 */
export function keepLiveActors(root: AnyActorRef, isInspected: boolean): void {
  const { system } = internalsOf(root);
  const kept = new KeptSystem(system, isInspected ? 1 : 0);
  const unregister = system._unregister.bind(system);
  const inspect = system.inspect.bind(system);
  system[KEPT] = kept;
  system._register = (sessionId, actor) => {
    kept.add(actor);
    return sessionId;
  };
  system._unregister = (actor) => {
    kept.remove(actor);
    if ((actor as { readonly systemId?: string }).systemId !== undefined) unregister(actor);
  };
  // Counted and never counted down: a system that was inspected once goes on telling.
  system.inspect = (observer) => {
    kept.inspectors += 1;
    return inspect(observer);
  };
}

/** The actors that run now, parents before their children. In a system whose actors are not kept: those that snapshots of machines name. */
export function liveActorsOf(root: AnyActorRef): readonly AnyActorRef[] {
  const kept = internalsOf(root).system[KEPT];
  if (kept !== undefined) return kept.all();
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
