/**
 * How long the event loop is held at a stretch, in time of the processor: on a machine that others use too, the time
 * that passes says little.
 */
import { existsSync, readFileSync } from 'node:fs';

/**
 * Linux keeps what a thread has used, in nanoseconds, as the first number of this file. The main thread has the number
 * of its process.
 */
const USED = `/proc/self/task/${process.pid}/schedstat`;

/** In milliseconds; undefined where the system does not say. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number | undefined> {
  if (!existsSync(USED)) return undefined;
  let [longest, last, isOn] = [0, usedMs(), true];
  const check = (): void => {
    const now = usedMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (isOn) setImmediate(check);
  };
  setImmediate(check);
  await work();
  isOn = false;
  await new Promise((resolve) => setImmediate(resolve));
  return longest;
}

function usedMs(): number {
  return Number(readFileSync(USED, 'utf8').split(' ')[0]) / 1e6;
}
