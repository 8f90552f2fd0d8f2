/**
 * Where the turn of the session begins that calls a tool now: what came since is before the model already, and no news
 * to it.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';
import type { ToolContext } from '../turn/tool.ts';

/** Pages of the log that are checked: a turn that is longer is found from where they begin. */
const MAX_PAGES = 4;

/** Undefined where no wake is known. */
export async function turnStartOf({ session, wake }: ToolContext, store: EventStore): Promise<number | undefined> {
  const state = wake?.state();
  const wakeId = state?.openWake?.wakeId;
  if (state === undefined || wakeId === undefined) return undefined;
  let events: readonly SessionEvent[] = [];
  for (let page = 0, end = state.head; page < MAX_PAGES && end > 0; page += 1, end -= MAX_READ_EVENTS) {
    const from = Math.max(1, end + 1 - MAX_READ_EVENTS);
    const hadBegun = events.some((event) => isStart(event, wakeId));
    events = [...(await store.read(session.sessionId, { from, limit: end + 1 - from })), ...events];
    // One page more than where it begins: what it read was sent before.
    if (hadBegun) break;
  }
  return currentTurnStart(events, wakeId) ?? events[0]?.seq;
}

/**
 * The number of the first event of the turn: the oldest message that the wake has read, or where the wake began.
 * @param events the newest part of the log, in order
 */
function currentTurnStart(events: readonly SessionEvent[], wakeId: string): number | undefined {
  const start = events.findIndex((event) => isStart(event, wakeId));
  const began = events[start];
  if (began === undefined) return undefined;
  const read = new Set(
    events.slice(start).flatMap((event) => (event.type === 'message.consumed' ? event.data.eventIds : [])),
  );
  return events.find(({ id }) => read.has(id))?.seq ?? began.seq;
}

function isStart(event: SessionEvent, wakeId: string): boolean {
  return event.type === 'wake.started' && event.data.wakeId === wakeId;
}
