/** What a start makes of the jobs that processes which are gone left behind. */
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import { createWorktreeSubagentRunner } from '../../../src/actors/subagent/worktree-subagent-runner.ts';
import { settled } from '../../support/manual-runner.ts';
import {
  createMemoryLog,
  createMemoryRecords,
  createMemoryWorktrees,
  createScriptedRunner,
  jobRequest,
} from '../../support/scripted-subagents.ts';

/** One home, whose processes are managers that come and go. */
function home() {
  const records = createMemoryRecords();
  const log = createMemoryLog();
  const worktrees = createMemoryWorktrees();
  const reported: unknown[] = [];
  const process = () => {
    const inner = createScriptedRunner();
    const clock = createSimulatedClock();
    const runner = createWorktreeSubagentRunner({ runner: inner, worktreeAdapter: worktrees, clock });
    const manager = new SubagentManager({
      runner,
      records,
      log,
      clock,
      worktrees,
      onListenerError: (error) => reported.push(error),
    });
    return { inner, manager };
  };
  /** The process that made them is gone, with nothing having been said. */
  const die = (): void => {
    for (const { jobId } of records.stored.values()) records.orphans.add(jobId);
  };
  return { records, log, worktrees, process, die, reported };
}

async function settledDeep(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await settled();
}

describe('a job whose process is gone', () => {
  it('has failed as lost, and the session it worked for hears of it', async () => {
    const { process, records, log, die } = home();
    const { id } = await process().manager.spawn(jobRequest({ parentSessionId: 's', metadata: { mine: 1 } }));
    die();
    const { manager } = process();
    expect(await manager.reconcile()).toEqual([expect.objectContaining({ jobId: id, action: 'settled' })]);
    expect(manager.get(id)).toMatchObject({
      id,
      type: 'fixer',
      status: 'failed',
      timeoutReason: 'stale_worker',
      failure: { category: 'timeout', code: 'TASK_STALE_WORKER' },
      metadata: { mine: 1 },
      parentSessionId: 's',
    });
    expect(manager.list()).toHaveLength(1);
    await expect(manager.wait(id)).rejects.toMatchObject({ category: 'timeout', code: 'TASK_STALE_WORKER' });
    expect(log.told.filter(([what]) => what === 'ended')).toEqual([
      ['ended', expect.objectContaining({ jobId: id, status: 'failed', timeoutReason: 'stale_worker' })],
    ]);
    expect(records.stored.get(id)?.stage).toBe('ended');
    expect(await manager.reconcile()).toEqual([]);
  });

  it('hands its worktree over', async () => {
    const { process, records, worktrees, die } = home();
    worktrees.content = 'dirty';
    const first = process();
    const { id } = await first.manager.spawn(jobRequest({ isolation: 'worktree' }));
    await settledDeep();
    expect(records.stored.get(id)?.task.worktreePath).toBe(`/worktrees/${id}-1`);
    die();
    const { manager } = process();
    expect(await manager.reconcile()).toEqual([
      {
        jobId: id,
        action: 'settled',
        worktreePath: `/worktrees/${id}-1`,
        branchName: `agents/${id}-1`,
        nextAction: 'wait',
      },
    ]);
    expect(manager.get(id)).toMatchObject({
      worktreePath: `/worktrees/${id}-1`,
      worktreeStatus: 'ready',
      worktreeBaseRevision: 'abc',
      failure: { details: { worktreePath: `/worktrees/${id}-1`, timeoutReason: 'stale_worker' } },
    });
  });

  it('is found by the worktrees when it died before it could say where it works, and says so when that is gone', async () => {
    const { process, records, worktrees, die } = home();
    const { id } = await process().manager.spawn(jobRequest({ isolation: 'worktree' }));
    await settledDeep();
    const record = records.stored.get(id);
    if (record === undefined) throw new Error('no record');
    const { worktreePath: _path, branchName: _branch, ...task } = record.task;
    const { jobId: _job, ...worktree } = [...worktrees.present.values()][0] ?? { jobId: '' };
    worktrees.list = () =>
      Promise.resolve([
        {
          ...worktree,
          jobId: id,
          key: task.metadata?.['wakechart.sessionId'],
          id: 'w',
          status: 'orphaned',
          createdAt: '',
          isOwned: false,
          findings: [],
        } as never,
      ]);
    records.stored.set(id, { ...record, task });
    die();
    const { manager } = process();
    await manager.reconcile();
    expect(manager.get(id)).toMatchObject({ worktreePath: `/worktrees/${id}-1`, worktreeStatus: 'orphaned' });

    records.stored.set(id, { ...record, stage: 'accepted' });
    worktrees.list = () => Promise.resolve([]);
    die();
    const next = process();
    await next.manager.reconcile();
    expect(next.manager.get(id)).toMatchObject({ worktreePath: `/worktrees/${id}-1`, worktreeStatus: 'removed' });

    records.stored.set(id, { ...record, stage: 'accepted' });
    worktrees.list = () => Promise.reject(new Error('git broken'));
    die();
    const last = process();
    expect(await last.manager.reconcile()).toEqual([expect.objectContaining({ action: 'settled' })]);
    expect(last.manager.get(id)).toMatchObject({ worktreePath: `/worktrees/${id}-1`, worktreeStatus: 'orphaned' });
  });

  it('keeps the end that it had come to, which is heard of now', async () => {
    const { process, records, log, die } = home();
    const first = process();
    const { id } = await first.manager.spawn(jobRequest());
    log.before = (call) => {
      if (call === 'ended') throw new Error('killed here');
    };
    first.inner.of(id).resolve({ output: 'Fixed.' });
    await first.manager.wait(id);
    expect(records.stored.get(id)?.stage).toBe('ending');
    log.before = () => undefined;
    die();
    const { manager } = process();
    expect(await manager.reconcile()).toEqual([expect.objectContaining({ jobId: id, action: 'finished' })]);
    await expect(manager.wait(id)).resolves.toEqual({ jobId: id, output: 'Fixed.' });
    expect(log.told.filter(([what]) => what === 'ended')).toEqual([
      ['ended', expect.objectContaining({ status: 'completed', output: 'Fixed.' })],
    ]);
  });

  it('is dealt with by one of several processes', async () => {
    const { process, log, die } = home();
    const { id } = await process().manager.spawn(jobRequest());
    die();
    const reports = await Promise.all([
      process().manager.reconcile(),
      process().manager.reconcile(),
      process().manager.reconcile(),
    ]);
    expect(
      reports
        .flat()
        .map(({ action }) => action)
        .sort(),
    ).toEqual(['left', 'left', 'settled']);
    expect(log.told.filter(([what]) => what === 'ended').map(([, job]) => job.jobId)).toEqual([id]);
  });

  it('is tried again by the next start when it could not be dealt with', async () => {
    const { process, records, log, die } = home();
    await process().manager.spawn(jobRequest());
    die();
    log.before = () => Promise.reject(new Error('log broken'));
    expect(await process().manager.reconcile()).toEqual([
      expect.objectContaining({ action: 'failed', reason: 'log broken' }),
    ]);
    log.before = () => undefined;
    die();
    expect(await process().manager.reconcile()).toEqual([expect.objectContaining({ action: 'finished' })]);
    expect([...records.stored.values()][0]?.task.timeoutReason).toBe('stale_worker');
  });

  it('is forgotten when it is closed, takes no input, and says where its log lies', async () => {
    const { process, records, die } = home();
    const { id } = await process().manager.spawn(jobRequest());
    die();
    const { manager } = process();
    await manager.reconcile();
    await manager.cancel(id);
    await expect(manager.send(id, 'x')).rejects.toMatchObject({ code: 'TASK_ENDED' });
    await expect(manager.readLog(id)).rejects.toMatchObject({ code: 'SUBAGENT_LOG_NOT_HERE' });
    await expect(manager.spawn(jobRequest({ parentJobId: id }))).rejects.toMatchObject({
      code: 'SUBAGENT_PARENT_ENDED',
    });
    await manager.close(id);
    expect([manager.get(id), records.stored.size]).toEqual([undefined, 0]);
  });
});

describe('other jobs', () => {
  it('of living processes are left alone, and those that have ended are shown', async () => {
    const { process } = home();
    const first = process();
    const running = await first.manager.spawn(jobRequest());
    const ended = await first.manager.spawn(jobRequest());
    first.inner.of(ended.id).resolve({ output: 'Fixed.' });
    await first.manager.wait(ended.id);
    const { manager } = process();
    expect(await manager.reconcile()).toEqual([
      { jobId: running.id, action: 'left', reason: 'the process that runs it lives' },
    ]);
    expect(manager.list().map(({ id, status, result }) => [id, status, result])).toEqual([
      [ended.id, 'completed', 'Fixed.'],
    ]);
    await expect(manager.wait(ended.id)).resolves.toMatchObject({ output: 'Fixed.' });
  });

  it('that this manager runs itself are not taken for those of somebody else', async () => {
    const { process } = home();
    const { manager } = process();
    await manager.spawn(jobRequest());
    expect(await manager.reconcile()).toEqual([]);
    expect(manager.list()).toHaveLength(1);
  });
});
