/** The index of what is due, as a table: hints commit with the events that make them, so that none is ever missing. */
import { dueSessions } from '../../machines/session/due-sessions.ts';
import type { DueSession, SessionOpening } from '../../machines/session/due-sessions.ts';
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import type { Activation } from '../../machines/session/activation.ts';
import { checkActivation, isActivation } from '../../machines/session/activation.ts';
import type { ActivationIndex, DueActivations, DueQuery } from '../../actors/session/activation-index.ts';
import { hintColumns, hintNames } from './appended-record.ts';
import { frequent, losable } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { eventOf, viewOf } from './session-rows.ts';

export interface PostgresActivationsOptions {
  readonly database: PostgresDatabase;
  /** The id of this store among the workers. */
  readonly registered: () => Promise<string>;
  /** Hints were made here. */
  readonly onMade: () => void;
}

interface HintRow {
  readonly session_id: string;
  readonly agent_id: string;
  readonly cause_id: string;
  readonly kind: Activation['kind'];
  readonly priority: Activation['priority'];
  readonly due_at_ms: string;
}

type HintValues = readonly [
  sessionId: string,
  agentId: string,
  causeId: string,
  kind: Activation['kind'],
  dueAtMs: number,
  priority: Activation['priority'],
];

interface ClaimRow {
  readonly hints: readonly HintValues[] | null;
  readonly again_at_ms: string | null;
  readonly openings: readonly OpeningValues[] | null;
}

/**
 * A claim holds so long, in milliseconds, unless its worker asks again or wakes the session: what waits too long at one
 * worker, another takes.
 */
const CLAIM_MS = 10_000;

/** Hints that `rebuilt` makes in one statement. */
const HINTS_AT_ONCE = 500;

/** Of a session's newest events, those that come with its claim: as many as a wake reads first of a conversation. */
const OPENING_EVENTS = 256;
/** With more than this the events are read when the session is woken. */
const OPENING_BYTES = 262_144;

type OpeningValues = readonly [sessionId: string, events: readonly OpeningEvent[], state: string | null];
type OpeningEvent = readonly [
  seq: number,
  id: string,
  type: string,
  v: number,
  epoch: number | null,
  at: string,
  data: string,
];

const HINT_SELECTION = 'a.session_id, a.agent_id, a.cause_id, a.kind, a.priority, a.due_at_ms';

export class PostgresActivations implements ActivationIndex {
  readonly #options: PostgresActivationsOptions;
  readonly #listeners = new Set<() => void>();
  /** Of sessions that wait here for their wake, by session. */
  #openings = new Map<string, SessionOpening>();

  constructor(options: PostgresActivationsOptions) {
    this.#options = options;
  }

  async add(activations: readonly Activation[]): Promise<void> {
    const checked = activations.map(checkActivation);
    if (checked.length === 0) return;
    const { database, onMade } = this.#options;
    const { schema } = database;
    await database.run(
      `INSERT INTO ${schema}.activation (session_id, agent_id, tenant, cause_id, kind, priority, rank, due_at_ms)
       SELECT h.session_id, h.agent_id, coalesce((SELECT s.tenant FROM ${schema}.session s WHERE s.id = h.session_id), nullif(current_setting('wakechart.tenant', true), ''), 'default'), h.cause_id, h.kind, h.priority, h.rank, h.due_at_ms
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::bigint[]) AS h (session_id, agent_id, cause_id, kind, priority, rank, due_at_ms)
       ORDER BY 1, 4, 8, 7, 2 ON CONFLICT DO NOTHING`,
      hintColumns(checked),
    );
    onMade();
  }

  async remove(activations: readonly Activation[]): Promise<void> {
    const possible = activations.filter(isActivation);
    if (possible.length === 0) return;
    const { database } = this.#options;
    const { schema } = database;
    await database.run(
      `DELETE FROM ${schema}.activation a USING unnest($1::uuid[], $2::text[], $3::text[], $4::smallint[], $5::bigint[]) AS h (session_id, agent_id, cause_id, rank, due_at_ms)
       WHERE a.session_id = h.session_id AND a.cause_id = h.cause_id AND a.due_at_ms = h.due_at_ms AND a.rank = h.rank AND a.agent_id = h.agent_id`,
      hintNames(possible),
    );
  }

  due(query: DueQuery): Promise<DueActivations> {
    return query.claims === undefined ? this.#check(query) : this.#claim(query, query.claims);
  }

