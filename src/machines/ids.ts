/** Identifiers: how they check, and how one is made from a time and random bytes that the caller brings. */
import * as z from 'zod';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The largest counter a UUIDv7 holds beside its millisecond. */
export const UUID_V7_MAX_COUNTER = 0xfff;

/** How many random bytes `formatUuidV7` uses. */
export const UUID_V7_RANDOM_BYTES = 8;

const uuidV7 = z.string().regex(UUID_V7, 'a UUIDv7 in lower case, such as 0192f0c1-2345-7abc-8def-0123456789ab');

export const sessionId = uuidV7;

export const eventId = uuidV7;

/** Names a folder too, so it is kept to what every file system takes and nothing that can climb out of one. */
const nameOfFile = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'a lower-case name of letters, digits, "-" and "_", at most 64 characters, such as code-reviewer',
  );

export const agentId = nameOfFile;

export const environmentId = nameOfFile;

export function isUuidV7(text: string): boolean {
  return UUID_V7.test(text);
}

export interface UuidV7Parts {
  /** Milliseconds since the epoch, below 2^48. */
  readonly unixMs: number;
  /** 0 to UUID_V7_MAX_COUNTER; orders ids of one millisecond. */
  readonly counter: number;
  /** UUID_V7_RANDOM_BYTES of them. */
  readonly random: Uint8Array;
}

/** The time that a UUIDv7 begins with, in milliseconds since the epoch; NaN for what begins otherwise. */
export function unixMsOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** A UUIDv7 (RFC 9562) whose text sorts by time, then counter. */
export function formatUuidV7({ unixMs, counter, random }: UuidV7Parts): string {
  const time = Math.trunc(unixMs).toString(16).padStart(12, '0');
  const [first = 0, ...rest] = random;
  // The two highest bits of this byte are the variant that RFC 9562 asks for.
  const variant = ((first & 0x3f) | 0x80).toString(16);
  const [second = '00', ...node] = rest.map((byte) => byte.toString(16).padStart(2, '0'));
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant}${second}-${node.join('')}`;
}
