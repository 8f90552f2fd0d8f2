/** How many jobs there may be, what is kept of them, and where their tasks run. */
import { afterEach, describe, expect, it } from 'vitest';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import type { ManagedRunnerOptions } from '../../../src/actors/subagent/subagent-manager-options.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { closeManagers, managerSetup } from '../../support/manager-setup.ts';
import { createManualRunner } from '../../support/manual-runner.ts';
import { createMemoryRecords, createScriptedRunner, jobRequest } from '../../support/scripted-subagents.ts';

afterEach(closeManagers);

describe('the limits', () => {
  type Changes = Parameters<typeof jobRequest>[0];

  it.each<readonly [string, Partial<ManagedRunnerOptions>, readonly Changes[], Changes, string]>([
    ['deep jobs nest', {}, [], { depth: 4 }, 'SUBAGENT_TOO_DEEP'],
    [
      'deep jobs nest below each other, whatever they say',
      { maxDepth: 1 },
      [{}, { parentJobId: 'agent_1' }],
      { parentJobId: 'agent_2', depth: 0 },
      'SUBAGENT_TOO_DEEP',
    ],
    [
      'many one session has',
      { limits: { maxJobsPerParent: 2 } },
      [{ parentSessionId: 's' }, { parentSessionId: 's' }, { parentSessionId: 't' }],
      { parentSessionId: 's' },
      'SUBAGENT_FAN_OUT',
    ],
    [
      'many one job has',
      { limits: { maxJobsPerParent: 1 } },
      [{}, { parentJobId: 'agent_1' }],
      { parentJobId: 'agent_1' },
      'SUBAGENT_FAN_OUT',
    ],
    ['many there are in all', { limits: { maxJobs: 2 } }, [{}, {}], {}, 'SUBAGENT_TOO_MANY'],
    ['many wait', { maxConcurrent: 1, limits: { maxPending: 1 } }, [{}, {}], {}, 'SUBAGENT_QUEUE_FULL'],
  ])('bound how %s, and write nothing beyond', async (_what, options, before, last, code) => {
    const { manager, records } = managerSetup(options);
    for (const changes of before) await manager.spawn(jobRequest(changes));
    const calls = records.calls.length;
    await expect(manager.spawn(jobRequest(last))).rejects.toMatchObject({
      category: 'capacity',
      code,
      details: expect.any(Object),
    });
    expect(records.calls).toHaveLength(calls);
  });

  it('count living jobs only, spawns included that are under way', async () => {
    const { manager, runner } = managerSetup({ limits: { maxJobs: 2 } });
    const [first] = await Promise.all([
      manager.spawn(jobRequest()),
      manager.spawn(jobRequest()),
      expect(manager.spawn(jobRequest())).rejects.toMatchObject({ code: 'SUBAGENT_TOO_MANY' }),
    ]);
    runner.of(first.id).resolve();
    await manager.wait(first.id);
    await expect(manager.spawn(jobRequest())).resolves.toMatchObject({ status: 'running' });
  });

  it('are checked, and so are all options', () => {
    const runner = createScriptedRunner();
    for (const options of [
      { limits: { maxJobs: 0 } },
      { limits: { maxJob: 1 } },
      { limits: { maxDepth: Number.NaN } },
      { maxDepth: 1.5 },
      { maxConcurrent: 2, limits: { maxConcurrent: 3 } },
      { cancelDeadlineMs: -1 },
      { misspelt: 1 },
      { backgroundTaskManager: new BackgroundTaskManager() },
    ]) {
      expect(() => new SubagentManager({ runner, ...options } as never)).toThrow(
        expect.objectContaining({ category: 'validation' }),
      );
    }
    for (const wrong of [null, () => runner, { kind: 'agent' }]) {
      expect(() => new SubagentManager({ runner: wrong } as never)).toThrow(
        /`runner` must be an object with a start function/,
      );
    }
    expect(() => new SubagentManager({ runner, backgroundTaskRunners: { proces: {} } } as never)).toThrow(
      /names the kind "proces"/,
    );
    expect(() => new SubagentManager({} as never)).toThrow(
      expect.objectContaining({ code: 'SUBAGENT_OPTIONS_INVALID' }),
    );
    expect(
      () => new SubagentManager({ backgroundTaskManager: new BackgroundTaskManager(), maxConcurrent: 1 } as never),
    ).toThrow(expect.objectContaining({ code: 'SUBAGENT_OPTIONS_INVALID' }));
    expect(
      () => new SubagentManager({ runner, limits: { maxJobs: Infinity, maxJobsPerParent: Infinity } }),
    ).not.toThrow();
  });
});

