/** The index of what is due, as a table: hints commit with the events that make them, so that none is ever missing. */
import { checkActivation, isActivation } from '../../machines/session/activation-check.ts';
import { dueSessions } from '../../machines/session/due-sessions.ts';
import type { Activation } from '../../machines/session/activation.ts';
import type { ActivationIndex, DueActivations, DueQuery } from '../../actors/session/activation-index.ts';
import { hintColumns, hintNames } from './appended-record.ts';
import { losable } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';

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

type HintValues = readonly [sessionId: string, agentId: string, causeId: string, kind: Activation['kind'], dueAtMs: number, priority: Activation['priority']];

interface ClaimRow {
  readonly hints: readonly HintValues[] | null;
  readonly again_at_ms: string | null;
}

/** A claim holds so long, in milliseconds, unless its worker asks again or wakes the session: what waits too long at one worker, another takes. */
const CLAIM_MS = 10_000;

/** Hints that `rebuilt` makes in one statement. */
const HINTS_AT_ONCE = 500;

const HINT_SELECTION = 'a.session_id, a.agent_id, a.cause_id, a.kind, a.priority, a.due_at_ms';

export class PostgresActivations implements ActivationIndex {
  readonly #options: PostgresActivationsOptions;
  readonly #listeners = new Set<() => void>();

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
    return query.claims === undefined ? this.#look(query) : this.#claim(query, query.claims);
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

  async #look({ nowMs, limit, except = new Set(), agentId }: DueQuery): Promise<DueActivations> {
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
    return { due: dueSessions(rows.map(activationOf), limit), nextDueAtMs: await this.#nextAfter(nowMs, { except, agentId }) };
  }

  /** By the database's clock, which no hint is ahead of. */
  async #claim({ nowMs, limit, except = new Set(), agentId }: DueQuery, claims: number): Promise<DueActivations> {
    const { database, registered } = this.#options;
    const { schema } = database;
    const worker = await registered();
    const claiming = losable({
      because: 'a claim that is lost lets another worker ask as well, and the lease decides between them',
      columns: 'hints, again_at_ms',
      from: `${schema}.claim_due_1($1, $2, $3, $4::uuid[], $5, $6)`,
    });
    const [claimed] = await database.run<ClaimRow>(claiming, [worker, Math.floor(nowMs), Math.max(0, Math.min(claims, limit)), [...except], agentId ?? null, CLAIM_MS]);
    const hints = (claimed?.hints ?? []).map(([sessionId, agent, causeId, kind, dueAtMs, priority]): Activation => ({ sessionId, agentId: agent, causeId, kind, dueAtMs, priority }));
    const again = claimed?.again_at_ms ?? undefined;
    return { due: dueSessions(hints, limit), nextDueAtMs: again === undefined ? undefined : Math.max(Math.floor(nowMs) + 1, Number(again)) };
  }

  async #nextAfter(nowMs: number, { except = new Set(), agentId }: Pick<DueQuery, 'except' | 'agentId'>): Promise<number | undefined> {
    const { database } = this.#options;
    const [row] = await database.run<{ readonly due_at_ms: string }>(
      `SELECT a.due_at_ms FROM ${database.schema}.activation a
       WHERE a.due_at_ms > $1 AND a.session_id <> ALL ($2::uuid[]) AND ($3::text IS NULL OR a.agent_id = $3) ORDER BY a.due_at_ms LIMIT 1`,
      [Math.floor(nowMs), [...except], agentId ?? null],
    );
    return row === undefined ? undefined : Number(row.due_at_ms);
  }
}

function activationOf({ session_id: sessionId, agent_id: agentId, cause_id: causeId, kind, priority, due_at_ms: dueAtMs }: HintRow): Activation {
  return { sessionId, agentId, causeId, kind, dueAtMs: Number(dueAtMs), priority };
}
