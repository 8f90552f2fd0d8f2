/** A session that wakes nobody any more, as the last of its wakes left it: with its view. */
import { checkDraft } from '../../../src/machines/session/session-event.ts';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { IDENTITY, creation, idOf, messageOf } from '../../../src/testing/session-fixtures.ts';
import { foldAll } from '../../support/session-events.ts';

export const PARKED_AT = '2026-06-01T12:00:00.000Z';
export const PARKED_BECAUSE = 'It failed five times in a row.';

export async function park(store: PostgresEventStore, sessionId: string): Promise<void> {
  const { type, v, data } = checkDraft({ type: 'session.parked', data: { code: 'failures', reason: PARKED_BECAUSE } });
  await store.create({ ...IDENTITY, sessionId }, creation());
  await store.append(sessionId, [messageOf(2)]);
  await store.append(sessionId, [{ id: idOf(3), at: PARKED_AT, type, v, data }]);
  await store.saveView({ ...foldAll(await store.read(sessionId)), sessionId });
}
