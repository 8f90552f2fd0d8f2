/**
 * Systems of XState actors: what checks one, which actors of it run, and what they wait for. Where nothing checks,
 * nothing is told.
 *
 * Like xstate-child.ts this knows private fields of XState, and checks when it loads that systems can be watched so;
 * otherwise they are inspected.
 */
import { createActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject } from 'xstate';
import { chartWatch } from '../machines/chart-watch.ts';

/** The private side of an actor, as of XState 5.33. */
export interface ActorInternals {
  readonly system: SystemInternals;
  readonly mailbox: MailboxInternals;
  readonly observers: { readonly size: number };
  readonly _deferred: (() => void)[];
  readonly _parent?: unknown;
  _stop?(): void;
}

export interface MailboxInternals {
  _current: MailboxEntry | null;
  _last: MailboxEntry | null;
  start(): void;
  flush(): void;
}

interface MailboxEntry {
  readonly value: AnyEventObject;
  readonly next: MailboxEntry | null;
}

export interface SystemInternals {
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

export const KEPT = Symbol('kept');

/** XState's own actors get the links when they are added. */
const keptActorOf = (actor: AnyActorRef): KeptActor => actor as unknown as KeptActor;

export const internalsOf = (actor: AnyActorRef): ActorInternals => actor as unknown as ActorInternals;

/** An actor with links of its own to its neighbours among the actors of its system that run. */
export interface KeptActor {
  keptBefore: KeptActor | undefined;
  keptAfter: KeptActor | undefined;
}

/** What is known of a system whose actors are kept. */
export class KeptSystem {
  /** How the system tells inspectors while no watch has taken that place. */
  readonly tell: SystemInternals['_sendInspectionEvent'];
  inspectors: number;
  /**
   * The actors that run: a list through their own links. A Map or a Set that grows leaves its old table behind, and a
   * table that V8 has moved to its old generation keeps every actor in it until the next major collection.
   */
  #first: KeptActor | undefined;
  #last: KeptActor | undefined;

  constructor(system: SystemInternals, inspectors: number) {
    this.tell = system._sendInspectionEvent;
    this.inspectors = inspectors;
  }

  /** An actor begins to run. */
  add(actor: KeptActor): void {
    actor.keptBefore = this.#last;
    if (this.#last === undefined) this.#first = actor;
    else this.#last.keptAfter = actor;
    this.#last = actor;
  }

  remove(actor: KeptActor): void {
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
    const actors: AnyActorRef[] = [];
    for (let actor = this.#first; actor !== undefined; actor = actor.keptAfter)
      actors.push(actor as unknown as AnyActorRef);
    return actors.sort((one, other) => numberOf(one) - numberOf(other));
  }
}

/** Whether no inspector and no watch checks a system. Only of systems whose actors are kept it is known. */
export function isSystemUnseen(system: SystemInternals): boolean {
  const kept = system[KEPT];
  return (
    kept !== undefined &&
    kept.inspectors === 0 &&
    kept.tell === system._sendInspectionEvent &&
    chartWatch.watcher === undefined
  );
}

/** Session ids count up: `x:17`. */
function numberOf({ sessionId }: AnyActorRef): number {
  return Number(sessionId.slice(sessionId.indexOf(':') + 1));
}

/**
 * Has the root of a system take an event that does not move its chart, where nothing watches: `take` runs at once, and
 * what is sent meanwhile waits in the mailbox for its end, as it always does.
 * @returns false when something checks or another event is under way: then nothing was done, and the event has to be
 * sent
 */
export function takeUnseen<Event extends AnyEventObject>(
  root: AnyActorRef,
  event: Event,
  take: (event: Event) => void,
): boolean {
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

/**
 * Makes the actors of a system known to `liveActorsOf`, and what checks them known to the actors. XState keeps a map
 * of its actors that it never reads; one that can be read takes its place. Before the root starts.
 * @param isInspected whether the root was created with an inspector
 */
export function keepLiveActors(root: AnyActorRef, isInspected: boolean): void {
  const { system } = internalsOf(root);
  const kept = new KeptSystem(system, isInspected ? 1 : 0);
  const unregister = system._unregister.bind(system);
  const inspect = system.inspect.bind(system);
  system[KEPT] = kept;
  system._register = (sessionId, actor) => {
    kept.add(keptActorOf(actor));
    return sessionId;
  };
  system._unregister = (actor) => {
    kept.remove(keptActorOf(actor));
    if ((actor as { readonly systemId?: string }).systemId !== undefined) unregister(actor);
  };
  // Counted and never counted down: a system that was inspected once goes on telling.
  system.inspect = (observer) => {
    kept.inspectors += 1;
    return inspect(observer);
  };
}

/**
 * The actors that run now, parents before their children. In a system whose actors are not kept: those that snapshots
 * of machines name.
 */
export function liveActorsOf(root: AnyActorRef): readonly AnyActorRef[] {
  const kept = internalsOf(root).system[KEPT];
  if (kept !== undefined) return kept.all();
  const found = new Set([root]);
  for (const actor of found) {
    const { children = {} } =
      (actor.getSnapshot() as { readonly children?: Readonly<Record<string, AnyActorRef | undefined>> } | undefined) ??
      {};
    for (const child of Object.values(children)) if (child !== undefined) found.add(child);
  }
  return [...found];
}

export const PROBE: AnyActorLogic = {
  transition: (snapshot: unknown) => snapshot,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot: unknown) => snapshot as never,
};

/**
 * Told what XState tells inspectors, all but the id of the root. It must not throw: what it throws, the program gets.
 */
type SystemWatch = (inspected: object) => void;

/** Who watches a system, and how it told inspectors before. */
interface WatchedSystem {
  readonly tell: SystemWatch;
  readonly before: SystemWatch;
  watches: readonly SystemWatch[];
}

const watched = new WeakMap<object, WatchedSystem>();

/**
 * Watches all actors of a system as `inspect` does, for a fraction of what that costs: XState copies what it tells for
 * each inspector it has. Nothing of it is left after the last watcher.
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

/**
 * Another watcher may have taken the place over meanwhile: then this one stays under it, tells nothing, and is used
 * again.
 */
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
  return scheduled.map(({ source, event, id, delay, startedAt }) => ({
    source,
    id,
    type: event.type,
    delayMs: delay,
    startedAt,
  }));
}
