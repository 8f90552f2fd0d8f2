/**
 * The process that owns jobs, as others see it: a row that is renewed for as long as there are any. Processes of one
 * machine see each other better than that, and need not wait until the row runs out.
 */
import { randomUUID } from 'node:crypto';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { PostgresDatabase } from './postgres-database.ts';

export interface JobOwnerOptions {
  readonly database: PostgresDatabase;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** The same for all processes that share a home on one machine, and for no others. */
  readonly place: string;
  readonly hostLife?: Pick<HostLife, 'token' | 'isAlive'> | undefined;
  readonly silenceMs: number;
}

/** Renewals in the silence after which a process is taken for dead: several may fail. */
const RENEWALS = 6;

/** An owner whose row ran out so long ago has no job left that a process could ask about. */
const FORGOTTEN_AFTER = "interval '7 days'";

export class JobOwner {
  readonly id = randomUUID();
  readonly #options: JobOwnerOptions;
  /** Its jobs that have not ended. */
  readonly #open = new Set<number>();
  #timer: TimerHandle | undefined;

  constructor(options: JobOwnerOptions) {
    this.#options = options;
  }

  /** Before anything belongs to it. @throws RuntimeError category `storage` */
  async register(): Promise<void> {
    if (this.#timer === undefined) await this.#renew();
  }

  takes(number: number): void {
    this.#open.add(number);
    this.#timer ??= this.#armed();
  }

  lets(number: number): void {
    this.#open.delete(number);
    if (this.#open.size > 0) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** From now on any process may take what this one still holds. */
  async close(): Promise<void> {
    const { database, clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#open.size === 0) return;
    this.#open.clear();
    await database.run(`DELETE FROM ${database.schema}.job_owner WHERE id = $1`, [this.id]).catch(() => undefined);
  }

  /** Whether a process of this machine lives; undefined when that cannot be told, or when it is of another one. */
  async isAliveHere({
    place,
    token,
  }: {
    readonly place: string | null;
    readonly token: string | null;
  }): Promise<boolean | undefined> {
    return place === this.#options.place && token !== null ? this.#options.hostLife?.isAlive(token) : undefined;
  }

  #armed(): TimerHandle {
    const { clock, silenceMs } = this.#options;
    return clock.setTimeout(() => {
      // What does not come through is tried again next time; who was silent for too long finds his jobs taken.
      void this.#renew().catch(() => undefined);
      this.#timer = this.#armed();
    }, silenceMs / RENEWALS);
  }

  async #renew(): Promise<void> {
    const { database, place, hostLife, silenceMs } = this.#options;
    const { schema } = database;
    await database.run(
      `WITH forgotten AS (DELETE FROM ${schema}.job_owner WHERE alive_until < clock_timestamp() - ${FORGOTTEN_AFTER})
       INSERT INTO ${schema}.job_owner (id, place, token, alive_until) VALUES ($1, $2, $3, clock_timestamp() + $4::float8 * interval '1 millisecond')
       ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`,
      [this.id, place, (await hostLife?.token()) ?? null, silenceMs],
    );
  }
}
