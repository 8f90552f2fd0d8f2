/**
 * From rows to events and records. A row that is no event counts as damage: another program has written to the
 * database.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { deepFrozen } from '../../machines/plain-copy.ts';
import { quickStoredEvent } from '../../machines/session/quick-event.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { EventColumns } from './appended-record.ts';

export interface EventRow extends EventColumns {
  readonly seq: number;
  readonly record_events: number | null;
  readonly record_key: string | null;
}

/** Columns of `EventRow`, of `event` as e and `blob` as b. */
export const EVENT_SELECTION =
  'e.seq, e.id, e.type, e.v, e.epoch, e.at, e.record_events, e.record_key, coalesce(e.data, b.data) AS data';

/** @throws RuntimeError SESSION_LOG_DAMAGED */
export function eventOf(sessionId: string, { seq, id, type, v, epoch, at, data }: EventRow): SessionEvent {
  const value = { id, at, ...(epoch === null ? {} : { epoch }), type, v, data: parsed(data) };
  const stored = quickStoredEvent(value) ?? readStoredEvent(value);
  if (stored !== undefined) return deepFrozen(placeEvent(stored, sessionId, seq));
  throw new RuntimeError('SESSION_LOG_DAMAGED', `event ${seq} of session ${sessionId} is no event of type ${type}`, {
    category: 'storage',
    hint: 'Something else has written to the table "event"; restore the row from a backup.',
    details: { sessionId, seq },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
