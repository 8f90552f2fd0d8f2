/**
 * Every kind of work at every ending of a job, with real git and real workers: what the agent did is still there, what
 * it did not do leaves nothing.
 */
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import { git, pasted } from '../../adapters/git/git-house.ts';
import { aftermathOf, doctorFindings, logOf } from './aftermath.ts';
import type { EndedWork, Expectation } from './aftermath.ts';
import { allMarked, jobFor, jobHouse, lingering, working } from './job-house.ts';
import type { JobHouse } from './job-house.ts';
import { ALL_KINDS, DIRTY } from './kinds-of-work.ts';
import type { KindOfWork } from './kinds-of-work.ts';
import { createLeapingClock } from './leaping-clock.ts';
import type { LeapingClock } from './leaping-clock.ts';

const TIMEOUT_MS = 180_000;
const HOUR_MS = 3_600_000;

let house: JobHouse;
let clock: LeapingClock;
let parentId: string;
beforeEach(async () => {
  house = await jobHouse();
  clock = createLeapingClock();
  await house.open({ clock });
  parentId = await house.parent();
});
afterEach(() => house.remove());

type Steps = (kind: KindOfWork) => readonly object[];

/** One job of each kind, all at once. */
async function spawnAll(steps: Steps, more: Partial<SubagentSpawnRequest> = {}): Promise<EndedWork[]> {
  const work: EndedWork[] = [];
  for (const kind of ALL_KINDS) {
    await house.agent(kind.name, steps(kind));
    const { id } = await house.runtime.subagents.spawn(jobFor(house, kind.name, parentId, more));
    work.push({ jobId: id, kind });
  }
  return work;
}

const linger: Steps = (kind) => [lingering(kind, house.marks), { text: 'Never said.' }];

/** Until each has done its work, and is at it still. */
async function spawnLingering(more?: Partial<SubagentSpawnRequest>): Promise<EndedWork[]> {
  const work = await spawnAll(linger, more);
  await allMarked(house, ALL_KINDS);
  return work;
}

const allEnded = (work: readonly EndedWork[]): Promise<unknown> =>
  Promise.allSettled(work.map(({ jobId }) => house.runtime.subagents.wait(jobId)));

async function expectAftermath(work: readonly EndedWork[], expected: Expectation): Promise<void> {
  expect(await aftermathOf(house, parentId, work, expected)).toEqual([]);
  await house.runtime.shutdown();
  expect(await doctorFindings(house)).toEqual([]);
}

