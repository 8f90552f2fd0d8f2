/** Collects what would otherwise end the process. */
export async function unhandledDuring(run: () => Promise<void>): Promise<unknown[]> {
  const seen: unknown[] = [];
  const note = (error: unknown): void => {
    seen.push(error);
  };
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  try {
    await run();
    // RxJS and XState rethrow on a timer of zero: give it its turn, twice.
    await new Promise((resolve) => setTimeout(resolve, 2));
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  }
  return seen;
}
