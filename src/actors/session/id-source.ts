/** Makes ids that sort by when they were made, also within one millisecond and when the wall clock steps back. */
import { UUID_V7_MAX_COUNTER, UUID_V7_RANDOM_BYTES, formatUuidV7 } from '../../machines/ids.ts';
import type { Clock } from '../clock/clock.ts';

export interface IdSource {
  /** A UUIDv7, greater as text than every one before it. */
  next(): string;
}

export interface IdSourceOptions {
  readonly clock: Clock;
  /** Fills an array with random bytes. Default: the platform's cryptographic source. */
  readonly fillRandom?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
}

/** Ids that one call for random bytes serves. */
const POOLED_IDS = 256;

export function createIdSource({
  clock,
  fillRandom = (bytes) => crypto.getRandomValues(bytes),
}: IdSourceOptions): IdSource {
  let unixMs = 0;
  let counter = 0;
  // The platform takes microseconds to answer, for eight bytes as for a thousand.
  const pool = new Uint8Array(POOLED_IDS * UUID_V7_RANDOM_BYTES);
  let used = pool.length;
  const random = (): Uint8Array => {
    if (used === pool.length) {
      fillRandom(pool);
      used = 0;
    }
    used += UUID_V7_RANDOM_BYTES;
    return pool.subarray(used - UUID_V7_RANDOM_BYTES, used);
  };
  return {
    next() {
      const nowMs = Math.max(0, Math.trunc(clock.now()));
      if (nowMs > unixMs) {
        unixMs = nowMs;
        counter = 0;
      } else if (counter < UUID_V7_MAX_COUNTER) counter += 1;
      else {
        // The counter of this millisecond is used up: borrow from the next one.
        unixMs += 1;
        counter = 0;
      }
      return formatUuidV7({ unixMs, counter, random: random() });
    },
  };
}
