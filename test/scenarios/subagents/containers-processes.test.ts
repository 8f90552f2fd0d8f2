/**
 * Two containers over one home: neither takes the jobs of the other for dead while it works, and both know when it is.
 */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aftermathOf, doctorFindings, logOf } from './aftermath.ts';
import { startHost } from './host-process.ts';
import type { HostProcess } from './host-process.ts';
import { allMarked, jobFor, jobSetup, lingering } from './job-setup.ts';
import type { JobSetup } from './job-setup.ts';
import { until } from '../../support/session-setup.ts';
import { ALL_KINDS } from './kinds-of-work.ts';

const TIMEOUT_MS = 120_000;
/** What sets a container apart here: its own pids, of which it shows no others. */
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const KINDS = ALL_KINDS.slice(0, 3);

function canHaveContainers(): boolean {
  const [program, ...flags] = CONTAINER;
  try {
    execFileSync(program, [...flags, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write(`subagents: ${CONTAINER.join(' ')} does not work here, so nobody tests jobs in containers\n`);
    return false;
  }
}

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

describe.runIf(canHaveContainers())('jobs in a container', { timeout: TIMEOUT_MS }, () => {
  it('are left alone by who starts elsewhere while it runs, and settled when it does not', async () => {
    for (const kind of KINDS) await setup.agent(kind.name, [lingering(kind, setup.marks), { text: 'Never said.' }]);
    const host = startHost(setup, {
      requests: KINDS.map((kind) => jobFor(setup, kind.name, parentId)),
      through: CONTAINER,
    });
    hosts.push(host);
    await allMarked(setup, KINDS);
    const work = [...host.jobIds()].map(([index, jobId]) => ({ jobId, kind: KINDS[index]! }));

    const beside = startHost(setup, { through: CONTAINER });
    hosts.push(beside);
    const fromInside = (await beside.until(({ opened }) => opened !== undefined)).opened;
    await beside.end();
    const runtime = await setup.open();
    const fromOutside = await runtime.reconcile();
    for (const found of [fromInside, fromOutside]) {
      expect(
        found?.jobs
          .map(({ jobId, action }) => ({ jobId, action }))
          .toSorted((one, other) => (one.jobId < other.jobId ? -1 : 1)),
      ).toEqual(
        work
          .map(({ jobId }) => ({ jobId, action: 'left' }))
          .toSorted((one, other) => (one.jobId < other.jobId ? -1 : 1)),
      );
      expect(new Set(found?.worktrees.map(({ action }) => action))).toEqual(new Set(['left']));
    }
    expect((await logOf(runtime, parentId)).filter(({ type }) => type === 'subagent.ended')).toEqual([]);
    await runtime.shutdown();

    await host.cutPower();
    await setup.open();
    // Its container may take a moment longer to go than whoever started it, and is alive until then.
    await until(async () => {
      const { jobs, worktrees } = await setup.runtime.reconcile();
      return [...jobs, ...worktrees].every(({ action }) => action !== 'left');
    });
    expect(await aftermathOf(setup, parentId, work, { status: 'failed', timeoutReason: 'stale_worker' })).toEqual([]);
    await setup.runtime.shutdown();
    expect(await doctorFindings(setup)).toEqual([]);
  });
});
