/**
 * The events of a run and of every agent that works for it, as one stream: those of one session in their order, each
 * once, and those of a child from its first on, as soon as there is one.
 */
import type { Observable, Subscriber } from 'rxjs';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { SafeObservable } from '../streams/safe-observable.ts';

/** A child is made right after its parent's log says so; how long to wait before checking again, in milliseconds. */
const CHECK_AGAIN_MS = 50;

export interface RunEventsSource {
  /** The events of one session, from its first on. */
  readonly eventsOf: (sessionId: string) => Observable<SessionEvent>;
  readonly clock: Clock;
  readonly onListenerError: OnListenerError;
}

export function runEvents$(sessionId: string, source: RunEventsSource): Observable<SessionEvent> {
  return new SafeObservable<SessionEvent>(source.onListenerError, (subscriber) => {
    const follower = new RunFollower(subscriber, source);
    follower.follow(sessionId);
    return () => follower.end();
  });
}

class RunFollower {
  readonly #subscriber: Subscriber<SessionEvent>;
  readonly #source: RunEventsSource;
  readonly #known = new Set<string>();
  readonly #timers = new Set<TimerHandle>();
  #open = 0;

  constructor(subscriber: Subscriber<SessionEvent>, source: RunEventsSource) {
    this.#subscriber = subscriber;
    this.#source = source;
  }

  follow(sessionId: string): void {
    this.#known.add(sessionId);
    this.#open += 1;
    this.#listen(sessionId);
  }

  end(): void {
    for (const timer of this.#timers) this.#source.clock.clearTimeout(timer);
  }

  #listen(sessionId: string): void {
    const isChild = this.#known.size > 1;
    const subscription = this.#source.eventsOf(sessionId).subscribe({
      next: (event) => this.#hear(event),
      error: (error: unknown) => {
        if (isChild && isMissing(error)) this.#checkAgain(sessionId);
        else this.#subscriber.error(error);
      },
      complete: () => this.#close(),
    });
    this.#subscriber.add(subscription);
  }

  #hear(event: SessionEvent): void {
    this.#subscriber.next(event);
    if (event.type === 'agent.subflow_started' && !this.#known.has(event.data.childSessionId))
      this.follow(event.data.childSessionId);
  }

  #checkAgain(sessionId: string): void {
    const timer = this.#source.clock.setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#subscriber.closed) this.#listen(sessionId);
    }, CHECK_AGAIN_MS);
    this.#timers.add(timer);
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#subscriber.complete();
  }
}

function isMissing(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND';
}
