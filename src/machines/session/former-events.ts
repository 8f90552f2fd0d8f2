/** Events whose words have changed. Logs are never rewritten, so what they hold is read in the words of today. */
import type { Upcaster } from './event-definition.ts';

/** By the type that is stored: the type of today. Versions are counted through both. */
export const formerEventTypes: ReadonlyMap<string, string> = new Map([
  ['hand.restored', 'workspace.restored'],
  ['hand.not_copied', 'workspace.not_copied'],
  ['substrate.promoted', 'files.promoted'],
]);

/** Of `promotion.refused`, whose version 1 called the shared files `substrate`. */
export const promotionOfSharedFiles: Upcaster = (data) =>
  data['what'] === 'substrate' ? { ...data, what: 'shared_files' } : data;
