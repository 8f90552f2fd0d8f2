/**
 * Records of jobs in PostgreSQL: numbered over all machines, since the log of a session that goes on elsewhere names
 * jobs by their numbers, and to be had by any machine when the process that had them is gone, so that a session hears
 * of their end although its machine never comes back.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { FoundJobRecord, JobRecords, KeptJobOutput } from '../../actors/subagent/job-records.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { JOB_RECORD_VERSION, jobRecordOf, jobRecordText } from '../../machines/subagent/job-record.ts';
import type { JobRecord } from '../../machines/subagent/job-record.ts';
import { JobOwner } from './job-owner.ts';
import type { PostgresDatabase } from './postgres-database.ts';

interface PostgresJobRecordsOptions {
  readonly database: PostgresDatabase;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** The same for all processes that share a home on one machine, and for no others. */
  readonly place: string;
  /** The machine, for people. */
  readonly machine: string;
  /** Tells which processes of this machine live. Default: only their silence tells. */
  readonly hostLife?: Pick<HostLife, 'token' | 'isAlive'> | undefined;
  /** Where large outputs are kept: files of this home. */
  readonly outputs: Pick<JobRecords, 'keepOutput' | 'remove'>;
  /** A process of another machine that was silent for so long, in milliseconds, is taken for dead. Default 60,000. */
  readonly silenceMs?: number | undefined;
}

export interface PostgresJobRecords extends JobRecords {
  /** From now on any process may take what this one still holds. Idempotent. */
  close(): Promise<void>;
}

const DEFAULT_SILENCE_MS = 60_000;

/** In the place of a stage: it cannot be read, and people may inspect it. */
const ASIDE = 'aside';

const jobId = /^agent_(?<number>[1-9]\d{0,14})$/;

const rowShape = z.object({
  number: z.coerce.number().int().positive(),
  owner: z.string(),
  claim: z.string(),
  stage: z.string(),
  body: z.string(),
  has_output: z.boolean(),
  place: z.string(),
  machine: z.string(),
  owner_place: z.string().nullable(),
  owner_token: z.string().nullable(),
  lives: z.boolean(),
});

type JobRow = z.output<typeof rowShape>;

export function createPostgresJobRecords(options: PostgresJobRecordsOptions): PostgresJobRecords {
  return new DatabaseJobRecords(options);
}

class DatabaseJobRecords implements PostgresJobRecords {
  readonly #database: PostgresDatabase;
  readonly #job: string;
  readonly #place: string;
  readonly #machine: string;
  readonly #outputs: PostgresJobRecordsOptions['outputs'];
  readonly #self: JobOwner;

  constructor({ silenceMs = DEFAULT_SILENCE_MS, outputs, machine, ...options }: PostgresJobRecordsOptions) {
    this.#database = options.database;
    this.#job = `${options.database.schema}.job`;
    this.#place = options.place;
    this.#machine = machine;
    this.#outputs = outputs;
    this.#self = new JobOwner({ ...options, silenceMs });
  }

