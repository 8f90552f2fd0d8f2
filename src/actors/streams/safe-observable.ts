/**
 * Observables whose subscribers cannot end the process.
 *
 * RxJS rethrows what a subscriber throws, and what an operator throws without an error handler, on a timer where
 * nothing can catch it. Streams made here keep their class through `pipe` and wrap the final subscriber instead.
 */
import { Observable, Subscriber } from 'rxjs';
import type { Observer, Operator, Subscription, TeardownLogic } from 'rxjs';
import type { OnListenerError } from './listener-errors.ts';

export class SafeObservable<T> extends Observable<T> {
  readonly #report: OnListenerError;

  constructor(report: OnListenerError, subscribe?: (subscriber: Subscriber<T>) => TeardownLogic) {
    super(subscribe);
    this.#report = report;
  }

  // RxJS has no other way to keep a class through `pipe`; 8.0 removes these names, and the types of the pinned 7 will
  // tell.
  // oxlint-disable typescript/no-deprecated
  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new SafeObservable<R>(this.#report);
    lifted.source = this;
    lifted.operator = operator;
    return lifted;
  }
  // oxlint-enable typescript/no-deprecated

  override subscribe(observer?: Partial<Observer<T>>): Subscription;
  override subscribe(next: (value: T) => void): Subscription;
  override subscribe(
    next?: ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription;
  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // Operators subscribe with subscribers of their own and deal with their own errors.
    if (observerOrNext instanceof Subscriber) return super.subscribe(observerOrNext);
    const observer: Partial<Observer<T>> =
      typeof observerOrNext === 'function' || observerOrNext === null || observerOrNext === undefined
        ? {
            ...(observerOrNext ? { next: observerOrNext } : {}),
            ...(error ? { error } : {}),
            ...(complete ? { complete } : {}),
          }
        : observerOrNext;
    return super.subscribe(this.#guard(observer));
  }

  #guard(observer: Partial<Observer<T>>): Observer<T> {
    const report = this.#report;
    return {
      next: (value) => {
        try {
          observer.next?.(value);
        } catch (thrown) {
          report(thrown, 'stream');
        }
      },
      error: (failure: unknown) => {
        if (observer.error === undefined) return report(failure, 'stream');
        try {
          observer.error(failure);
        } catch (thrown) {
          report(thrown, 'stream');
        }
      },
      complete: () => {
        try {
          observer.complete?.();
        } catch (thrown) {
          report(thrown, 'stream');
        }
      },
    };
  }
}
