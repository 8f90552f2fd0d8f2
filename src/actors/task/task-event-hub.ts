/**
 * Announces task events to all listeners: the event sink, subscribers, and streams.
 *
 * Every listener hears the same events in the same order, also when one of them makes new ones happen. Streams of a
 * single task are routed by its id, so an event costs the same with one follower or a thousand followers of other
 * tasks.
 */
import type { Observable, Subscriber, TeardownLogic } from 'rxjs';
import type { BackgroundTaskEvent, BackgroundTaskState } from '../../machines/task/task-state.ts';
import { Followers } from '../streams/followers.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';

export type BackgroundTaskListener = (event: BackgroundTaskEvent) => void;

/** What an event is about; enough to filter by without checking the task up. */
export type EventSubject = Pick<BackgroundTaskState, 'id' | 'kind' | 'parentSessionId' | 'parentTaskId'>;

export interface BackgroundTaskEventFilter {
  /** The events of this one task, whatever else is asked for but `types`. */
  readonly taskId?: string | undefined;
  readonly kind?: BackgroundTaskState['kind'] | undefined;
  readonly parentSessionId?: string | undefined;
  readonly parentTaskId?: string | undefined;
  readonly types?: readonly BackgroundTaskEvent['type'][] | undefined;
}

interface Announcement {
  readonly event: BackgroundTaskEvent;
  readonly subject: EventSubject;
}

/** One subscriber of a stream, with what it wants to hear. */
interface Stream {
  readonly filter: BackgroundTaskEventFilter;
  readonly types: ReadonlySet<string> | undefined;
  readonly subscriber: Subscriber<BackgroundTaskEvent>;
}

export class TaskEventHub {
  readonly #sink: BackgroundTaskListener | undefined;
  readonly #report: OnListenerError;
  readonly #listeners = new Followers<BackgroundTaskListener>();
  /** Streams of one task, by its id. */
  readonly #byTask = new Map<string, Followers<Stream>>();
  readonly #streams = new Followers<Stream>();
  #waiting: Announcement[] = [];
  #dispatching = false;
  #isComplete = false;

  constructor(sink: BackgroundTaskListener | undefined, report: OnListenerError) {
    this.#sink = sink;
    this.#report = report;
  }

  /** False when no listener would hear an event about this task: then it need not be made. */
  hasAudience(taskId: string): boolean {
    return this.#listeners.size > 0 || this.#sink !== undefined || this.#streams.size > 0 || this.#byTask.has(taskId);
  }

  announce(event: BackgroundTaskEvent, subject: EventSubject): void {
    if (this.#dispatching) {
      this.#waiting.push({ event, subject });
      return;
    }
    this.#dispatching = true;
    this.#deliver(event, subject);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      for (const announcement of batch) this.#deliver(announcement.event, announcement.subject);
    }
    this.#dispatching = false;
  }

  subscribe(listener: BackgroundTaskListener): () => void {
    // Wrapped, so that the same function subscribed twice is two subscriptions.
    return this.#listeners.add((event) => listener(event));
  }

  events$(filter: BackgroundTaskEventFilter): Observable<BackgroundTaskEvent> {
    const types = filter.types === undefined ? undefined : new Set<string>(filter.types);
    return new SafeObservable<BackgroundTaskEvent>(this.#report, (subscriber) =>
      this.#follow({ filter, types, subscriber }),
    );
  }

  /** Ends every stream, and those that are asked for later. */
  complete(): void {
    this.#isComplete = true;
    const streams = [...this.#streams.all, ...[...this.#byTask.values()].flatMap((followers) => followers.all)];
    for (const { subscriber } of streams) subscriber.complete();
  }

  #follow(stream: Stream): TeardownLogic {
    const { taskId } = stream.filter;
    if (this.#isComplete) return stream.subscriber.complete();
    if (taskId === undefined) return this.#streams.add(stream);
    const followers = this.#byTask.get(taskId) ?? new Followers<Stream>();
    this.#byTask.set(taskId, followers);
    const leave = followers.add(stream);
    return () => {
      leave();
      if (followers.size === 0 && this.#byTask.get(taskId) === followers) this.#byTask.delete(taskId);
    };
  }

  #deliver(event: BackgroundTaskEvent, subject: EventSubject): void {
    if (this.#sink !== undefined) this.#tell(this.#sink, event, 'event_sink');
    for (const listener of this.#listeners.all) this.#tell(listener, event, 'listener');
    const own = this.#byTask.get(subject.id);
    if (own !== undefined)
      for (const { types, subscriber } of own.all) if (types?.has(event.type) !== false) subscriber.next(event);
    if (this.#streams.size > 0) this.#deliverToStreams(event, subject);
    if (own !== undefined && event.type === 'background_task_closed')
      for (const { subscriber } of own.all) subscriber.complete();
  }

  #deliverToStreams(event: BackgroundTaskEvent, subject: EventSubject): void {
    for (const { filter, types, subscriber } of this.#streams.all) {
      if (types?.has(event.type) !== false && concerns(filter, subject)) subscriber.next(event);
    }
  }

  #tell(listener: BackgroundTaskListener, event: BackgroundTaskEvent, source: 'listener' | 'event_sink'): void {
    try {
      const returned: unknown = listener(event);
      // An async listener is typed as returning nothing; its rejection would otherwise be unhandled.
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#report(error, source));
    } catch (error) {
      this.#report(error, source);
    }
  }
}

function concerns(filter: BackgroundTaskEventFilter, subject: EventSubject): boolean {
  if (filter.kind !== undefined && filter.kind !== subject.kind) return false;
  if (filter.parentSessionId !== undefined && filter.parentSessionId !== subject.parentSessionId) return false;
  return filter.parentTaskId === undefined || filter.parentTaskId === subject.parentTaskId;
}
