/**
 * Ids of events that are to be in a log once, whichever process finds the reason to store them, and however often: the
 * store takes an id once.
 */
import { UUID_V7_MAX_COUNTER, UUID_V7_RANDOM_BYTES, formatUuidV7 } from '../../machines/ids.ts';

/** The same id for the same key. @param createdAt ISO-8601: the time that the id shows */
export async function idOnce(key: string, createdAt: string | undefined): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
  const [high = 0, low = 0] = digest.subarray(UUID_V7_RANDOM_BYTES);
  return formatUuidV7({
    unixMs: Date.parse(createdAt ?? '') || 0,
    counter: ((high << 8) | low) & UUID_V7_MAX_COUNTER,
    random: digest.subarray(0, UUID_V7_RANDOM_BYTES),
  });
}
