/** Times as records show them: ISO-8601 strings made from the injected clock. */
import type { Clock } from './clock.ts';

/**
 * Formatting a time costs as much as the rest of a view, and tasks of one moment share their times: a small
 * direct-mapped cache.
 */
const CACHED_TIMES = 256;
const cachedTimesMs = new Float64Array(CACHED_TIMES).fill(Number.NaN);
const cachedTimes: string[] = new Array<string>(CACHED_TIMES).fill('');

export function isoTimeOf(epochMs: number): string {
  const slot = epochMs & (CACHED_TIMES - 1);
  if (cachedTimesMs[slot] !== epochMs) {
    cachedTimesMs[slot] = epochMs;
    cachedTimes[slot] = new Date(epochMs).toISOString();
  }
  return cachedTimes[slot] ?? '';
}

/**
 * A function that stamps records. `now`, when given, is a stranger's: when it throws or returns no time, the clock's
 * own time is used and `onBadTime` is told, since a record without a time would be worse.
 */
export function createStamp(
  clock: Clock,
  now: (() => number | Date | string) | undefined,
  onBadTime: (error: unknown) => void,
): () => string {
  if (now === undefined) return () => isoTimeOf(clock.now());
  return () => {
    try {
      return isoTimeOf(new Date(now()).getTime());
    } catch (error) {
      onBadTime(error);
      return isoTimeOf(clock.now());
    }
  };
}
