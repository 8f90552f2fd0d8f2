/** Events whose words have changed. Logs are never rewritten, so what they hold is read in the words of today. */
import type { Upcaster } from './event-definition.ts';

/** By the type that is stored: the type of today. Versions are counted through both. */
const FORMER_TYPES: ReadonlyMap<string, string> = new Map([['substrate.promoted', 'files.promoted']]);

/** What a stored type is called today. */
export function typeOfToday(stored: string): string {
  return FORMER_TYPES.get(stored) ?? stored;
}

/** Of `promotion.refused`, whose version 1 called the shared files `substrate`. */
export const promotionOfSharedFiles: Upcaster = (data) =>
  data['what'] === 'substrate' ? { ...data, what: 'shared_files' } : data;