  async create(make: (jobId: string) => JobRecord): Promise<JobRecord> {
    await this.#self.register();
    // A number whose answer was lost is never given again, and means nothing.
    const [row] = await this.#database.run(`INSERT INTO ${this.#job} DEFAULT VALUES RETURNING number`);
    const { number } = rowShape.pick({ number: true }).parse(row);
    const record = make(`agent_${number}`);
    this.#self.takes(number);
    try {
      const values = [
        number,
        this.#self.id,
        randomUUID(),
        this.#place,
        this.#machine,
        record.stage,
        jobRecordText(record),
      ];
      await this.#database.run(
        `UPDATE ${this.#job} SET owner = $2, claim = $3, place = $4, machine = $5, stage = $6, body = $7 WHERE number = $1 AND body IS NULL`,
        values,
      );
    } catch (error) {
      this.#self.lets(number);
      throw error;
    }
    return record;
  }

  async write(record: JobRecord): Promise<void> {
    const number = numberOf(record.jobId);
    // One that was closed does not come back, and of one that another process has taken over this one does not say how
    // it ended.
    await this.#database.run(`UPDATE ${this.#job} SET stage = $3, body = $4 WHERE number = $1 AND owner = $2`, [
      number,
      this.#self.id,
      record.stage,
      jobRecordText(record),
    ]);
    if (record.stage === 'ended') this.#self.lets(number);
  }

  async list(): Promise<readonly FoundJobRecord[]> {
    const rows = await this.#rows('j.stage <> $1', [ASIDE]);
    return Promise.all(rows.map((row) => this.#found(row)));
  }

  async takeOver(id: string): Promise<JobRecord | undefined> {
    const number = numberOf(id);
    const [row] = await this.#rows('j.number = $1', [number]);
    if (row === undefined || row.stage === 'ended' || row.stage === ASIDE) return undefined;
    const record = readRecord(row);
    if ('reason' in record) return this.#setAside(row, record);
    if (row.owner === this.#self.id || (await this.#isAlive(row))) return undefined;
    await this.#self.register();
    const claim = randomUUID();
    await this.#database.run(
      `UPDATE ${this.#job} SET owner = $2, claim = $3 WHERE number = $1 AND claim = $4 AND stage <> 'ended'`,
      [number, this.#self.id, claim, row.claim],
    );
    // Asked apart: it is true too when the answer to the claim was lost.
    const [now] = await this.#rows('j.number = $1 AND j.claim = $2', [number, claim]);
    const own = now === undefined ? undefined : readRecord(now);
    if (own === undefined || 'reason' in own) return undefined;
    this.#self.takes(number);
    return own;
  }

  async keepOutput(id: string, output: string): Promise<KeptJobOutput> {
    await this.#database.run(`UPDATE ${this.#job} SET has_output = true WHERE number = $1`, [numberOf(id)]);
    return this.#outputs.keepOutput(id, output);
  }

  async remove(id: string): Promise<void> {
    const number = numberOf(id);
    const [row] = await this.#rows('j.number = $1', [number]);
    if (row?.has_output === true) await this.#outputs.remove(id);
    await this.#database.run(`DELETE FROM ${this.#job} WHERE number = $1`, [number]);
    this.#self.lets(number);
  }

  close(): Promise<void> {
    return this.#self.close();
  }

  async #rows(which: string, values: readonly unknown[]): Promise<readonly JobRow[]> {
    const { schema } = this.#database;
    const rows = await this.#database.run(
      `SELECT j.number, j.owner, j.claim, j.stage, j.body, j.has_output, j.place, j.machine, o.place AS owner_place, o.token AS owner_token, coalesce(o.alive_until > clock_timestamp(), false) AS lives
       FROM ${this.#job} j LEFT JOIN ${schema}.job_owner o ON o.id = j.owner WHERE j.body IS NOT NULL AND ${which} ORDER BY j.number`,
      values,
    );
    return rows.map((row) => rowShape.parse(row));
  }

  async #found(row: JobRow): Promise<FoundJobRecord> {
    const record = readRecord(row);
    if ('reason' in record) return { kind: 'unreadable', jobId: `agent_${row.number}`, reason: record.reason };
    const owner = row.owner === this.#self.id ? 'here' : (await this.#isAlive(row)) ? 'alive' : 'gone';
    return { kind: 'record', record, owner, ...(row.place === this.#place ? {} : { elsewhere: row.machine }) };
  }

  /** Known at once of this machine's processes; of others, and where a machine cannot tell, by their silence. */
  async #isAlive({ owner_place: place, owner_token: token, lives }: JobRow): Promise<boolean> {
    return (await this.#self.isAliveHere({ place, token })) ?? lives;
  }

  async #setAside({ number, claim }: JobRow, { isForeign }: UnreadableRecord): Promise<undefined> {
    // One of another version says something to a process of that version.
    if (!isForeign)
      await this.#database.run(`UPDATE ${this.#job} SET stage = $3 WHERE number = $1 AND claim = $2`, [
        number,
        claim,
        ASIDE,
      ]);
    return undefined;
  }
}

interface UnreadableRecord {
  readonly reason: string;
  readonly isForeign: boolean;
}

const versioned = z.looseObject({ version: z.number() });

function readRecord({ number, body }: Pick<JobRow, 'number' | 'body'>): JobRecord | UnreadableRecord {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return { reason: messageOf(error), isForeign: false };
  }
  const record = jobRecordOf(value);
  if (record?.jobId === `agent_${number}`) return record;
  const version = versioned.safeParse(value).data?.version ?? 0;
  const isForeign = version > JOB_RECORD_VERSION;
  return {
    reason: isForeign ? `it is of version ${version}, which this program does not know` : 'it is no record of a job',
    isForeign,
  };
}

function numberOf(id: string): number {
  const digits = jobId.exec(id)?.groups?.['number'];
  if (digits !== undefined) return Number(digits);
  throw new RuntimeError(
    'JOB_ID_INVALID',
    `the id of a job on record is agent_<n>, such as agent_1, got ${JSON.stringify(id)}`,
    { category: 'validation', hint: 'Take an id that spawn() or the list of jobs gave.' },
  );
}
