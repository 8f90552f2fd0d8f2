/** Where the turn of a session begins that runs now: what came since is before the model already, and no news to it. */
import type { SessionEvent } from '../session/session-event.ts';

/**
 * The number of the first event of the turn: the oldest message that the wake has read, or where the wake began.
 * @param events the newest part of the log, in order
 */
export function currentTurnStart(events: readonly SessionEvent[], wakeId: string): number | undefined {
  const start = events.findIndex((event) => event.type === 'wake.started' && event.data.wakeId === wakeId);
  const began = events[start];
  if (began === undefined) return undefined;
  const read = new Set(events.slice(start).flatMap((event) => (event.type === 'message.consumed' ? event.data.eventIds : [])));
  return events.find(({ id }) => read.has(id))?.seq ?? began.seq;
}
