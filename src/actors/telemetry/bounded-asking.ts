/** Asks a store that may be silent: once for all who ask meanwhile, and not for longer than a scraper waits. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';

/** How long a store may take to answer, in milliseconds. */
export const STORE_LIMIT_MS = 2_000;

interface StoreFailure {
  readonly code: string;
  readonly message: string;
}

/** A caller that asks while an answer is awaited gets that one: a store that is away is not asked more and more. */
export function shared<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | undefined;
  return () =>
    (pending ??= ask().finally(() => {
      pending = undefined;
    }));
}

type Answer<Value> = { readonly value: Value; readonly error?: undefined } | { readonly error: StoreFailure };

/** Never rejects. */
export async function withinLimit<Value>(
  ask: () => Promise<Value>,
  clock: Clock,
): Promise<Answer<Value> | 'timed_out'> {
  let answer: Answer<Value> | undefined;
  const asked = ask().then(
    (value) => (answer = { value }),
    (error: unknown) => (answer = { error: reasonOf(error) }),
  );
  await waitFor(asked, { clock, timeoutMs: STORE_LIMIT_MS });
  return answer ?? 'timed_out';
}

function reasonOf(error: unknown): StoreFailure {
  return { code: RuntimeError.is(error) ? error.code : 'STORAGE_FAILED', message: messageOf(error) };
}
