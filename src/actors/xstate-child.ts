/**
 * Child actors of XState, built without the detours of its constructor.
 *
 * `new Actor(logic, { parent, id })` spreads its options into a fresh object, which on Node 20 makes a hidden class per
 * actor, and creates four closures, a mailbox, a Set and a Map that most children never use. That is most of the cost
 * of a short task. The actors made here are `Actor`s in every respect (prototype, system, inspection, subscribe, on);
 * what most never use is made when it is first asked for, and as long as nothing checks one, no objects are made that
 * tell of it.
 *
 * This file knows XState's private fields, so it checks itself when it loads: if an actor made by XState has a field
 * that one made here lacks, every child is made by `createActor` instead. test/actors/xstate-child.test.ts compares
 * both in behavior.
 */
import { Actor, createActor, createEmptyActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject } from 'xstate';
import { KEPT, PROBE, internalsOf, isSystemUnseen } from './xstate-system.ts';
import type { ActorInternals, KeptActor, MailboxInternals, SystemInternals } from './xstate-system.ts';

/** XState's numbers for where an actor is in its life. */
const RUNNING = 1;
const STOPPED = 2;

const sample = createEmptyActor();
const Mailbox = internalsOf(sample).mailbox.constructor as new (
  process: (event: AnyEventObject) => void,
) => MailboxInternals;

/**
 * Stands for the collections of all children without a subscriber: XState only iterates, looks up and clears those.
 * Unlike a shared empty Set it allocates nothing when it is iterated or cleared, which XState does at every transition.
 */
class NoListeners {
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
const NO_LISTENERS = new NoListeners();

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
 * The fields of an `Actor`, initialised for a child; what all children share is read elsewhere, and what most never
 * need is made when it is first read. Its methods come from `Actor.prototype`. Each is assigned as `this.name = …`: V8
 * sizes objects by counting those, and an object that is sized wrongly grows by copying.
 */
class ChildActor implements KeptActor {
  declare readonly _process: (event: AnyEventObject) => void;
  declare logic: AnyActorLogic;
  declare _snapshot: unknown;
  declare readonly options: object;
  declare id: string;
  declare observers: NoListeners | Set<unknown>;
  declare eventListeners: NoListeners | Map<string, unknown>;
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
  declare keptBefore: KeptActor | undefined;
  declare keptAfter: KeptActor | undefined;

  constructor(logic: AnyActorLogic, parent: AnyActorRef, id: string) {
    const { system } = internalsOf(parent);
    this.logic = logic;
    this._snapshot = undefined;
    this.id = id;
    this.observers = NO_LISTENERS;
    this.eventListeners = NO_LISTENERS;
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
    this.lazySend ??= Actor.prototype.send.bind(this);
    return this.lazySend;
  }

  /** Whether nothing checks it or at its system, and no event is under way. */
  isUnseen(): boolean {
    return (
      isSystemUnseen(this.system) &&
      this.observers === NO_LISTENERS &&
      (this.lazyMailbox === undefined || this.lazyMailbox._current === null)
    );
  }

  /** What `start` does where nothing watches. */
  startUnseen(): void {
    this.system[KEPT]?.add(this);
    this._processingStatus = RUNNING;
  }

  /** What an event does where nothing watches, but for telling the parent of the end. */
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

// A subscriber needs collections of its own; all others go on sharing the empty one.
for (const method of ['subscribe', 'on'] as const) {
  const original = Actor.prototype[method] as (...values: unknown[]) => unknown;
  Object.defineProperty(ChildActor.prototype, method, {
    value(this: ChildActor, ...values: unknown[]): unknown {
      if (this.observers === NO_LISTENERS) this.observers = new Set();
      if (this.eventListeners === NO_LISTENERS) this.eventListeners = new Map();
      return original.apply(this, values);
    },
  });
}

/** Whether actors made here have all the fields of XState's own, and no others but our own. */
export const buildsChildrenDirectly: boolean = hasFieldsOf(
  new ChildActor(PROBE, sample, 'probe'),
  createActor(PROBE, { parent: sample, id: 'probe' }),
);

function hasFieldsOf(own: object, official: object): boolean {
  const known = Object.keys(official);
  return (
    known.every((field) => field in own) &&
    Object.keys(own).every((field) => known.includes(field) || /^(?:lazy|kept)[A-Z]/.test(field))
  );
}

/**
 * Creates and starts a child of `parent`. For compiled lifecycles: logic that neither emits nor executes actions, takes
 * no input and starts from its initial snapshot.
 */
export function startChild(parent: AnyActorRef, logic: AnyActorLogic, id: string): AnyActorRef {
  if (!buildsChildrenDirectly) return createActor(logic, { parent, id }).start();
  const child = new ChildActor(logic, parent, id);
  if (child.isUnseen()) child.startUnseen();
  else (child as unknown as AnyActorRef).start();
  return child as unknown as AnyActorRef;
}

/**
 * Moves a child to `next`, which its chart answers to `event`. Where an inspector, a watch or a subscriber checks, the
 * event is sent like any other; where nothing watches, the objects that tell of it are not made. The child's snapshot is
 * the only record of where it is.
 * @returns whether XState tells the parent of an end; otherwise the caller has to
 */
export function moveChild(child: AnyActorRef, event: AnyEventObject, next: { readonly status: string }): boolean {
  const own: unknown = child;
  const isUnseen =
    buildsChildrenDirectly && own instanceof ChildActor && own._processingStatus === RUNNING && own.isUnseen();
  if (isUnseen) own.moveUnseen(next);
  else child.send(event);
  return !isUnseen;
}

/**
 * Stops a child that has not come to its end: XState lets only the parent do that, and has no public way for a parent
 * without a chart.
 */
export function stopChild(child: AnyActorRef): void {
  internalsOf(child)._stop?.();
}
