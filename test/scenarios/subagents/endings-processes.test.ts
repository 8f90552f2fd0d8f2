/**
 * Every kind of work at every ending of a job, with real git and real workers: what the agent did is still there, what
 * it did not do leaves nothing.
 */
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import { git, pasted } from '../../adapters/git/git-setup.ts';
import { aftermathOf, doctorFindings, logOf } from './aftermath.ts';
import type { EndedWork, Expectation } from './aftermath.ts';
import { allMarked, jobFor, jobSetup, lingering, working } from './job-setup.ts';
import type { JobSetup } from './job-setup.ts';
import { ALL_KINDS, DIRTY } from './kinds-of-work.ts';
import type { KindOfWork } from './kinds-of-work.ts';
import { createLeapingClock } from './leaping-clock.ts';
import type { LeapingClock } from './leaping-clock.ts';

const TIMEOUT_MS = 300_000;
const HOUR_MS = 3_600_000;

let setup: JobSetup;
let clock: LeapingClock;
let parentId: string;
beforeEach(async () => {
  setup = await jobSetup();
  clock = createLeapingClock();
  await setup.open({ clock });
  parentId = await setup.parent();
});
afterEach(() => setup.remove());

type Steps = (kind: KindOfWork) => readonly object[];

type More = (kind: KindOfWork) => Partial<SubagentSpawnRequest>;

/** One job of each kind, all at once. */
async function spawnAll(steps: Steps, more: More = () => ({})): Promise<EndedWork[]> {
  const work: EndedWork[] = [];
  for (const kind of ALL_KINDS) {
    await setup.agent(kind.name, steps(kind));
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, kind.name, parentId, more(kind)));
    work.push({ jobId: id, kind });
  }
  return work;
}

const linger: Steps = (kind) => [lingering(kind, setup.marks), { text: 'Never said.' }];

/** Until each has done its work, and is at it still. */
async function spawnLingering(more?: More): Promise<EndedWork[]> {
  const work = await spawnAll(linger, more);
  await allMarked(setup, ALL_KINDS);
  return work;
}

/** Of which kinds the work is gone when other jobs have gone on in its worktrees, and could do nothing. */
async function lostByOthersIn(work: readonly EndedWork[]): Promise<string[]> {
  const others: EndedWork[] = [];
  for (const { jobId, kind } of work) {
    const sessionId = String(setup.runtime.subagents.get(jobId)?.metadata?.['wakechart.sessionId']);
    await setup.agent(kind.name, [{ error: { kind: 'auth', message: 'no key' } }]);
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, kind.name, parentId, { sessionId }));
    others.push({ jobId: id, kind });
  }
  await allEnded(others);
  const isLost = ({ jobId, kind }: EndedWork): boolean => {
    const { worktreePath = '', branchName = '' } = setup.runtime.subagents.get(jobId) ?? {};
    return !kind.isThere({ worktreePath, branchName, repository: setup.repository });
  };
  return others
    .filter(({ kind }) => DIRTY.includes(kind))
    .filter(isLost)
    .map(({ kind }) => kind.name);
}

const allEnded = (work: readonly EndedWork[]): Promise<unknown> =>
  Promise.allSettled(work.map(({ jobId }) => setup.runtime.subagents.wait(jobId)));

async function expectAftermath(work: readonly EndedWork[], expected: Expectation): Promise<void> {
  expect(await aftermathOf(setup, parentId, work, expected)).toEqual([]);
  await setup.runtime.shutdown();
  expect(await doctorFindings(setup)).toEqual([]);
}

