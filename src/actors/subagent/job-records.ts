/**
 * The port to what is kept of jobs beyond their process. One home serves any number of processes, and one database any
 * number of homes: ids are unique over all of them, since the logs of sessions name jobs by them, and a record belongs
 * to the process that made it, until that is gone and another takes it over.
 */
import type { JobRecord } from '../../machines/subagent/job-record.ts';

export interface JobRecords {
  /**
   * Stores a new record under the next id, `agent_<n>`, which no job has had before. Resolves when it is durable.
   * @param make called with the id; again with another one when another process was faster
   */
  create(make: (jobId: string) => JobRecord): Promise<JobRecord>;
  /**
   * Puts the record where the one of that job is, all at once. Resolves when it is durable; for a stage other than
   * `ending` a power failure may bring the one before back.
   */
  write(record: JobRecord): Promise<void>;
  /** Every record that is there, oldest first. Changes nothing. */
  list(): Promise<readonly FoundJobRecord[]>;
  /**
   * Makes the record of a process that is gone this process's own. Of several that try, one does. One that cannot be
   * read is set aside.
   * @returns the record as it is now; undefined when it is not to be had: its owner lives, another process has it, or
   * it is gone
   */
  takeOver(jobId: string): Promise<JobRecord | undefined>;
  /** Keeps an output that is too large to be handed around. */
  keepOutput(jobId: string, output: string): Promise<KeptJobOutput>;
  /** Forgets a job with everything kept of it. Its id is not given again. Idempotent. */
  remove(jobId: string): Promise<void>;
}

export type FoundJobRecord =
  /** `here`: this process. `gone`: the process that had it does not live any more. */
  | {
      readonly kind: 'record';
      readonly record: JobRecord;
      readonly owner: 'here' | 'alive' | 'gone';
      /**
       * The machine, for people, where it is another one: what the job worked in lies there, and cannot be seen from
       * here.
       */
      readonly elsewhere?: string | undefined;
    }
  /** It stays where it is, or aside of it: never deleted. */
  | { readonly kind: 'unreadable'; readonly jobId: string; readonly reason: string };

export interface KeptJobOutput {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}
