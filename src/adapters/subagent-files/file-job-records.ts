/**
 * Records of jobs as files, `<directory>/agent_<n>.json` each, with the process that it belongs to; large outputs in
 * `<directory>/agent_<n>/`.
 *
 * A record of a process that is gone gets a new owner by a file `agent_<n>.owner-<k>`, which names its k-th owner: the
 * process that makes it has the record. So of several processes one deals with it, and where that one dies over it the
 * next does.
 */
import { randomUUID } from 'node:crypto';
import { lstat, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { jobRecordOf, jobRecordText } from '../../machines/subagent/job-record.ts';
import type { JobRecord } from '../../machines/subagent/job-record.ts';
import { utf8Length } from '../../machines/utf8.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { FoundJobRecord, JobRecords, KeptJobOutput } from '../../actors/subagent/job-records.ts';
import { unlessCode } from '../system/error-codes.ts';
import { isThisProcess, livenessOf, thisProcess } from '../system/process-life.ts';
import { createFile, makeFolder, namesIn, replaceFile, sweepDrafts, syncFolder } from '../system/whole-files.ts';
import type { Writing } from '../system/whole-files.ts';
import { JobNumbers, numberOf } from './job-numbers.ts';

const optionsSchema = z.strictObject({
  /** Such as `<home>/subagents`. Made when the first record is. */
  directory: z.string().min(1),
  /** What a record survives when it is reported as stored. */
  durability: z.enum(['disk', 'os']).default('disk'),
  /**
   * Tells which of the processes that made records live. Default: by their pids, as far as these mean something here.
   */
  hostLife: z
    .custom<HostLife>(
      (value) => typeof (value as Partial<HostLife> | null)?.isAlive === 'function',
      'expected a HostLife',
    )
    .optional(),
  /** Tells how old files are. Default: the system's time. */
  clock: z
    .custom<Pick<Clock, 'now'>>(
      (value) => typeof (value as Partial<Clock> | null)?.now === 'function',
      'expected a clock',
    )
    .optional(),
});

export type FileJobRecordsOptions = z.input<typeof optionsSchema>;

/** @throws RuntimeError category `validation` for options that make no sense */
export function createFileJobRecords(options: FileJobRecordsOptions): JobRecords {
  const {
    directory,
    durability,
    clock = Date,
    hostLife,
  } = parseOrThrow(optionsSchema, options, { what: 'the options of job records', code: 'JOB_RECORDS_OPTIONS' });
  return new FileJobRecords({ directory: resolve(directory), durability, clock, life: hostLife });
}

const unlessMissing = unlessCode('ENOENT');

/**
 * Which process a record belongs to: see ProcessName, and HostLife for the token, which is absent where there can be
 * none.
 */
const recordOwner = z.object({
  pid: z.number().int().positive(),
  began: z.string(),
  system: z.string(),
  token: z.string().optional(),
});

type RecordOwner = Readonly<z.output<typeof recordOwner>>;

interface StoredRecord {
  readonly owner: RecordOwner;
  readonly record: JobRecord;
}

interface UnreadableRecord {
  readonly reason: string;
  readonly isForeign: boolean;
}

const OWNER_NAME = /^agent_\d+\.owner-(?<turn>\d+)$/;
const FIRST_OWNER_TURN = 0;

interface Settings {
  readonly directory: string;
  readonly durability: 'disk' | 'os';
  readonly clock: Pick<Clock, 'now'>;
  readonly life: HostLife | undefined;
}

class FileJobRecords implements JobRecords {
  readonly #directory: string;
  readonly #writing: Writing;
  readonly #numbers: JobNumbers;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #life: HostLife | undefined;
  /** Before the first record of this process: a process that only reads leaves everything as it is. */
  #sweeping: Promise<void> | undefined;

  constructor({ directory, durability, clock, life }: Settings) {
    this.#life = life;
    this.#clock = clock;
    this.#directory = directory;
    this.#writing = { durability };
    this.#numbers = new JobNumbers(directory, this.#writing);
  }

  async create(make: (jobId: string) => JobRecord): Promise<JobRecord> {
    return this.#doing('store a new job', async () => {
      await makeFolder(this.#directory, this.#writing);
      this.#sweeping ??= this.#sweep();
      await this.#sweeping;
      let record: JobRecord | undefined;
      const take = async (number: number): Promise<boolean> => {
        record = make(idOf(number));
        return createFile(this.#pathOf(record.jobId), await this.#textOf(record), this.#writing);
      };
      await this.#numbers.next(take, (number) => rm(this.#pathOf(idOf(number)), { force: true }));
      // The numbers come to an end with a file that was made.
      return record as unknown as JobRecord;
    });
  }

  async write(record: JobRecord): Promise<void> {
    const path = this.#pathOf(record.jobId);
    await this.#doing(`store job ${record.jobId}`, async () => {
      // One that was closed does not come back.
      if ((await stat(path).catch(unlessMissing)) === undefined) return;
      // The stages around an end can be come to again: only the end itself cannot.
      const writing: Writing =
        record.stage === 'ending' || this.#writing.durability === 'os' ? this.#writing : { durability: 'whole' };
      await replaceFile(path, await this.#textOf(record), writing);
    });
  }

  async list(): Promise<readonly FoundJobRecord[]> {
    return this.#doing('list the jobs', async () => {
      const names = await namesIn(this.#directory);
      const ids = names
        .filter((name) => /^agent_\d+\.json$/.test(name) && numberOf(name) > 0)
        .map((name) => name.slice(0, -'.json'.length));
      ids.sort((a, b) => numberOf(a) - numberOf(b));
      const found: FoundJobRecord[] = [];
      for (const jobId of ids) {
        const each = await this.#find(jobId, names);
        if (each !== undefined) found.push(each);
      }
      return found;
    });
  }

  async takeOver(jobId: string): Promise<JobRecord | undefined> {
    return this.#doing(`take over job ${jobId}`, async () => {
      const names = await namesIn(this.#directory);
      const stored = await this.#read(jobId);
      if (stored !== undefined && 'reason' in stored) return this.#setAside(jobId, stored);
      if (stored === undefined || stored.record.stage === 'ended') return undefined;
      const { owner, turn } = await this.#ownerOf(jobId, stored.owner, names);
      // Of one about whom it cannot be told: it may work in another container.
      if ((await livenessOf(owner, this.#life)) !== 'gone') return undefined;
      const claim = this.#ownerPath(jobId, turn + 1);
      if (!(await createFile(claim, JSON.stringify(await this.#owner()), this.#writing))) return undefined;
      // Its owner may have come to its end and cleared away after the read.
      const now = await this.#read(jobId);
      if (now !== undefined && !('reason' in now) && now.record.stage !== 'ended') return now.record;
      await rm(claim, { force: true });
      return undefined;
    });
  }

  async keepOutput(jobId: string, output: string): Promise<KeptJobOutput> {
    const folder = this.#folderOf(jobId);
    return this.#doing(`keep the output of job ${jobId}`, async () => {
      await makeFolder(folder, this.#writing);
      // Its name could be told beforehand.
      if (!(await lstat(folder)).isDirectory()) throw new Error(`expected a folder at ${folder}, found a link`);
      const path = join(folder, 'output.txt');
      await replaceFile(path, output, this.#writing);
      return { path, bytes: utf8Length(output) };
    });
  }

  async remove(jobId: string): Promise<void> {
    const folder = this.#folderOf(jobId);
    await this.#doing(`forget job ${jobId}`, async () => {
      await this.#numbers.mark(numberOf(jobId));
      await rm(this.#pathOf(jobId), { force: true });
      for (const name of await namesIn(this.#directory)) {
        if (OWNER_NAME.test(name) && name.startsWith(`${jobId}.`))
          await rm(join(this.#directory, name), { force: true });
      }
      await rm(folder, { recursive: true, force: true });
      if ((await namesIn(this.#directory)).length > 0) await syncFolder(this.#directory, this.#writing);
    });
  }

  async #find(jobId: string, names: readonly string[]): Promise<FoundJobRecord | undefined> {
    const stored = await this.#read(jobId);
    if (stored === undefined) return undefined;
    if ('reason' in stored) return { kind: 'unreadable', jobId, reason: stored.reason };
    const { owner } = await this.#ownerOf(jobId, stored.owner, names);
    const liveness = isThisProcess(owner)
      ? 'here'
      : (await livenessOf(owner, this.#life)) === 'gone'
        ? 'gone'
        : 'alive';
    return { kind: 'record', record: stored.record, owner: liveness };
  }

  async #sweep(): Promise<void> {
    await sweepDrafts(this.#directory, { nowMs: this.#clock.now() });
  }

  async #setAside(jobId: string, { isForeign }: UnreadableRecord): Promise<undefined> {
    // Another version of this program can read its own.
    if (!isForeign)
      await rename(this.#pathOf(jobId), `${this.#pathOf(jobId)}.${randomUUID()}.unreadable`).catch(unlessMissing);
    return undefined;
  }

  async #read(jobId: string): Promise<StoredRecord | UnreadableRecord | undefined> {
    const text = await readFile(this.#pathOf(jobId), 'utf8').catch(unlessMissing);
    if (text === undefined) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return { reason: messageOf(error), isForeign: false };
    }
    const { owner: givenOwner, record: givenRecord } = (value ?? {}) as {
      readonly owner?: unknown;
      readonly record?: unknown;
    };
    const owner = recordOwner.safeParse(givenOwner);
    const record = jobRecordOf(givenRecord);
    if (owner.success && record?.jobId === jobId) return { owner: owner.data, record };
    const version = (givenRecord as { readonly version?: unknown } | undefined)?.version;
    const isForeign = typeof version === 'number' && version > 1;
    return {
      reason: isForeign ? `it is of version ${version}, which this program does not know` : 'it is no record of a job',
      isForeign,
    };
  }

  /** Whose the record is now, and how often it has changed hands. */
  async #ownerOf(
    jobId: string,
    first: RecordOwner,
    names: readonly string[],
  ): Promise<{ readonly owner: RecordOwner; readonly turn: number }> {
    const turns = names.flatMap((name) =>
      name.startsWith(`${jobId}.`) ? [Number(OWNER_NAME.exec(name)?.groups?.['turn'] ?? 0)] : [],
    );
    const turn = turns.reduce((most, each) => Math.max(most, each), FIRST_OWNER_TURN);
    if (turn === FIRST_OWNER_TURN) return { owner: first, turn };
    const text = await readFile(this.#ownerPath(jobId, turn), 'utf8').catch(unlessMissing);
    // Where it does not say whose it is, it is still its first owner's, whose end is searched for. The next turn goes on
    // from here.
    return { owner: ownerIn(text) ?? first, turn };
  }

  async #textOf(record: JobRecord): Promise<string> {
    return jobRecordText({ owner: await this.#owner(), record });
  }

  /** This process, as those know it who cannot see its pid. */
  async #owner(): Promise<RecordOwner> {
    const token = await this.#life?.token();
    return { ...thisProcess(), ...(token === undefined ? {} : { token }) };
  }

  #pathOf(jobId: string): string {
    return `${this.#folderOf(jobId)}.json`;
  }

  #ownerPath(jobId: string, turn: number): string {
    return `${this.#folderOf(jobId)}.owner-${turn}`;
  }

  #folderOf(jobId: string): string {
    if (/^agent_\d+$/.test(jobId) && numberOf(jobId) > 0) return join(this.#directory, jobId);
    throw new RuntimeError(
      'JOB_ID_INVALID',
      `the id of a job on record is agent_<n>, such as agent_1, got ${JSON.stringify(jobId)}`,
      { category: 'validation', hint: 'Take an id that spawn() or the list of jobs gave.' },
    );
  }

  async #doing<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (RuntimeError.is(error)) throw error;
      throw new RuntimeError('JOB_RECORDS_STORAGE', `could not ${what} in ${this.#directory}: ${messageOf(error)}`, {
        category: 'storage',
        hint: 'See whether the folder can be written and the disk has room.',
        cause: error,
      });
    }
  }
}

function ownerIn(text: string | undefined): RecordOwner | undefined {
  try {
    return text === undefined ? undefined : recordOwner.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function idOf(number: number): string {
  return `agent_${number}`;
}
