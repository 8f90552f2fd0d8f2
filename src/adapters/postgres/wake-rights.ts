/** The rights to wake that this store holds: leases in the rows of their sessions, kept alive by the worker's row. */
import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../../machines/errors.ts';
import { sessionNotFound, wakeConflict } from '../../actors/session/event-store.ts';
import type { AppendOptions, WakeClaim, WakeRight } from '../../actors/session/event-store.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { AppendedRecord, RecordHook, AppendVerdict } from './appended-record.ts';
import { frequent } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import type { HeldLease, WorkerLife } from './worker-life.ts';

export interface WakeRightsOptions {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly life: () => WorkerLife;
  /**
   * The lease of a session is free, as far as this store is concerned. `isDue`: there is something to do all the same.
   */
  readonly onFreed: (sessionId: string, isDue: boolean) => void;
}

interface AcquireRow {
  readonly verdict: 'given' | 'conflict' | 'missing' | 'expired';
  readonly epoch: number;
  /** The last event of the log. */
  readonly head: number | null;
  readonly at: string | null;
}

/** A worker whose row has expired asks again under a new name. */
const MAX_ASKS = 3;

/**
 * A statement waits for a lock on the server as long as that is held, even when its caller has given up; not for so
 * long, in milliseconds.
 */
const LATEST_MS = 3_600_000;

interface Unanswered {
  readonly sessionId: string;
  /** On the steady clock. */
  readonly sinceMs: number;
}

class LeasedRight implements WakeRight, HeldLease {
  readonly sessionId: string;
  readonly epoch: number;
  readonly token: string;
  /** Time of the last event before the record that it comes with. */
  readonly withFirstAt: string | undefined;
  /** Whether the database may have given it. */
  isAsked: boolean;
  tip: WakeRight['tip'] | undefined;
  readonly #lost = new AbortController();
  readonly #release: (right: LeasedRight) => Promise<void>;
  #released: Promise<void> | undefined;

  constructor(
    { sessionId, epoch, token }: HeldLease,
    release: (right: LeasedRight) => Promise<void>,
    withFirstAt?: string,
  ) {
    this.sessionId = sessionId;
    this.epoch = epoch;
    this.token = token;
    this.#release = release;
    this.withFirstAt = withFirstAt;
    this.isAsked = withFirstAt === undefined;
  }

