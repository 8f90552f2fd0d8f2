/**
 * The books of the jobs that this process runs: a job is entered before its caller is told that it was accepted, and
 * its end is stored and told to the session it works for before any listener hears of it. Each end counts once, the
 * first one.
 */
import { messageOf } from '../../machines/errors.ts';
import { JOB_RECORD_VERSION } from '../../machines/subagent/job-record.ts';
import type { JobRecord } from '../../machines/subagent/job-record.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import { Mutex } from '../concurrency/mutex.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { endedTask } from './job-end.ts';
import type { JobRecords } from './job-records.ts';
import { endedJobOf, startedJobOf } from './job-words.ts';
import type { SubagentLog } from './subagent-log.ts';

export interface JobLedgerOptions {
  readonly records?: JobRecords | undefined;
  readonly log?: SubagentLog | undefined;
  /** The next id, where no records give it. */
  readonly nextId: () => string;
  readonly report: OnListenerError;
}

interface Entry {
  record: JobRecord;
  /** What is written of one job is written one after the other. */
  readonly mutex: Mutex;
  settled: Promise<readonly string[]> | undefined;
}

export class JobLedger {
  readonly #options: JobLedgerOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: JobLedgerOptions) {
    this.#options = options;
  }

  /**
   * Enters a job. Rejects, and nothing of it is left, when that cannot be stored. @param viewOf the task that it is,
   * which waits
   */
  async open(request: AgentTaskRequest, viewOf: (jobId: string) => BackgroundTaskState): Promise<string> {
    const { records, nextId } = this.#options;
    const make = (jobId: string): JobRecord => {
      const task = viewOf(jobId);
      return { version: JOB_RECORD_VERSION, jobId, stage: 'accepted', acceptedAt: task.updatedAt, request, task };
    };
    const record = records === undefined ? make(nextId()) : await records.create(make);
    this.#entries.set(record.jobId, { record, mutex: new Mutex(), settled: undefined });
    try {
      await this.#options.log?.started(startedJobOf(record));
    } catch (error) {
      await this.withdraw(record.jobId, error);
      throw error;
    }
    return record.jobId;
  }

  /**
   * Strikes out a job that was not started, and so was never accepted. What the log of its session has heard of it ends
   * there.
   */
  async withdraw(jobId: string, because: unknown): Promise<void> {
    const entry = this.#entries.get(jobId);
    if (entry === undefined) return;
    this.#entries.delete(jobId);
    const { log, records, report } = this.#options;
    const { task } = entry.record;
    const ended = endedTask(
      task,
      { kind: 'failed', error: BackgroundTaskError.from(because, 'runner') },
      task.updatedAt,
    );
    try {
      await log?.ended(endedJobOf(ended));
    } catch (error) {
      report(error, 'event_sink');
    }
    try {
      await records?.remove(jobId);
    } catch (error) {
      // The next start settles it.
      report(error, 'event_sink');
    }
  }

  has(jobId: string): boolean {
    return this.#entries.has(jobId);
  }

  /**
   * Stores where the work of a job lies as soon as that is known, and what becomes of that after its end. In between
   * its end says it.
   */
  async note(jobId: string, known: Partial<BackgroundTaskState>): Promise<void> {
    const entry = this.#entries.get(jobId);
    if (entry === undefined) return;
    if (entry.settled === undefined && entry.record.task.worktreePath === known.worktreePath) return;
    entry.record = { ...entry.record, task: { ...entry.record.task, ...known } };
    try {
      await entry.mutex.run(async () => this.#options.records?.write(entry.record));
    } catch (error) {
      this.#options.report(error, 'event_sink');
    }
  }

  /**
   * Stores how a job ended. The first end counts. Never rejects.
   * @returns what went wrong with storing it, in words
   */
  settle(jobId: string, task: BackgroundTaskState): Promise<readonly string[]> {
    const entry = this.#entries.get(jobId);
    if (entry === undefined) return Promise.resolve([]);
    entry.settled ??= this.#settle(entry, task);
    return entry.settled;
  }

  isSettling(jobId: string): boolean {
    return this.#entries.get(jobId)?.settled !== undefined;
  }

  /** Resolves when all that a job is owed has been done, or has failed. */
  async whenSettled(jobId: string): Promise<void> {
    await this.#entries.get(jobId)?.settled;
  }

  async whenAllSettled(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((jobId) => this.whenSettled(jobId)));
  }

  /** The job's end as it is on record; undefined while there is none. */
  endOf(jobId: string): BackgroundTaskState | undefined {
    const record = this.#entries.get(jobId)?.record;
    return record === undefined || record.stage === 'accepted' ? undefined : record.task;
  }

  /** Does again what failed when jobs of this process ended. @returns the jobs whose end is whole now */
  async retry(): Promise<readonly string[]> {
    const done: string[] = [];
    for (const [jobId, entry] of this.#entries) {
      if (entry.settled === undefined) continue;
      await entry.settled;
      if (entry.record.stage === 'ended') continue;
      entry.settled = this.#finish(entry, entry.record.task);
      if ((await entry.settled).length === 0) done.push(jobId);
    }
    return done;
  }

  /** Forgets a job that has ended. @throws what its storage throws: it is still there then */
  async close(jobId: string): Promise<void> {
    const entry = this.#entries.get(jobId);
    await entry?.settled;
    if (entry?.record.stage === 'ending') {
      entry.settled = this.#finish(entry, entry.record.task);
      const [problem] = await entry.settled;
      if (problem !== undefined) throw new Error(`the end of job ${jobId} cannot be stored: ${problem}`);
    }
    await this.#options.records?.remove(jobId);
    this.#entries.delete(jobId);
  }

  #settle(entry: Entry, task: BackgroundTaskState): Promise<readonly string[]> {
    entry.record = { ...entry.record, stage: 'ending', task };
    const { records, log } = this.#options;
    return records === undefined && log === undefined ? this.#settledAtOnce(entry) : this.#finish(entry, task);
  }

  #settledAtOnce(entry: Entry): Promise<readonly string[]> {
    entry.record = { ...entry.record, stage: 'ended' };
    return Promise.resolve([]);
  }

  /** Stored whole, then told, then done with: a process that finds it halfway goes on from there. */
  async #finish(entry: Entry, task: BackgroundTaskState): Promise<readonly string[]> {
    const { records, log } = this.#options;
    const problems: string[] = [];
    const attempt = async (what: string, work: () => Promise<unknown> | void): Promise<void> => {
      try {
        await work();
      } catch (error) {
        problems.push(`${what}: ${messageOf(error)}`);
        this.#options.report(error, 'event_sink');
      }
    };
    await entry.mutex.run(async () => {
      await attempt('its end could not be stored', () => records?.write(entry.record));
      await attempt('the log of its session could not be told of its end', () => log?.ended(endedJobOf(task)));
      if (problems.length > 0) return;
      const ended: JobRecord = { ...entry.record, stage: 'ended' };
      await attempt('that its end is stored could not be stored', () => records?.write(ended));
      // What was noted meanwhile is in it already, and is written next.
      if (problems.length === 0) entry.record = { ...entry.record, stage: 'ended' };
    });
    return problems;
  }
}
