/**
 * Records of subagent jobs: files of the home, or rows of a database that many machines share. Opened when the first
 * job is, or when a caller asks for those of others.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, TimerHandle } from '../actors/clock/clock.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { SessionWorker } from '../actors/session/session-worker.ts';
import type { JobRecords } from '../actors/subagent/job-records.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { isInhabited } from '../adapters/system/whole-files.ts';
import type { NodeStore } from './node-store.ts';

const JOBS_FOLDER = 'subagents';

/** How often a worker searches for jobs of machines that do not come back, in milliseconds. */
const CHECK_EVERY_MS = 60_000;

export interface NodeJobsParts {
  readonly layout: HomeLayout;
  readonly clock: Clock;
  readonly hostLife: HostLife;
  /** Undefined: no other machine shares them. */
  readonly shared: NodeStore['jobs'];
}

export interface NodeJobRecords extends JobRecords {
  close(): Promise<void>;
}

export function nodeJobRecords({ layout, clock, hostLife, shared }: NodeJobsParts): NodeJobRecords {
  const directory = join(layout.home, JOBS_FOLDER);
  let opened: Promise<JobRecords & { close?(): Promise<void> }> | undefined;
  const open = async (): Promise<JobRecords & { close?(): Promise<void> }> => {
    const { createFileJobRecords } = await import('../adapters/subagent-files/file-job-records.ts');
    const files = createFileJobRecords({ directory, clock, hostLife });
    if (shared === undefined) return files;
    const { hostOfHome } = await import('../adapters/workspace-copy-files/host-id.ts');
    return shared({ place: (await hostOfHome(layout.home)).id, machine: hostname(), hostLife, outputs: files });
  };
  const records = (): Promise<JobRecords> => (opened ??= open());
  return {
    create: async (make) => (await records()).create(make),
    write: async (record) => (await records()).write(record),
    list: async () =>
      opened !== undefined || shared !== undefined || (await isInhabited(directory)) ? (await records()).list() : [],
    takeOver: async (jobId) => (await records()).takeOver(jobId),
    keepOutput: async (jobId, output) => (await records()).keepOutput(jobId, output),
    remove: async (jobId) => (await records()).remove(jobId),
    close: async () => (await opened)?.close?.(),
  };
}

/**
 * Settles jobs of machines that do not come back for as long as the worker works: no process starts anew on theirs,
 * which would do it.
 */
export function tendJobs(
  worker: SessionWorker,
  {
    clock,
    reconcile,
    onTrouble,
  }: {
    readonly clock: Clock;
    readonly reconcile: () => Promise<unknown>;
    readonly onTrouble: (error: unknown) => void;
  },
): void {
  let timer: TimerHandle | undefined;
  let hasEnded = false;
  const check = async (): Promise<void> => {
    await reconcile().catch(onTrouble);
    if (!hasEnded) arm();
  };
  const arm = (): void => {
    timer = clock.setTimeout(() => void check(), CHECK_EVERY_MS);
  };
  const end = (): void => {
    hasEnded = true;
    clock.clearTimeout(timer);
  };
  arm();
  worker.ended.then(end, end);
}