describe('work of every kind in worktrees', { timeout: TIMEOUT_MS }, () => {
  it('is kept when the jobs complete, and what is committed comes home with the command that is handed over', async () => {
    const work = await spawnAll((kind) => [working(kind, house.marks), { text: 'Done.' }]);
    await allEnded(work);
    const done = work.find(({ kind }) => kind.name === 'commits');
    const job = house.runtime.subagents.get(done?.jobId ?? '');
    expect(job).toMatchObject({ result: 'Done.', worktreeStatus: 'preserved' });
    const merge = /: (?<command>git .* merge .*)$/m.exec(job?.worktreeNextAction ?? '')?.groups?.['command'];
    await expectAftermath(work, { status: 'completed' });
    pasted(merge ?? 'false', '/');
    expect(pasted('cat new.txt', house.repository)).toBe('work\n');
  });

  it('is kept when the jobs fail', async () => {
    const work = await spawnAll((kind) => [
      working(kind, house.marks),
      { error: { kind: 'refusal', message: 'I will not.' } },
    ]);
    await allEnded(work);
    await expectAftermath(work, { status: 'failed' });
  });

  it('is kept when the jobs are cancelled in the middle of a command', async () => {
    const work = await spawnLingering();
    await Promise.all(work.map(({ jobId }) => house.runtime.subagents.cancel(jobId, 'enough')));
    await expectAftermath(work, { status: 'cancelled' });
  });

  it.each([
    ['idle', { idleTimeoutMs: HOUR_MS }],
    ['max_runtime', { maxRuntimeMs: HOUR_MS, idleTimeoutMs: 0 }],
  ] as const)('is kept when the watchdog trips: %s', async (timeoutReason, limits) => {
    const work = await spawnLingering(limits);
    clock.leap(HOUR_MS + 1);
    await allEnded(work);
    await expectAftermath(work, { status: 'failed', timeoutReason });
  });

  it('is kept when the workers are killed', async () => {
    const work = await spawnLingering();
    for (const { jobId } of work) process.kill(house.runtime.subagents.get(jobId)?.pid ?? Number.NaN, 'SIGKILL');
    await allEnded(work);
    expect(house.runtime.subagents.get(work[0]?.jobId ?? '')?.failure).toMatchObject({
      category: 'crash',
      details: { signal: 'SIGKILL' },
    });
    expect(await aftermathOf(house, parentId, work, { status: 'failed' })).toEqual([]);
    // The dead workers' notes of their commands, which are gone as well, are cleared by the next start.
    await house.runtime.reconcile();
    await expectAftermath(work, { status: 'failed' });
  });

  it('is kept when the session they work for is terminated', async () => {
    const work = await spawnLingering();
    await house.runtime.sessions.terminate(parentId, { reason: 'over' });
    expect(
      work.map(({ jobId }) => house.runtime.subagents.get(jobId)).filter((job) => job?.status !== 'cancelled'),
    ).toEqual([]);
    await expectAftermath(work, { status: 'cancelled' });
  });

  it('is kept when the runtime shuts down', async () => {
    const work = await spawnLingering();
    await house.runtime.shutdown();
    await house.open();
    await expectAftermath(work, { status: 'cancelled' });
  });

  it('is kept when the jobs run in this process, and are cancelled', async () => {
    await house.open({ maxConcurrentTasks: ALL_KINDS.length });
    const work = await spawnLingering({ run: 'in-process' });
    await Promise.all(work.map(({ jobId }) => house.runtime.subagents.cancel(jobId, 'enough')));
    await expectAftermath(work, { status: 'cancelled' });
  });

  it('is missed where it is not kept', async () => {
    const work = await spawnAll((kind) => [working(kind, house.marks), { text: 'Done.' }]);
    await allEnded(work);
    for (const { jobId } of work)
      await rm(house.runtime.subagents.get(jobId)?.worktreePath ?? '', { recursive: true, force: true });
    git(house.repository, 'stash', 'clear');
    const wrong = await aftermathOf(house, parentId, work, { status: 'completed' });
    const kept = new Set(['commits', 'branches']);
    expect(
      DIRTY.filter(
        ({ name }) =>
          !wrong.some((complaint) => complaint.startsWith(`${name} `) && complaint.endsWith('its work is lost')),
      ).map(({ name }) => name),
    ).toEqual(DIRTY.flatMap(({ name }) => (kept.has(name) ? [name] : [])));
  });

  it('is kept when another job goes on in the same worktree and can do nothing', async () => {
    const work = await spawnAll((kind) => [working(kind, house.marks), { text: 'Done.' }]);
    await allEnded(work);
    const again: EndedWork[] = [];
    for (const { jobId, kind } of work) {
      const job = house.runtime.subagents.get(jobId);
      const request = jobFor(house, kind.name, parentId, { sessionId: String(job?.metadata?.['wakechart.sessionId']) });
      await house.agent(kind.name, [{ error: { kind: 'auth', message: 'no key' } }]);
      again.push({ jobId: (await house.runtime.subagents.spawn(request)).id, kind });
    }
    await allEnded(again);
    const lost = DIRTY.filter((kind) => {
      const { worktreePath = '', branchName = '' } =
        house.runtime.subagents.get(again.find((each) => each.kind === kind)?.jobId ?? '') ?? {};
      return !kind.isThere({ worktreePath, branchName, repository: house.repository });
    });
    expect(lost.map(({ name }) => name)).toEqual([]);
    expect(await house.runtime.worktrees?.list()).toHaveLength(DIRTY.length);
  });
});

describe('a job that cannot start', { timeout: TIMEOUT_MS }, () => {
  const NOTHING: KindOfWork = { name: 'nothing', command: 'true', finding: undefined, isThere: () => true };

  it('leaves nothing where there is no repository', async () => {
    const { id } = await house.runtime.subagents.spawn(jobFor(house, 'parent', parentId, { cwd: house.marks }));
    await expect(house.runtime.subagents.wait(id)).rejects.toMatchObject({ code: 'WORKTREE_NOT_A_REPOSITORY' });
    await expectAftermath([{ jobId: id, kind: NOTHING, isDone: false }], { status: 'failed' });
  });

  it('leaves nothing where there is no such agent', async () => {
    const { id } = await house.runtime.subagents.spawn(jobFor(house, 'nobody', parentId));
    await expect(house.runtime.subagents.wait(id)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await expectAftermath([{ jobId: id, kind: NOTHING }], { status: 'failed' });
  });

  it('leaves nothing where its agent cannot be read', async () => {
    await house.agent('broken', [], 'permission: perhaps\n');
    const { id } = await house.runtime.subagents.spawn(jobFor(house, 'broken', parentId));
    await expect(house.runtime.subagents.wait(id)).rejects.toMatchObject({ code: 'AGENT_INVALID' });
    await house.agent('broken', []);
    await expectAftermath([{ jobId: id, kind: NOTHING }], { status: 'failed' });
  });

  it('leaves nothing where a hook refuses the worktree', async () => {
    await house.open({
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
    const { id } = await house.runtime.subagents.spawn(jobFor(house, 'parent', parentId));
    await expect(house.runtime.subagents.wait(id)).rejects.toThrow('not today');
    await expectAftermath([{ jobId: id, kind: NOTHING }], { status: 'failed' });
  });

  it('is told of by the session that it works for, which wakes', async () => {
    const { id } = await house.runtime.subagents.spawn(jobFor(house, 'nobody', parentId));
    await expect(house.runtime.subagents.wait(id)).rejects.toThrow();
    expect(await house.runtime.wake(parentId)).toMatchObject({ outcome: 'sleep', summary: 'Heard.' });
    expect((await logOf(house.runtime, parentId)).filter(({ type }) => type === 'subagent.ended')).toMatchObject([
      { data: { jobId: id, status: 'failed', error: { code: 'AGENT_NOT_FOUND' } } },
    ]);
  });
});