  get comesWith(): WakeRight['comesWith'] {
    return this.withFirstAt === undefined ? undefined : 'record';
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(reason: RuntimeError): void {
    this.#lost.abort(reason);
  }

  release(): Promise<void> {
    return (this.#released ??= this.#release(this));
  }

  /** The record that ended its wake has released it. */
  freed(): void {
    this.#released ??= Promise.resolve();
  }
}

export type { LeasedRight };

export class WakeRights {
  readonly #options: WakeRightsOptions;
  readonly #held = new Map<string, LeasedRight>();
  /**
   * By token: no answer came when it was asked for, or released, so the database may have a lease of ours, now or
   * later, that this process does not hold.
   */
  readonly #unanswered = new Map<string, Unanswered>();

  constructor(options: WakeRightsOptions) {
    this.#options = options;
  }

  held(): readonly HeldLease[] {
    return [...this.#held.values()];
  }

  /** @throws RuntimeError WAKE_CONFLICT, SESSION_NOT_FOUND */
  async acquire(sessionId: string, claim: WakeClaim): Promise<LeasedRight> {
    const { database, life } = this.#options;
    const token = randomUUID();
    if (claim.withFirst !== undefined && !claim.isOpen)
      return new LeasedRight(
        { sessionId, epoch: claim.epoch + 1, token },
        (own) => this.#release(own),
        claim.withFirst.at,
      );
    for (let asks = 1; asks <= MAX_ASKS; asks += 1) {
      const worker = await life().registered();
      const statement = frequent(
        `SELECT verdict, epoch, head, at FROM ${database.schema}.acquire_lease_2($1, $2, $3, $4, $5)`,
      );
      const [row] = await this.#answered({ sessionId, token }, () =>
        database.run<AcquireRow>(statement, [sessionId, worker, token, claim.epoch, claim.isOpen]),
      );
      if (row?.verdict === 'missing') throw sessionNotFound(sessionId);
      if (row?.verdict === 'given') return this.#hold({ sessionId, epoch: row.epoch, token }, tipOf(row));
      if (row?.verdict === 'conflict') {
        // The holder may be a lease of ours whose answer was lost.
        if (await this.releaseUnanswered(sessionId)) continue;
        break;
      }
      // Another call may have registered anew while the answer was on its way.
      if (life().id === worker) life().expire();
    }
    throw wakeConflict(sessionId);
  }

  /** What a record takes along. */
  hookOf(sessionId: string, { begins, ends }: Pick<AppendOptions, 'begins' | 'ends'>): RecordHook | undefined {
    const worker = this.#options.life().id ?? null;
    if (begins instanceof LeasedRight && begins.withFirstAt !== undefined)
      return { lease: { act: 'take', worker, token: begins.token }, at: begins.withFirstAt, begins };
    const held = this.#held.get(sessionId);
    if (ends === undefined || held === undefined || ends.right !== held) return undefined;
    return { lease: { act: 'free', worker, token: held.token }, view: ends.view };
  }

  /**
   * Asks with a record, and again under a new name for a worker whose row has expired.
   * @throws RuntimeError WAKE_CONFLICT, HEAD_MOVED
   */
  async withRecord(
    record: AppendedRecord,
    append: (record: AppendedRecord) => Promise<AppendVerdict>,
  ): Promise<AppendVerdict> {
    const { sessionId, hook } = record;
    const { begins: right } = hook ?? {};
    if (!(right instanceof LeasedRight)) return append(record);
    right.isAsked = true;
    for (let asks = 1; asks <= MAX_ASKS; asks += 1) {
      const worker = await this.#options.life().registered();
      const lease = { act: 'take', worker, token: right.token } as const;
      const answer = await this.#answered(right, () => append({ ...record, hook: { ...hook, lease } }));
      const { verdict } = answer;
      if (verdict === 'stored' || verdict === 'same') this.#hold(right);
      if (verdict === 'passed') throw epochPassed(sessionId, answer.epoch ?? 0);
      // The holder may be a lease of ours whose answer was lost.
      if (verdict === 'conflict' && !(await this.releaseUnanswered(sessionId))) break;
      if (verdict !== 'conflict' && verdict !== 'expired') return answer;
      // Another call may have registered anew while the answer was on its way.
      if (verdict === 'expired' && this.#options.life().id === worker) this.#options.life().expire();
    }
    throw wakeConflict(sessionId);
  }

  /** The record that released it is stored. */
  freed(sessionId: string): void {
    this.#held.get(sessionId)?.freed();
    this.#held.delete(sessionId);
  }

  /** Another worker has it. */
  take({ sessionId, token, epoch }: HeldLease, by: number | undefined): void {
    const right = this.#held.get(sessionId);
    if (right?.token !== token) return;
    this.#held.delete(sessionId);
    right.lose(superseded(sessionId, epoch, by));
  }

  /** All are lost. */
  loseAll(reason: RuntimeError): void {
    const rights = [...this.#held.values()];
    this.#held.clear();
    // They were asked for under a name that has expired.
    this.#unanswered.clear();
    for (const right of rights) right.lose(reason);
  }

  /**
   * Releases what the database may have given to no process, of one session or of all. @returns whether there may have
   * been any
   */
  async releaseUnanswered(sessionId?: string): Promise<boolean> {
    const { clock, database, life } = this.#options;
    for (const [token, { sinceMs }] of this.#unanswered)
      if (clock.steadyNow() - sinceMs > LATEST_MS) this.#unanswered.delete(token);
    const found = [...this.#unanswered].filter(
      ([, unanswered]) => sessionId === undefined || unanswered.sessionId === sessionId,
    );
    if (found.length === 0) return false;
    const sessions = found.map(([, unanswered]) => unanswered.sessionId);
    await database.run(`SELECT ${database.schema}.release_leases_2($1, $2, $3)`, [
      life().id ?? null,
      sessions,
      found.map(([token]) => token),
    ]);
    return true;
  }

  async #answered<Answer>(
    { sessionId, token }: Pick<HeldLease, 'sessionId' | 'token'>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      this.#unanswered.set(token, { sessionId, sinceMs: this.#options.clock.steadyNow() });
      throw error;
    }
  }

  #hold(lease: HeldLease, tip?: WakeRight['tip']): LeasedRight {
    const before = this.#held.get(lease.sessionId);
    const right = lease instanceof LeasedRight ? lease : new LeasedRight(lease, (own) => this.#release(own));
    right.tip = tip;
    this.#held.set(lease.sessionId, right);
    // The log has gone past the one who had it; one whose wake has ended is only about to release it.
    if (before !== undefined && before.epoch + 1 < lease.epoch)
      before.lose(superseded(lease.sessionId, before.epoch, lease.epoch));
    return right;
  }

  async #release({ sessionId, token, isAsked }: LeasedRight): Promise<void> {
    if (!isAsked) return;
    const { database, life, onFreed } = this.#options;
    if (this.#held.get(sessionId)?.token === token) this.#held.delete(sessionId);
    let isDue = true;
    try {
      // A worker that has expired has nothing to release, and nothing that another one waits for.
      const releasing = frequent(`SELECT is_due FROM ${database.schema}.release_leases_2($1, $2, $3) AS is_due`);
      const [row] = await this.#answered({ sessionId, token }, () =>
        database.run<{ readonly is_due: boolean }>(releasing, [life().id ?? null, [sessionId], [token]]),
      );
      isDue = row?.is_due ?? true;
    } catch (error) {
      // It is released later, or ends with this worker's life; what it was for is stored.
      if (!RuntimeError.is(error)) throw error;
    }
    onFreed(sessionId, isDue);
  }
}

function tipOf({ head, at }: AcquireRow): WakeRight['tip'] | undefined {
  return head === null || at === null ? undefined : { head, at };
}

/** Others were given epochs that they have not written under: the claim has to be a higher one. */
function epochPassed(sessionId: string, epoch: number): RuntimeError {
  return new RuntimeError('HEAD_MOVED', `session ${sessionId} has given epoch ${epoch} to another wake already`, {
    category: 'conflict',
    hint: 'Ask for the right first.',
    details: { sessionId, epoch },
  });
}

function superseded(sessionId: string, epoch: number, by: number | undefined): RuntimeError {
  const who = by === undefined ? 'another wake' : `epoch ${by}`;
  return new RuntimeError('WAKE_SUPERSEDED', `${who} of session ${sessionId} has taken over from epoch ${epoch}`, {
    category: 'conflict',
    hint: 'Leave the session to the other wake; nothing that this one still writes counts.',
    details: { sessionId, epoch, ...(by === undefined ? {} : { by }) },
  });
}