describe('records of jobs', () => {
  it('stay until the job is closed', async () => {
    const { manager, runner, records } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    await expect(manager.close(id)).rejects.toMatchObject({ code: 'TASK_NOT_ENDED' });
    runner.of(id).resolve();
    await manager.wait(id);
    expect(manager.list({ status: 'completed' })).toHaveLength(1);
    await manager.close(id);
    expect([manager.get(id), manager.list(), records.stored.size]).toEqual([undefined, [], 0]);
    await expect(manager.close(id)).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
    expect((await manager.spawn(jobRequest())).id).toBe('agent_2');
  });

  it('are not given up before the session has heard of the end', async () => {
    const { manager, runner, records, log } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    log.before = (call) => {
      if (call === 'ended') throw new Error('log broken');
    };
    runner.of(id).resolve();
    await manager.wait(id);
    expect(records.stored.get(id)?.stage).toBe('ending');
    await expect(manager.close(id)).rejects.toThrow('log broken');
    expect(manager.get(id)?.status).toBe('completed');
    log.before = () => undefined;
    await manager.close(id);
    expect(log.told.at(-1)).toEqual(['ended', expect.objectContaining({ jobId: id })]);
    expect(records.stored.size).toBe(0);
  });

  it('are scanned by what is asked for', async () => {
    const { manager } = managerSetup();
    const parent = await manager.spawn(jobRequest({ parentSessionId: 's' }));
    await manager.spawn(jobRequest({ parentJobId: parent.id, mode: 'foreground' }));
    expect(manager.list({ parentSessionId: 's' }).map(({ id }) => id)).toEqual(['agent_1']);
    expect(manager.list({ parentJobId: 'agent_1' }).map(({ id, parentJobId }) => [id, parentJobId])).toEqual([
      ['agent_2', 'agent_1'],
    ]);
    expect(manager.list({ mode: 'foreground', status: ['running', 'queued'] })).toHaveLength(1);
  });
});

describe('a manager over a task manager that is there', () => {
  it('runs its jobs as tasks of that, stores their ends, and leaves it running when it is shut down', async () => {
    const agent = createManualRunner('agent');
    const tasks = new BackgroundTaskManager({ runners: { agent }, maxDepth: 5 });
    const records = createMemoryRecords();
    const manager = new SubagentManager({ backgroundTaskManager: tasks, records });
    const one = await manager.spawn(jobRequest());
    const two = await manager.spawn(jobRequest());
    expect(manager.getBackgroundTaskManager()).toBe(tasks);
    agent.of(one.id).resolve({ output: 'x' });
    await expect(manager.wait(one.id)).resolves.toMatchObject({ output: 'x' });
    expect(records.stored.get(one.id)).toMatchObject({ stage: 'ended', task: { status: 'completed' } });
    await manager.shutdown();
    expect([manager.get(two.id)?.status, records.stored.get(two.id)?.stage]).toEqual(['cancelled', 'ended']);
    await expect(
      tasks.spawn({ kind: 'agent', label: 'x', agentType: 'x', prompt: '', cwd: '/' }),
    ).resolves.toMatchObject({ id: 'task_1' });
    await tasks.shutdown();
  });
});

describe('a manager without records', () => {
  it('counts its ids by itself and works all the same', async () => {
    const runner = createScriptedRunner();
    await using manager = new SubagentManager({ runner });
    const [one, two] = await Promise.all([manager.spawn(jobRequest()), manager.spawn(jobRequest())]);
    runner.of(one.id).resolve();
    await manager.wait(one.id);
    await manager.close(one.id);
    expect([one.id, two.id, manager.list().length, await manager.reconcile()]).toEqual(['agent_1', 'agent_2', 1, []]);
  });
});