describe('work of every kind in worktrees', { timeout: TIMEOUT_MS }, () => {
  it('is kept when the jobs complete, and when others go on in their worktrees; what is committed comes home; what is not kept is missed', async () => {
    const work = await spawnAll((kind) => [working(kind, setup.marks), { text: 'Done.' }]);
    await allEnded(work);
    const job = setup.runtime.subagents.get(work.find(({ kind }) => kind.name === 'commits')?.jobId ?? '');
    expect(job).toMatchObject({ result: 'Done.', worktreeStatus: 'preserved' });
    await expectAftermath(work, { status: 'completed' });

    await setup.open();
    expect(await lostByOthersIn(work)).toEqual([]);
    expect(await setup.runtime.worktrees?.list()).toHaveLength(DIRTY.length);

    const merge = /: (?<command>git .* merge .*)$/m.exec(job?.worktreeNextAction ?? '')?.groups?.['command'];
    pasted(merge ?? 'false', '/');
    expect(pasted('cat new.txt', setup.repository)).toBe('work\n');

    for (const { jobId } of work)
      await rm(setup.runtime.subagents.get(jobId)?.worktreePath ?? '', { recursive: true, force: true });
    git(setup.repository, 'stash', 'clear');
    const wrong = await aftermathOf(setup, parentId, work, { status: 'completed' });
    const missed = DIRTY.filter(({ name }) =>
      wrong.some((complaint) => complaint.startsWith(`${name} `) && complaint.endsWith('its work is lost')),
    );
    const kept = DIRTY.filter((kind) => !missed.includes(kind)).map(({ name }) => name);
    expect(kept).toEqual(['commits', 'branches']);
  });

  it('is kept when the jobs fail', async () => {
    const work = await spawnAll((kind) => [
      working(kind, setup.marks),
      { error: { kind: 'refusal', message: 'I will not.' } },
    ]);
    await allEnded(work);
    await expectAftermath(work, { status: 'failed' });
  });

  it('is kept when the jobs are cancelled in the middle of a command', async () => {
    const work = await spawnLingering();
    await Promise.all(work.map(({ jobId }) => setup.runtime.subagents.cancel(jobId, 'enough')));
    await expectAftermath(work, { status: 'cancelled' });
  });

  it('is kept when the watchdog trips, whichever of its limits is reached', async () => {
    const limits = { idle: { idleTimeoutMs: HOUR_MS }, max_runtime: { maxRuntimeMs: HOUR_MS, idleTimeoutMs: 0 } };
    const reasons = Object.keys(limits) as (keyof typeof limits)[];
    const reasonOf = (kind: KindOfWork) => reasons[ALL_KINDS.indexOf(kind) % reasons.length]!;
    const work = await spawnLingering((kind) => limits[reasonOf(kind)]);
    clock.leap(HOUR_MS + 1);
    await allEnded(work);
    const tripped = work.map(({ jobId }) => setup.runtime.subagents.get(jobId)?.timeoutReason);
    expect(tripped).toEqual(work.map(({ kind }) => reasonOf(kind)));
    await expectAftermath(work, { status: 'failed' });
  });

  it('is kept when the workers are killed', async () => {
    const work = await spawnLingering();
    for (const { jobId } of work) process.kill(setup.runtime.subagents.get(jobId)?.pid ?? Number.NaN, 'SIGKILL');
    await allEnded(work);
    expect(setup.runtime.subagents.get(work[0]?.jobId ?? '')?.failure).toMatchObject({
      category: 'crash',
      details: { signal: 'SIGKILL' },
    });
    expect(await aftermathOf(setup, parentId, work, { status: 'failed' })).toEqual([]);
    // The dead workers' notes of their commands, which are gone as well, are cleared by the next start.
    await setup.runtime.reconcile();
    await expectAftermath(work, { status: 'failed' });
  });

  it('is kept when the session they work for is terminated', async () => {
    const work = await spawnLingering();
    await setup.runtime.sessions.terminate(parentId, { reason: 'over' });
    expect(
      work.map(({ jobId }) => setup.runtime.subagents.get(jobId)).filter((job) => job?.status !== 'cancelled'),
    ).toEqual([]);
    await expectAftermath(work, { status: 'cancelled' });
  });

  it('is kept when the runtime shuts down', async () => {
    const work = await spawnLingering();
    await setup.runtime.shutdown();
    await setup.open();
    await expectAftermath(work, { status: 'cancelled' });
  });

  it('is kept when the jobs run in this process, and are cancelled', async () => {
    await setup.open({ maxConcurrentTasks: ALL_KINDS.length });
    const work = await spawnLingering(() => ({ run: 'in-process' }));
    await Promise.all(work.map(({ jobId }) => setup.runtime.subagents.cancel(jobId, 'enough')));
    await expectAftermath(work, { status: 'cancelled' });
  });
});

describe('a job that cannot start', { timeout: TIMEOUT_MS }, () => {
  const NOTHING: KindOfWork = { name: 'nothing', command: 'true', finding: undefined, isThere: () => true };

  it('leaves nothing where there is no repository', async () => {
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, 'parent', parentId, { cwd: setup.marks }));
    await expect(setup.runtime.subagents.wait(id)).rejects.toMatchObject({ code: 'WORKTREE_NOT_A_REPOSITORY' });
    await expectAftermath([{ jobId: id, kind: NOTHING, isDone: false }], { status: 'failed' });
  });

  it('leaves nothing where there is no such agent', async () => {
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, 'nobody', parentId));
    await expect(setup.runtime.subagents.wait(id)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await expectAftermath([{ jobId: id, kind: NOTHING }], { status: 'failed' });
  });

  it('leaves nothing where its agent cannot be read', async () => {
    await setup.agent('broken', [], 'permission: perhaps\n');
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, 'broken', parentId));
    await expect(setup.runtime.subagents.wait(id)).rejects.toMatchObject({ code: 'AGENT_INVALID' });
    await setup.agent('broken', []);
    await expectAftermath([{ jobId: id, kind: NOTHING }], { status: 'failed' });
  });

  it('leaves nothing where a hook refuses the worktree', async () => {
    await setup.open({
      subagents: {
        hooks: {
          WorktreeCreate: [
            () => {
              throw new Error('not today');
            },
          ],
        },
      },
    });
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, 'parent', parentId));
    await expect(setup.runtime.subagents.wait(id)).rejects.toThrow('not today');
    await expectAftermath([{ jobId: id, kind: NOTHING }], { status: 'failed' });
  });

  it('is told of by the session that it works for, which wakes', async () => {
    const { id } = await setup.runtime.subagents.spawn(jobFor(setup, 'nobody', parentId));
    await expect(setup.runtime.subagents.wait(id)).rejects.toThrow();
    expect(await setup.runtime.wake(parentId)).toMatchObject({ outcome: 'sleep', summary: 'Heard.' });
    expect((await logOf(setup.runtime, parentId)).filter(({ type }) => type === 'subagent.ended')).toMatchObject([
      { data: { jobId: id, status: 'failed', error: { code: 'AGENT_NOT_FOUND' } } },
    ]);
  });
});
