/**
 * What all that runs in a process shares, and a test file may have replaced: the next file in the same process would
 * run under it.
 */

const EVENTS = ['uncaughtException', 'unhandledRejection', 'warning', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What it is to people, and something that is the same for as long as nobody has replaced it. */
export type ProcessMarks = ReadonlyMap<string, unknown>;

export function processMarks(): ProcessMarks {
  // The temporary folder is one of each file, given to it by its setup.
  const { TMPDIR: _, ...environment } = process.env;
  return new Map<string, unknown>([
    ['the clock', globalThis.Date],
    ['the timers', globalThis.setTimeout],
    ['the variables', JSON.stringify(environment, Object.keys(environment).toSorted())],
    ['the working folder', process.cwd()],
    ['the platform', process.platform],
    ...EVENTS.map((event) => [`who listens to ${event}`, process.listenerCount(event)] as const),
  ]);
}

/** @returns what is not as it was */
export function replacedSince(before: ProcessMarks): string[] {
  return [...processMarks()].flatMap(([name, mark]) => (mark === before.get(name) ? [] : [name]));
}