  watch(onChange: () => void): () => void {
    const listener = (): void => onChange();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells those who watch. */
  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Hints and what they speak of commit together. */
  async isSuspect(): Promise<boolean> {
    return false;
  }

  async rebuilt(activations: AsyncIterable<Activation>): Promise<void> {
    let batch: Activation[] = [];
    for await (const activation of activations) {
      batch.push(activation);
      if (batch.length < HINTS_AT_ONCE) continue;
      await this.add(batch);
      batch = [];
    }
    await this.add(batch);
  }

  async #check({ nowMs, limit, except = new Set(), agentId }: DueQuery): Promise<DueActivations> {
    const { database } = this.#options;
    const { schema } = database;
    const rows = await database.run<HintRow>(
      `WITH first AS (
         SELECT DISTINCT ON (a.session_id) a.session_id, a.rank, a.due_at_ms, a.cause_id FROM ${schema}.activation a
         WHERE a.due_at_ms <= $1 AND a.session_id <> ALL ($2::uuid[]) AND ($3::text IS NULL OR a.agent_id = $3)
         ORDER BY a.session_id, a.rank, a.due_at_ms, a.cause_id
       ), chosen AS (SELECT session_id FROM first ORDER BY rank, due_at_ms, cause_id, session_id LIMIT $4)
       SELECT ${HINT_SELECTION} FROM ${schema}.activation a JOIN chosen USING (session_id) WHERE a.due_at_ms <= $1 AND ($3::text IS NULL OR a.agent_id = $3)`,
      [nowMs, [...except], agentId ?? null, Math.max(0, limit)],
    );
    return {
      due: dueSessions(rows.map(activationOf), limit),
      nextDueAtMs: await this.#nextAfter(nowMs, { except, agentId }),
    };
  }

  /** By the database's clock, which no hint is ahead of. */
  async #claim({ nowMs, limit, except = new Set(), agentId }: DueQuery, claims: number): Promise<DueActivations> {
    const { database, registered } = this.#options;
    const { schema } = database;
    const worker = await registered();
    const claiming = losable({
      because: 'a claim that is lost lets another worker ask as well, and the lease decides between them',
      columns: 'hints, again_at_ms, openings',
      from: `${schema}.claim_due_2($1, $2, $3, $4::uuid[], $5, $6, $7::uuid[], $8, $9, $10)`,
    });
    const most = [SESSION_FOLD_VERSION, OPENING_EVENTS, OPENING_BYTES];
    const values = [
      worker,
      Math.floor(nowMs),
      Math.max(0, Math.min(claims, limit)),
      [...except],
      agentId ?? null,
      CLAIM_MS,
      [...this.#openings.keys()],
      ...most,
    ];
    const [claimed] = await database.run<ClaimRow>(frequent(claiming), values);
    const hints = (claimed?.hints ?? []).map(([sessionId, agent, causeId, kind, dueAtMs, priority]): Activation => ({
      sessionId,
      agentId: agent,
      causeId,
      kind,
      dueAtMs,
      priority,
    }));
    const again = claimed?.again_at_ms ?? undefined;
    const due = this.#opened(dueSessions(hints, limit), claimed?.openings ?? []);
    return { due, nextDueAtMs: again === undefined ? undefined : Math.max(Math.floor(nowMs) + 1, Number(again)) };
  }

  /** What was read of a session holds until it is woken; what no caller waits for any more is forgotten. */
  #opened(due: readonly DueSession[], read: readonly OpeningValues[]): DueSession[] {
    const found = new Map(read.map((values) => [values[0], values]));
    const openings = new Map<string, SessionOpening>();
    const opened = due.map((session): DueSession => {
      const values = found.get(session.sessionId);
      const opening = values === undefined ? this.#openings.get(session.sessionId) : openingOf(session, values);
      if (opening === undefined) return session;
      openings.set(session.sessionId, opening);
      return { ...session, opening };
    });
    this.#openings = openings;
    return opened;
  }

  async #nextAfter(
    nowMs: number,
    { except = new Set(), agentId }: Pick<DueQuery, 'except' | 'agentId'>,
  ): Promise<number | undefined> {
    const { database } = this.#options;
    const [row] = await database.run<{ readonly due_at_ms: string }>(
      `SELECT a.due_at_ms FROM ${database.schema}.activation a
       WHERE a.due_at_ms > $1 AND a.session_id <> ALL ($2::uuid[]) AND ($3::text IS NULL OR a.agent_id = $3) ORDER BY a.due_at_ms LIMIT 1`,
      [Math.floor(nowMs), [...except], agentId ?? null],
    );
    return row === undefined ? undefined : Number(row.due_at_ms);
  }
}

/** Undefined when it cannot be read: then the worker that wakes the session reads it, and says what is wrong. */
function openingOf({ sessionId, agentId }: DueSession, [, events, text]: OpeningValues): SessionOpening | undefined {
  try {
    const { view: state } = viewOf(sessionId, text);
    if (text !== null && state === undefined) return undefined;
    return {
      agentId,
      state,
      events: events.map(([seq, id, type, v, epoch, at, data]) =>
        eventOf(sessionId, { seq, id, type, v, epoch, at, data, record_events: null, record_key: null }),
      ),
    };
  } catch {
    return undefined;
  }
}

function activationOf({
  session_id: sessionId,
  agent_id: agentId,
  cause_id: causeId,
  kind,
  priority,
  due_at_ms: dueAtMs,
}: HintRow): Activation {
  return { sessionId, agentId, causeId, kind, dueAtMs: Number(dueAtMs), priority };
}
