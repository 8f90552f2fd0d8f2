/**
 * How candidates stand, in PostgreSQL: cooldowns and breakers that hold for the workers of all machines. Accounts
 * themselves, and their secrets, never come here. It is experience, not truth: a row that cannot be read counts as
 * nothing known, and says so.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import type { CandidateHealthStore } from '../../actors/run/candidate-health-store.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import { candidateKey } from '../../machines/run/candidate.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import { candidateHealthSchema } from '../../machines/run/candidate-health.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import {
  MAX_CANDIDATES_KNOWN,
  admitCandidate,
  listHealth,
  readHealth,
  reportOutcome,
  resetHealth,
  healthTable,
} from '../../machines/run/health-table.ts';
import type {
  CandidateAdmission,
  HealthFilter,
  HealthReport,
  HealthTable,
  TableChange,
} from '../../machines/run/health-table.ts';
import { CANDIDATE_HEALTH_TABLE } from '../../machines/stored-names.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { RevisedRows, keyOf } from './revised-rows.ts';

interface PostgresCandidateHealthStoreOptions {
  readonly database: PostgresDatabase;
  /** The clock of the database: what rests until when is the same moment for every process. */
  readonly clock: Pick<Clock, 'now'>;
  /** Told of what could not be read. Default: a warning of the process. */
  readonly onWarning?: ((warning: RuntimeError) => void) | undefined;
}

export function createPostgresCandidateHealthStore(options: PostgresCandidateHealthStoreOptions): CandidateHealthStore {
  return new PostgresCandidateHealthStore(options);
}

class PostgresCandidateHealthStore implements CandidateHealthStore {
  readonly #database: PostgresDatabase;
  readonly #rows: RevisedRows;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onWarning: (warning: RuntimeError) => void;
  #told = '';

  constructor({ database, clock, onWarning = warn }: PostgresCandidateHealthStoreOptions) {
    this.#database = database;
    this.#rows = new RevisedRows(database, CANDIDATE_HEALTH_TABLE);
    this.#clock = clock;
    this.#onWarning = onWarning;
  }

  async read(candidates: readonly Candidate[]): Promise<readonly CandidateHealth[]> {
    const rows = await this.#rows.loadMany(candidates.map(candidateKey));
    return readHealth(this.#tableOf(rows.map(({ body }) => body)), candidates, this.#clock.now());
  }

  async admit(
    candidate: Candidate,
    { isPinned = false }: { readonly isPinned?: boolean | undefined } = {},
  ): Promise<CandidateAdmission> {
    return this.#change(candidate, (table) => admitCandidate(table, candidate, { nowMs: this.#clock.now(), isPinned }));
  }

  async report(candidate: Candidate, outcome: HealthReport, attempt?: ReportedAttempt): Promise<CandidateHealth> {
    const { answer, isNew } = await this.#report(candidate, outcome, attempt);
    if (isNew) await this.#forgetOldest(candidateKey(candidate));
    return answer;
  }

  async reset(filter?: HealthFilter): Promise<number> {
    const rows = (await this.#rows.all()).map(({ key, body }) => ({ key, table: this.#tableOf([body]) }));
    // What cannot be read is forgotten with all.
    const meant = rows.filter(({ table }) =>
      table.size === 0 ? filter === undefined : resetHealth(table, filter).answer === 1,
    );
    await Promise.all(
      meant.map(({ key }) =>
        this.#rows.change(key, (body) => ({
          answer: undefined,
          ...(body === undefined ? {} : { write: { body: undefined } }),
        })),
      ),
    );
    return meant.length;
  }

  async list(): Promise<readonly CandidateHealth[]> {
    return listHealth(this.#tableOf((await this.#rows.all()).map(({ body }) => body)), this.#clock.now());
  }

  #report(
    candidate: Candidate,
    outcome: HealthReport,
    attempt: ReportedAttempt | undefined,
  ): Promise<{ readonly answer: CandidateHealth; readonly isNew: boolean }> {
    return this.#change(candidate, (before) => {
      const { answer, table } = reportOutcome(before, candidate, outcome, { nowMs: this.#clock.now(), attempt });
      return { answer: { answer, isNew: before.size === 0 && table.size > 0 }, table };
    });
  }

  /** The row of one candidate is changed, and no other: each is a table of one. */
  #change<Answer>(candidate: Candidate, change: (table: HealthTable) => TableChange<Answer>): Promise<Answer> {
    const key = candidateKey(candidate);
    return this.#rows.change(key, (body) => {
      const before = this.#tableOf([body]);
      const { answer, table } = change(before);
      return table === before ? { answer } : { answer, write: { body: JSON.stringify(table.get(key)) } };
    });
  }

  /**
   * Above the limit, those go about which there is nothing to know, then those that were used the longest ago. It only
   * tidies up: when it fails, the next candidate that is new does it.
   */
  async #forgetOldest(newest: string): Promise<void> {
    const table = `${this.#database.schema}.${CANDIDATE_HEALTH_TABLE}`;
    await this.#database
      .run(
        `DELETE FROM ${table} WHERE key IN (
           SELECT key FROM ${table} WHERE key <> $1
           ORDER BY body IS NOT NULL DESC, body::json ->> 'state' <> 'closed' DESC, body::json ->> 'lastUsedAt' DESC NULLS LAST OFFSET ${MAX_CANDIDATES_KNOWN - 1})`,
        [keyOf(newest)],
      )
      .catch(() => undefined);
  }

  #tableOf(bodies: readonly (string | undefined)[]): HealthTable {
    return healthTable(bodies.flatMap((body) => (body === undefined ? [] : this.#healthIn(body))));
  }

  /** Once for each problem: the table is read before every step of a model. */
  #tell(warning: RuntimeError): void {
    if (this.#told === warning.message) return;
    this.#told = warning.message;
    this.#onWarning(warning);
  }

  #healthIn(body: string): readonly CandidateHealth[] {
    try {
      return [candidateHealthSchema.parse(JSON.parse(body))];
    } catch (error) {
      this.#tell(unreadable(error));
      return [];
    }
  }
}

function unreadable(error: unknown): RuntimeError {
  return new RuntimeError(
    'CANDIDATE_HEALTH_INVALID',
    `the health of a candidate cannot be read in the database, and counts as unknown: ${messageOf(error)}`,
    {
      category: 'storage',
      hint: 'It may have been written by a newer version of wakechart. It is replaced with the next report.',
    },
  );
}

function warn(warning: RuntimeError): void {
  process.emitWarning(warning.message, { type: 'WakechartWarning', code: warning.code });
}
