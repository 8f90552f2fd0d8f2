/**
 * The gate for new jobs: how many there may be, how deep and how wide, and which parents take no more. What is let in
 * counts until it is released.
 */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { deferred } from '../concurrency/deferred.ts';
import { tooDeep, tooManyJobs, tooManyOfParent, tooManyPending } from '../../machines/subagent/subagent-limits.ts';
import type { SubagentLimits } from '../../machines/subagent/subagent-limits.ts';

export interface JobPlace {
  /** The session that does its work. */
  readonly sessionId: string;
  readonly parentJobId: string | undefined;
  readonly parentSessionId: string | undefined;
  readonly depth: number;
}

/** What jobs may stand below: a job with the session that does its work, or a session. */
export interface JobAbove {
  readonly jobId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** A job that was let in. */
export interface AdmittedJob extends JobPlace {
  /** Known once its record is there. */
  jobId: string | undefined;
  /** Why it must not be started any more; undefined while it may. */
  refusal: BackgroundTaskError | undefined;
  /** Resolves when its spawn has come to an end, one way or the other. */
  readonly spawned: Promise<void>;
  /** Says that it has. */
  readonly onSpawned: () => void;
  /** It does not count any more. Idempotent. */
  readonly release: () => void;
}

export class JobAdmission {
  readonly #limits: SubagentLimits;
  readonly #living = new Set<AdmittedJob>();
  /** By the parents that they count for. */
  readonly #ofParent = new Map<string, number>();
  /** By every job and session that they work for. */
  readonly #under = new Map<string, Set<AdmittedJob>>();
  /** Those whose spawn is under way. */
  readonly #spawning = new Set<AdmittedJob>();
  /** Parents that are being ended. */
  readonly #closed = new Set<string>();

  constructor(limits: SubagentLimits) {
    this.#limits = limits;
  }

  /** @throws BackgroundTaskError `capacity` beyond a limit, `validation` under a parent that is being ended */
  admit(place: JobPlace): AdmittedJob {
    const { maxDepth, maxJobs, maxConcurrent, maxPending } = this.#limits;
    if (place.depth > maxDepth) throw tooDeep(place.depth, maxDepth);
    if (keysOf(place).some((key) => this.#closed.has(key))) throw parentEnded(place.parentJobId);
    if (this.#living.size >= maxJobs) throw tooManyJobs(this.#living.size, maxJobs);
    const pending = Math.max(0, this.#living.size - maxConcurrent);
    if (this.#living.size >= maxConcurrent + maxPending) throw tooManyPending(pending, maxPending);
    const parent = parentOf(place);
    if (parent !== undefined) this.#countFor(parent);
    return this.#entered(place, parent);
  }

  /** No job is let in under this one, or for its session, until `reopen`; those on their way in are refused. */
  close(above: JobAbove): void {
    for (const key of keysUnder(above)) this.#closed.add(key);
    for (const job of this.below(above)) if (this.#spawning.has(job)) job.refusal ??= parentEnded(above.jobId);
  }

  /** It has ended; a caller that checks finds that out by itself. */
  reopen(above: JobAbove): void {
    for (const key of keysUnder(above)) this.#closed.delete(key);
  }

  /** Every living job below this one or below this session, however deep. */
  below(above: JobAbove): readonly AdmittedJob[] {
    const found = new Set<AdmittedJob>();
    const check = (each: JobAbove): void => {
      for (const key of keysUnder(each)) {
        for (const job of this.#under.get(key) ?? []) {
          if (found.has(job)) continue;
          found.add(job);
          check(job);
        }
      }
    };
    check(above);
    return [...found];
  }

  /** Every living job. */
  all(): readonly AdmittedJob[] {
    return [...this.#living];
  }

  #countFor(parent: string): void {
    const { maxJobsPerParent } = this.#limits;
    const live = this.#ofParent.get(parent) ?? 0;
    if (live >= maxJobsPerParent) throw tooManyOfParent(parent, live, maxJobsPerParent);
    this.#ofParent.set(parent, live + 1);
  }

  #entered(place: JobPlace, parent: string | undefined): AdmittedJob {
    const { promise: spawned, resolve } = deferred<void>();
    const job: AdmittedJob = {
      ...place,
      jobId: undefined,
      refusal: undefined,
      spawned,
      onSpawned: () => {
        this.#spawning.delete(job);
        resolve();
      },
      release: () => {
        if (!this.#living.delete(job)) return;
        for (const key of keysOf(job)) leave(this.#under, key, job);
        if (parent === undefined) return;
        const left = (this.#ofParent.get(parent) ?? 1) - 1;
        if (left === 0) this.#ofParent.delete(parent);
        else this.#ofParent.set(parent, left);
      },
    };
    this.#living.add(job);
    this.#spawning.add(job);
    for (const key of keysOf(job)) this.#under.set(key, (this.#under.get(key) ?? new Set<AdmittedJob>()).add(job));
    return job;
  }
}

function keysOf({
  parentJobId,
  parentSessionId,
}: Pick<JobPlace, 'parentJobId' | 'parentSessionId'>): readonly string[] {
  return [
    ...(parentJobId === undefined ? [] : [`job ${parentJobId}`]),
    ...(parentSessionId === undefined ? [] : [`session ${parentSessionId}`]),
  ];
}

function keysUnder({ jobId, sessionId }: JobAbove): readonly string[] {
  return keysOf({ parentJobId: jobId, parentSessionId: sessionId });
}

function leave(under: Map<string, Set<AdmittedJob>>, key: string, job: AdmittedJob): void {
  const jobs = under.get(key);
  jobs?.delete(job);
  if (jobs?.size === 0) under.delete(key);
}

/** Jobs for which no parent is named have none. */
function parentOf({ parentJobId, parentSessionId }: JobPlace): string | undefined {
  if (parentJobId !== undefined) return `job ${parentJobId}`;
  return parentSessionId === undefined ? undefined : `session ${parentSessionId}`;
}

export function parentEnded(parentJobId: string | undefined): BackgroundTaskError {
  const parent = parentJobId === undefined ? 'the job that this session works for' : `job ${parentJobId}`;
  return new BackgroundTaskError('validation', `${parent} has ended or is being ended, and starts no more jobs`, {
    code: 'SUBAGENT_PARENT_ENDED',
    hint: 'Start the job without a parent if it is to outlive that one.',
    ...(parentJobId === undefined ? {} : { details: { parentJobId } }),
  });
}
