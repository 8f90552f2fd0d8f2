/** The end of something that is made of parts, which end one after the other. */

/** The first call ends it; all get its promise. */
export function endOnce(end: (reason: string) => Promise<void>): (reason?: string) => Promise<void> {
  let ending: Promise<void> | undefined;
  return (reason = 'the runtime is shutting down') => (ending ??= end(reason));
}

/** Takes each step after the one before it has ended, also when that failed. @throws the first failure, in the end */
export async function takeEvery(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
