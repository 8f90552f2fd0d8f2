/** Types of events that had another name. Logs are never rewritten, so what was stored is read under the name of today. */

/** By the name that is stored: the name of today. Versions are counted through both. */
const FORMER_TYPES: ReadonlyMap<string, string> = new Map([['substrate.promoted', 'shared_files.promoted']]);

/** What a stored type is called today. */
export function typeOfToday(stored: string): string {
  return FORMER_TYPES.get(stored) ?? stored;
}
