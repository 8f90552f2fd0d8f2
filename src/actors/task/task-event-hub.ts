/**
 * Announces task events to everybody who listens: the event sink, subscribers, and streams.
 *
 * Every listener hears the same events in the same order, also when one of them makes new ones happen. Streams of a single task are
 * routed by its id, so an event costs the same with one follower or a thousand followers of other tasks.
 */
import { Subject } from 'rxjs';
import type { Observable, Subscriber, Subscription } from 'rxjs';
import type { BackgroundTaskEvent, BackgroundTaskState } from '../../machines/task/task-state.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';

export type BackgroundTaskListener = (event: BackgroundTaskEvent) => void;

/** What an event is about; enough to filter by without looking the task up. */
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

export class TaskEventHub {
  readonly #sink: BackgroundTaskListener | undefined;
  readonly #report: OnListenerError;
  /** Replaced, never edited: a dispatch under way keeps the list it began with. */
  #listeners: readonly BackgroundTaskListener[] = [];
  readonly #byTask = new Map<string, Subject<BackgroundTaskEvent>>();
  readonly #all = new Subject<Announcement>();
  #waiting: Announcement[] = [];
  #dispatching = false;
  #isComplete = false;

  constructor(sink: BackgroundTaskListener | undefined, report: OnListenerError) {
    this.#sink = sink;
    this.#report = report;
  }

  /** False when nobody would hear an event about this task: then it need not be made. */
  hasAudience(taskId: string): boolean {
    return this.#listeners.length > 0 || this.#sink !== undefined || this.#all.observed || this.#byTask.has(taskId);
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
    const own: BackgroundTaskListener = (event) => listener(event);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  events$(filter: BackgroundTaskEventFilter): Observable<BackgroundTaskEvent> {
    return new SafeObservable<BackgroundTaskEvent>(this.#report, (subscriber) =>
      filter.taskId === undefined ? this.#followAll(filter, subscriber) : this.#followTask(filter.taskId, filter, subscriber),
    );
  }

  /** Ends every stream. */
  complete(): void {
    this.#isComplete = true;
    for (const subject of [...this.#byTask.values()]) subject.complete();
    this.#byTask.clear();
    this.#all.complete();
  }

  #followAll(filter: BackgroundTaskEventFilter, subscriber: Subscriber<BackgroundTaskEvent>): Subscription {
    return this.#all.subscribe({
      next: ({ event, subject }) => {
        if (concerns(filter, subject) && isOfType(filter, event)) subscriber.next(event);
      },
      complete: () => subscriber.complete(),
    });
  }

  #followTask(taskId: string, filter: BackgroundTaskEventFilter, subscriber: Subscriber<BackgroundTaskEvent>): Subscription {
    if (this.#isComplete) return this.#followAll(filter, subscriber);
    const stream = this.#byTask.get(taskId) ?? new Subject<BackgroundTaskEvent>();
    this.#byTask.set(taskId, stream);
    const subscription = stream.subscribe({
      next: (event) => {
        if (isOfType(filter, event)) subscriber.next(event);
      },
      complete: () => subscriber.complete(),
    });
    subscription.add(() => {
      if (!stream.observed) this.#forget(taskId, stream);
    });
    return subscription;
  }

  #forget(taskId: string, stream: Subject<BackgroundTaskEvent>): void {
    if (this.#byTask.get(taskId) === stream) this.#byTask.delete(taskId);
  }

  #deliver(event: BackgroundTaskEvent, subject: EventSubject): void {
    if (this.#sink !== undefined) this.#tell(this.#sink, event, 'event_sink');
    for (const listener of this.#listeners) this.#tell(listener, event, 'listener');
    const stream = this.#byTask.get(subject.id);
    stream?.next(event);
    if (this.#all.observed) this.#all.next({ event, subject });
    if (stream !== undefined && event.type === 'background_task_closed') {
      this.#forget(subject.id, stream);
      stream.complete();
    }
  }

  #tell(listener: BackgroundTaskListener, event: BackgroundTaskEvent, source: 'listener' | 'event_sink'): void {
    try {
      const returned: unknown = listener(event);
      // An async listener is typed as returning nothing; its rejection would otherwise be nobody's.
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

function isOfType(filter: BackgroundTaskEventFilter, event: BackgroundTaskEvent): boolean {
  return filter.types === undefined || filter.types.includes(event.type);
}
