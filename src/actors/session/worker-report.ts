/** What a worker tells: its events to its listeners, and what it counts. */
import type { Observable } from 'rxjs';
import { Followers } from '../streams/followers.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { SessionWorkerEvent, SessionWorkerStatus } from './session-worker-types.ts';

export class WorkerReport {
  readonly events$: Observable<SessionWorkerEvent>;
  readonly #listeners = new Followers<{ next(event: SessionWorkerEvent): void; complete(): void }>();
  readonly #counts: Record<keyof SessionWorkerStatus['counts'], number> = {
    begun: 0,
    succeeded: 0,
    failed: 0,
    nothingToDo: 0,
    contended: 0,
    aborted: 0,
  };
  #lateMs = { last: 0, sum: 0, max: 0 };
  #isOver = false;

  constructor(onListenerError: OnListenerError) {
    this.events$ = new SafeObservable<SessionWorkerEvent>(onListenerError, (subscriber) => {
      if (this.#isOver) subscriber.complete();
      return this.#listeners.add(subscriber);
    });
  }

  get counts(): SessionWorkerStatus['counts'] {
    return Object.freeze({ ...this.#counts });
  }

  get lateness(): SessionWorkerStatus['lateness'] {
    const { last, sum, max } = this.#lateMs;
    return Object.freeze({ lastMs: last, meanMs: this.#counts.begun === 0 ? 0 : sum / this.#counts.begun, maxMs: max });
  }

  tell(event: SessionWorkerEvent): void {
    if (event.type === 'woke') this.#countBegun(event.latenessMs);
    for (const listener of this.#listeners.all) listener.next(Object.freeze(event));
  }

  count(what: keyof SessionWorkerStatus['counts']): void {
    this.#counts[what] += 1;
  }

  /** Nothing more will be told. */
  end(): void {
    this.#isOver = true;
    for (const listener of this.#listeners.all) listener.complete();
  }

  #countBegun(latenessMs: number): void {
    this.count('begun');
    const { sum, max } = this.#lateMs;
    this.#lateMs = { last: latenessMs, sum: sum + latenessMs, max: Math.max(max, latenessMs) };
  }
}
