/** What is read of sessions: their rows, their events, their records. */
import { MAX_READ_EVENTS, sessionNotFound } from '../../actors/session/event-store.ts';
import type {
  ListFilter,
  ReadOptions,
  SessionIdentity,
  SessionListing,
  StoredRecord,
} from '../../actors/session/event-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { deepFrozen } from '../../machines/plain-copy.ts';
import { quickStoredEvent } from '../../machines/session/quick-event.ts';
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EventColumns } from './appended-record.ts';
import { frequent, losable } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { columnOfKey, keyOfColumn } from './record-key.ts';

interface FoundRow {
  readonly id: string;
  readonly agent_id: string;
}

interface NoEvent {
  readonly seq: null;
}

/** Where a record lies. */
export interface RecordPlace {
  readonly firstSeq: number;
  readonly count: number;
}

/** Rows of a list that are read in one statement. */
const LISTED_AT_ONCE = 1_000;

const BEYOND_EVERY_HEAD = 2_000_000_000;

const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class SessionRows {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async identify(sessionId: string): Promise<SessionIdentity> {
    const row = await this.#row<{ readonly agent_id: string }>(sessionId, 's.agent_id');
    return { sessionId, agentId: row.agent_id };
  }

  async head(sessionId: string): Promise<number> {
    return (await this.#row<{ readonly head: number }>(sessionId, 's.head')).head;
  }

  async read(
    sessionId: string,
    { from = 1, limit = MAX_READ_EVENTS }: ReadOptions = {},
  ): Promise<readonly SessionEvent[]> {
    const count = Math.max(0, Math.min(limit, MAX_READ_EVENTS));
    const rows = await this.#database.run<EventRow | NoEvent>(
      frequent(`SELECT * FROM ${this.#database.schema}.read_events_1($1, $2, $3)`),
      [sessionId, placeOf(from), count],
    );
    return eventRows(sessionId, rows).map((row) => eventOf(sessionId, row));
  }

  async records(
    sessionId: string,
    { from = 1, limit = MAX_READ_EVENTS }: ReadOptions = {},
  ): Promise<readonly StoredRecord[]> {
    const { schema } = this.#database;
    const first = placeOf(from);
    // From the beginning of the record that holds the first, to the end of the one that holds the last.
    const begins = `(SELECT max(r.seq) FROM ${schema}.event r WHERE r.session_id = $1 AND r.seq <= $2 AND r.record_events IS NOT NULL)`;
    const ends = `(SELECT r.seq + r.record_events FROM ${schema}.event r WHERE r.session_id = $1 AND r.seq < $2 + ${MAX_READ_EVENTS} AND r.record_events IS NOT NULL ORDER BY r.seq DESC LIMIT 1)`;
    const rows = await this.#rows(sessionId, `e.seq >= ${begins} AND e.seq < ${ends}`, [first], undefined);
    const records = recordsOfRows(sessionId, rows).filter(({ events }) => (events.at(-1)?.seq ?? 0) >= first);
    return records.slice(0, Math.max(0, limit));
  }

  /** @param column `id` of its first event, or its `record_key` */
  async findRecord(
    sessionId: string,
    column: 'id' | 'record_key',
    value: string,
  ): Promise<readonly SessionEvent[] | undefined> {
    const { schema } = this.#database;
    if (column === 'id' && !UUID.test(value)) {
      // What is no UUID is no event's id.
      await this.head(sessionId);
      return undefined;
    }
    const place = `SELECT r.seq, r.record_events FROM ${schema}.event r WHERE r.session_id = $1 AND r.${column} = $2 AND r.record_events IS NOT NULL`;
    const rows = await this.#rows(
      sessionId,
      `EXISTS (SELECT FROM (${place}) r WHERE e.seq >= r.seq AND e.seq < r.seq + r.record_events)`,
      [column === 'id' ? value : columnOfKey(value)],
      undefined,
    );
    return rows.length === 0 ? undefined : rows.map((row) => eventOf(sessionId, row));
  }

  async at(sessionId: string, { firstSeq, count }: RecordPlace): Promise<readonly SessionEvent[]> {
    return (await this.#rows(sessionId, 'e.seq >= $2 AND e.seq < $3', [firstSeq, firstSeq + count], undefined)).map(
      (row) => eventOf(sessionId, row),
    );
  }

  async list({
    agentId,
    newest = Infinity,
    before: first = GREATEST_ID,
    sessionIds,
  }: ListFilter): Promise<readonly SessionListing[]> {
    const { schema } = this.#database;
    const listings: SessionListing[] = [];
    const named = sessionIds === undefined ? [] : [sessionIds.filter((id) => UUID.test(id))];
    for (let before = first; listings.length < newest;) {
      const limit = Math.min(LISTED_AT_ONCE, newest - listings.length);
      const rows = await this.#database.run<FoundRow & { readonly state: string | null }>(
        // Each view by its key: as a join it may be read whole for a few of the newest sessions.
        `SELECT s.id, s.agent_id, (SELECT v.state FROM ${schema}.view v WHERE v.session_id = s.id AND v.head = s.head AND v.fold_version = $3) AS state FROM ${schema}.session s
         WHERE s.id < $1 AND ($2::text IS NULL OR s.agent_id = $2)${named.length === 0 ? '' : ' AND s.id = ANY($5::uuid[])'} ORDER BY s.id DESC LIMIT $4`,
        [before, agentId ?? null, SESSION_FOLD_VERSION, limit, ...named],
      );
      for (const { id, agent_id, state } of rows)
        listings.push({ sessionId: id, agentId: agent_id, ...viewOf(id, state) });
      if (rows.length < limit) break;
      before = rows.at(-1)?.id ?? before;
    }
    return listings.reverse();
  }

  async saveView(state: SessionState): Promise<void> {
    const { schema } = this.#database;
    // A view of the past is no view: a writer has appended since.
    const statement = losable({
      because: 'a view that is lost is folded anew from the log',
      before: `WITH saved AS (
         INSERT INTO ${schema}.view AS v (session_id, head, fold_version, status, is_parked, state)
         SELECT s.id, $2, $3, $4, $5, $6 FROM ${schema}.session s WHERE s.id = $1 AND s.head >= $2
         ON CONFLICT (session_id) DO UPDATE SET head = excluded.head, fold_version = excluded.fold_version, status = excluded.status,
           is_parked = excluded.is_parked, state = excluded.state, saved_at = clock_timestamp()
         WHERE v.head <= excluded.head OR v.fold_version <> excluded.fold_version RETURNING 1)`,
      columns: 's.id',
      from: `${schema}.session s WHERE s.id = $1`,
    });
    const rows = await this.#database.run(statement, [
      state.sessionId,
      state.head,
      SESSION_FOLD_VERSION,
      state.status,
      state.parked !== undefined,
      JSON.stringify(state),
    ]);
    if (rows.length === 0) throw sessionNotFound(state.sessionId);
  }

  async checkpoint(sessionId: string): Promise<SessionState | undefined> {
    const { schema } = this.#database;
    const [row] = await this.#database.run<{ readonly state: string | null }>(
      `SELECT v.state FROM ${schema}.session s LEFT JOIN ${schema}.view v ON v.session_id = s.id AND v.head <= s.head AND v.fold_version = $2 WHERE s.id = $1`,
      [sessionId, SESSION_FOLD_VERSION],
    );
    if (row === undefined) throw sessionNotFound(sessionId);
    return viewOf(sessionId, row.state).view;
  }

  async #row<Row>(sessionId: string, columns: string): Promise<Row> {
    const [row] = await this.#database.run<Row>(
      `SELECT ${columns} FROM ${this.#database.schema}.session s WHERE s.id = $1`,
      [sessionId],
    );
    if (row === undefined) throw sessionNotFound(sessionId);
    return row;
  }

  /** Rows of events in order; the session is searched for in the same statement. */
  async #rows(
    sessionId: string,
    condition: string,
    values: readonly unknown[],
    limit: number | undefined,
  ): Promise<readonly EventRow[]> {
    const { schema } = this.#database;
    const rows = await this.#database.run<EventRow | NoEvent>(
      `SELECT found.* FROM ${schema}.session s LEFT JOIN LATERAL (
         SELECT ${EVENT_SELECTION} FROM ${schema}.event e LEFT JOIN ${schema}.blob b ON b.session_id = e.session_id AND b.seq = e.seq
         WHERE e.session_id = $1 AND ${condition} ORDER BY e.seq ${limit === undefined ? '' : `LIMIT ${limit}`}) AS found ON true
       WHERE s.id = $1 ORDER BY found.seq`,
      [sessionId, ...values],
    );
    return eventRows(sessionId, rows);
  }
}

