/** Names the recording that a sender sends, so that no receiver takes in what comes from itself. */

export const RECORDING_HEADER = 'x-wakechart-recording';

/**
 * Whose recording it is, as a header may say it: it is compared, and never read back. Boots come from files too, which
 * may hold half of a character.
 */
export function encodedBoot(boot: string): string {
  return encodeURIComponent(boot.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
}
