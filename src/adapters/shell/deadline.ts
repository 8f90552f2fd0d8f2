/** Waiting in real time: for work of the system that no simulated clock speeds up. */

/** @throws Error when `work` has not settled after `limitMs` of real time; it goes on unobserved */
export async function within<Result>(work: Promise<Result>, limitMs: number, what: string): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs} ms`)), limitMs);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves after `durationMs` and after the event loop has searched for input once more: a busy loop runs its timers
 * first, when what arrived meanwhile has not been delivered yet.
 */
export function quietPeriod(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => setImmediate(() => setImmediate(resolve)), durationMs);
  });
}
