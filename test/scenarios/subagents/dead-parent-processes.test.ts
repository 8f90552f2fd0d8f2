/**
 * The process that had the jobs is killed, alone or with everything at once: the next one on the home finds every job
 * and all of its work.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/processes/chaos-runtime.mjs';
import { aftermathOf, doctorFindings } from './aftermath.ts';
import type { EndedWork } from './aftermath.ts';
import { startHost } from './host-process.ts';
import type { HostProcess, HostSettings } from './host-process.ts';
import { allMarked, jobFor, jobSetup, lingering, working } from './job-setup.ts';
import type { JobSetup } from './job-setup.ts';
import { ALL_KINDS } from './kinds-of-work.ts';
import type { KindOfWork } from './kinds-of-work.ts';

const TIMEOUT_MS = 240_000;
const STALE = { status: 'failed', timeoutReason: 'stale_worker' } as const;

let setup: JobSetup;
let parentId: string;
let hosts: HostProcess[];
beforeEach(async () => {
  setup = await jobSetup();
  hosts = [];
  const runtime = await setup.open();
  parentId = await setup.parent();
  await runtime.shutdown();
});
afterEach(async () => {
  for (const host of hosts) await host.cutPower();
  await setup.remove();
});

function openHost(settings?: HostSettings): HostProcess {
  const started = startHost(setup, settings);
  hosts.push(started);
  return started;
}

/** A process whose jobs have done work of these kinds, and are at it still. */
async function hostWithJobs(
  kinds: readonly KindOfWork[],
  warmWorkers = 0,
): Promise<{ readonly host: HostProcess; readonly work: EndedWork[] }> {
  for (const kind of kinds) await setup.agent(kind.name, [lingering(kind, setup.marks), { text: 'Never said.' }]);
  const started = openHost({
    requests: kinds.map((kind) => jobFor(setup, kind.name, parentId)),
    subagents: { warmWorkers },
  });
  await allMarked(setup, kinds);
  const work = [...started.jobIds()].map(([index, jobId]) => ({ jobId, kind: kinds[index]! }));
  expect(work).toHaveLength(kinds.length);
  return { host: started, work };
}

describe('jobs of a process that was killed', { timeout: TIMEOUT_MS }, () => {
  it('are settled by the next start, work of every kind is kept, and no process is left', async () => {
    const { host: killed, work } = await hostWithJobs(ALL_KINDS, 1);
    await killed.kill();
    await setup.open();
    expect(await aftermathOf(setup, parentId, work, STALE)).toEqual([]);
    await setup.runtime.shutdown();
    expect(await doctorFindings(setup)).toEqual([]);
  });

  it('are settled once by two processes that start at the same time', async () => {
    const kinds = ALL_KINDS.slice(0, 8);
    const { host: killed, work } = await hostWithJobs(kinds);
    await killed.kill();
    const both = [openHost(), openHost()];
    const reports = await Promise.all(both.map((each) => each.until(({ opened }) => opened !== undefined)));
    const settled = reports
      .flatMap(({ opened }) => opened?.jobs ?? [])
      .filter(({ action }) => action === 'settled' || action === 'finished');
    expect(settled.map(({ jobId }) => jobId).toSorted()).toEqual(work.map(({ jobId }) => jobId).toSorted());
    await Promise.all(both.map((each) => each.end()));
    await setup.open();
    expect(await aftermathOf(setup, parentId, work, STALE)).toEqual([]);
    await setup.runtime.shutdown();
    expect(await doctorFindings(setup)).toEqual([]);
  });

  it('that were waiting for their turn are told to have never begun', async () => {
    const kinds = ALL_KINDS.slice(0, 4);
    for (const kind of kinds) await setup.agent(kind.name, [lingering(kind, setup.marks)]);
    const killed = openHost({
      requests: kinds.map((kind) => jobFor(setup, kind.name, parentId)),
      subagents: { limits: { maxConcurrent: 1 } },
    });
    await killed.until(() => killed.jobIds().size === kinds.length);
    while (!kinds.some(({ name }) => existsSync(join(setup.marks, name))))
      await new Promise((resolve) => setTimeout(resolve, 10));
    await killed.kill();
    await setup.open();
    const work = [...killed.jobIds()].map(([index, jobId]) => ({
      jobId,
      kind: kinds[index]!,
      isDone: existsSync(join(setup.marks, kinds[index]!.name)),
    }));
    expect(await aftermathOf(setup, parentId, work, STALE)).toEqual([]);
    await setup.runtime.shutdown();
    expect(await doctorFindings(setup)).toEqual([]);
  });
});

