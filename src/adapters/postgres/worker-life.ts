/**
 * This store's row among the workers: as long as it is renewed, every lease and claim of this store holds. A renewal
 * that does not come through in time fails closed: all its rights are lost, here as well as there, and what it wants
 * next it asks for under a new name.
 */
import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../../machines/errors.ts';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { PostgresDatabase } from './postgres-database.ts';

export interface HeldLease {
  readonly sessionId: string;
  readonly epoch: number;
  readonly token: string;
}

export interface WorkerLifeOptions {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly databaseClock: DatabaseClock;
  readonly owner: string;
  readonly leaseMs: number;
  readonly held: () => readonly HeldLease[];
  /** Another worker has this lease now, under `by`; undefined when the session is gone. */
  readonly onTaken: (lease: HeldLease, by: number | undefined) => void;
  /** All leases are lost. */
  readonly onExpired: (reason: RuntimeError) => void;
  /** All leases hold for another while. */
  readonly onRenewed: () => Promise<unknown>;
}

/** Renewals in one length of a lease: two may fail. */
const RENEWALS_PER_LEASE = 3;

/** Rows of workers that died so long ago are no longer needed. */
const FORGOTTEN_AFTER = "interval '1 day'";

interface RenewalRow {
  readonly is_renewed: boolean;
  readonly now_ms: number;
  readonly lost: readonly { readonly token: string; readonly by: number | null }[];
}

export class WorkerLife {
  readonly #options: WorkerLifeOptions;
  #id: string | undefined;
  #registering: Promise<string> | undefined;
  /** On the steady clock: until then our leases are sure. */
  #goodUntilMs = 0;
  #timer: TimerHandle | undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WorkerLifeOptions) {
    this.#options = options;
  }

  /** Undefined until it has asked for anything, and after it has expired. */
  get id(): string | undefined {
    return this.#id;
  }

  /** The id under which leases may be asked for. */
  registered(): Promise<string> {
    if (this.#id !== undefined && this.#options.clock.steadyNow() < this.#goodUntilMs) return Promise.resolve(this.#id);
    if (this.#id !== undefined) this.expire();
    this.#registering ??= this.#register().finally(() => {
      this.#registering = undefined;
    });
    return this.#registering;
  }

  /** The database has said that this worker is dead, or could not be asked for too long. */
  expire(): void {
    if (this.#id === undefined) return;
    this.#id = undefined;
    this.#options.clock.clearTimeout(this.#timer);
    const { leaseMs, onExpired } = this.#options;
    onExpired(
      new RuntimeError(
        'WAKE_LEASE_EXPIRED',
        `expected a renewal of this worker's leases within ${leaseMs} ms, and the database had none`,
        {
          category: 'conflict',
          hint: 'The process was stopped, too busy or cut off from the database; another worker goes on with its sessions.',
          details: { leaseMs },
        },
      ),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#registering?.catch(() => undefined);
    this.#options.clock.clearTimeout(this.#timer);
    await this.#renewing;
    const id = this.#id;
    this.#id = undefined;
    if (id === undefined) return;
    const { database } = this.#options;
    const { schema } = database;
    // The row of a worker that cannot remove it expires by itself.
    await database
      .run(`WITH gone AS (DELETE FROM ${schema}.claim WHERE worker = $1) DELETE FROM ${schema}.worker WHERE id = $1`, [
        id,
      ])
      .catch(() => undefined);
  }

  async #register(): Promise<string> {
    const { database, owner, leaseMs, databaseClock, clock } = this.#options;
    const id = randomUUID();
    const { schema } = database;
    const askedMs = clock.steadyNow();
    const [row] = await database.run<{ readonly now_ms: number }>(
      `WITH forgotten AS (DELETE FROM ${schema}.worker w WHERE w.alive_until < clock_timestamp() - ${FORGOTTEN_AFTER}
         AND NOT EXISTS (SELECT FROM ${schema}.session s WHERE s.lease_worker = w.id)),
       made AS (INSERT INTO ${schema}.worker (id, owner, alive_until) VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
         ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until)
       SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`,
      [id, owner, leaseMs],
    );
    if (row !== undefined) databaseClock.learn(row.now_ms, askedMs);
    this.#id = id;
    this.#goodUntilMs = askedMs + leaseMs;
    this.#arm();
    return id;
  }

  #arm(): void {
    const { clock, leaseMs } = this.#options;
    clock.clearTimeout(this.#timer);
    if (this.#isClosed || this.#id === undefined) return;
    const nextMs = Math.min(leaseMs / RENEWALS_PER_LEASE, Math.max(0, this.#goodUntilMs - clock.steadyNow()));
    this.#timer = clock.setTimeout(() => {
      if (clock.steadyNow() >= this.#goodUntilMs) return this.expire();
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = undefined;
      });
      // The time may be over while the answer is on its way.
      this.#arm();
    }, nextMs);
  }

  async #renew(): Promise<void> {
    const { database, clock, databaseClock, leaseMs, held, onTaken, onRenewed } = this.#options;
    const id = this.#id;
    const leases = held();
    const askedMs = clock.steadyNow();
    try {
      const [row] = await database.run<RenewalRow>(renewalStatement(database.schema), [
        id,
        leaseMs,
        leases.map(({ sessionId }) => sessionId),
        leases.map(({ token }) => token),
      ]);
      if (row === undefined || this.#id !== id) return;
      databaseClock.learn(row.now_ms, askedMs);
      if (!row.is_renewed) return this.expire();
      this.#goodUntilMs = askedMs + leaseMs;
      const byToken = new Map(leases.map((lease) => [lease.token, lease]));
      for (const { token, by } of row.lost) {
        const lease = byToken.get(token);
        if (lease !== undefined) onTaken(lease, by ?? undefined);
      }
      void onRenewed().catch(() => undefined);
    } catch {
      // The timer tells when it is too late.
    }
  }
}

function renewalStatement(schema: string): string {
  return `WITH renewed AS (
      UPDATE ${schema}.worker SET alive_until = clock_timestamp() + $2::float8 * interval '1 millisecond' WHERE id = $1 AND alive_until > clock_timestamp() RETURNING id)
    SELECT EXISTS (SELECT FROM renewed) AS is_renewed, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
      coalesce((SELECT json_agg(json_build_object('token', held.token, 'by', s.lease_epoch))
        FROM unnest($3::uuid[], $4::uuid[]) AS held (session_id, token) LEFT JOIN ${schema}.session s ON s.id = held.session_id
        WHERE s.lease_token IS DISTINCT FROM held.token), '[]') AS lost`;
}
