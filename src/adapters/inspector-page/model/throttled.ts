/**
 * Follows what changes all the time no more often than is of use to a reader; what the reader does is followed at once.
 */
import { effect, signal, untracked } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';

export interface ThrottledOptions<Value> {
  /** What is followed at once; signals that it reads. Values of different texts are different. */
  readonly urgent: () => string;
  /** What is followed at most every `everyMs`; signals that it reads. */
  readonly restless: () => unknown;
  readonly everyMs: number;
  readonly compute: () => Value;
}

export interface Throttled<Value> {
  readonly value: ReadonlySignal<Value>;
  readonly leave: () => void;
}

export function throttled<Value>({ urgent, restless, everyMs, compute }: ThrottledOptions<Value>): Throttled<Value> {
  const value = signal(untracked(compute));
  let [before, doneAt] = [untracked(urgent), performance.now()];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = (): void => {
    clearTimeout(timer);
    timer = undefined;
    doneAt = performance.now();
    value.value = untracked(compute);
  };
  const stop = effect(() => {
    const now = urgent();
    restless();
    if (now !== before) {
      before = now;
      update();
    } else timer ??= setTimeout(update, Math.max(0, everyMs - (performance.now() - doneAt)));
  });
  return {
    value,
    leave: () => {
      clearTimeout(timer);
      stop();
    },
  };
}