describe('when the power goes', { timeout: TIMEOUT_MS }, () => {
  /** Short jobs of every kind, some of which run while others wait and others have ended. */
  async function begin(): Promise<HostProcess> {
    for (const kind of ALL_KINDS)
      await setup.agent(kind.name, [working(kind, setup.marks), { text: 'Done.', delayMs: 50 }]);
    return openHost({
      requests: ALL_KINDS.map((kind) => jobFor(setup, kind.name, parentId)),
      subagents: { limits: { maxConcurrent: 4, maxJobsPerParent: 64 }, warmWorkers: 2 },
    });
  }

  /** What the jobs have come to by the files that are there now. */
  const workOf = (jobIds: ReadonlyMap<number, string>): EndedWork[] =>
    [...jobIds].map(([index, jobId]) => ({
      jobId,
      kind: ALL_KINDS[index]!,
      isDone: existsSync(join(setup.marks, ALL_KINDS[index]!.name)),
    }));

  /** Lets the jobs run to a moment that the seed names, as far as a machine can be told. */
  async function someMoment(seed: number): Promise<HostProcess> {
    const host = await begin();
    const next = seededRandom(seed);
    const lines = Math.floor(next() * 100);
    await host.until(() => host.lines.length > lines);
    await new Promise((resolve) => setTimeout(resolve, next() * 50));
    return host;
  }

  async function expectAllThere(dead: HostProcess): Promise<void> {
    await setup.open();
    expect(await aftermathOf(setup, parentId, workOf(dead.jobIds()), { status: ['completed', 'failed'] })).toEqual([]);
    await setup.runtime.shutdown();
    expect(await doctorFindings(setup)).toEqual([]);
  }

  it.each([11, 22, 33, 44])(
    'at some moment, every job that was accepted is there, and what it had done (seed %i)',
    async (seed) => {
      const host = await someMoment(seed);
      await host.cutPower();
      await expectAllThere(host);
    },
  );

  it.each([55, 66])(
    'for the process that had the jobs, and its workers live on for a moment, it is all the same there (seed %i)',
    async (seed) => {
      const host = await someMoment(seed);
      await host.kill();
      await expectAllThere(host);
    },
  );

  it('copies of the home and the repository, taken at moments while jobs run, have it all', async () => {
    const next = seededRandom(5);
    const running = await begin();
    const copies: { readonly folder: string; readonly jobIds: ReadonlyMap<number, string> }[] = [];
    for (let taken = 0; taken < 4; taken += 1) {
      const lines = running.lines.length + Math.floor(next() * 25);
      await running.until(() => running.lines.length > lines);
      await running.frozen(async () => {
        const folder = join(setup.folder, `copy-${taken}`);
        for (const name of ['home', 'repository', 'marks']) copyWhole(join(setup.folder, name), join(folder, name));
        copies.push({ folder, jobIds: running.jobIds() });
      });
    }
    await running.cutPower();
    for (const { folder, jobIds } of copies) {
      for (const name of ['home', 'repository', 'marks']) {
        await rm(join(setup.folder, name), { recursive: true });
        copyWhole(join(folder, name), join(setup.folder, name));
      }
      const runtime = await setup.open();
      expect(
        await aftermathOf(setup, parentId, workOf(jobIds), { status: ['completed', 'failed'], mayKeepClean: true }),
      ).toEqual([]);
      await runtime.shutdown();
    }
  });
});

/** With the times of its files, which say what was changed. */
function copyWhole(from: string, to: string): void {
  execFileSync('mkdir', ['-p', join(to, '..')]);
  execFileSync('cp', ['-a', from, to]);
}