/**
 * Statements give one row without an event for a session that has none of those. @throws RuntimeError SESSION_NOT_FOUND
 * when there is not even that
 */
function eventRows(sessionId: string, rows: readonly (EventRow | NoEvent)[]): readonly EventRow[] {
  if (rows.length === 0) throw sessionNotFound(sessionId);
  return rows.filter((row): row is EventRow => row.seq !== null);
}

/** No log is that long, and what lies beyond does not fit into the parameter. */
function placeOf(from: number): number {
  return Math.max(1, Math.min(Math.trunc(from), BEYOND_EVERY_HEAD));
}

function recordsOfRows(sessionId: string, rows: readonly EventRow[]): StoredRecord[] {
  const records: { readonly events: [SessionEvent, ...SessionEvent[]]; readonly key?: string }[] = [];
  for (const row of rows) {
    const event = eventOf(sessionId, row);
    if (row.record_events === null) records.at(-1)?.events.push(event);
    else records.push({ events: [event], ...(row.record_key === null ? {} : { key: keyOfColumn(row.record_key) }) });
  }
  return records;
}

/** The folded state of a session as `saveView` keeps it, if it can be read. */
export function viewOf(sessionId: string, text: string | null): { readonly view?: SessionState } {
  if (text === null) return {};
  try {
    // Of the same fold version, so it is what this program's fold has made.
    const state = JSON.parse(text) as SessionState;
    return state.sessionId === sessionId ? { view: deepFrozen(state) } : {};
  } catch {
    return {};
  }
}

// From rows to events and records. A row that is no event counts as damage: another program has written to the
// database.

interface EventRow extends EventColumns {
  readonly seq: number;
  readonly record_events: number | null;
  readonly record_key: string | null;
}

/** Columns of `EventRow`, of `event` as e and `blob` as b. */
const EVENT_SELECTION =
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
