/** The slots of a task manager: which tasks get one, which wait, and which are refused. */
import { describe, expect, it } from 'vitest';
import { settled } from '../../support/manual-runner.ts';
import { setUp } from '../../support/task-setup.ts';
import { agentRequest, processRequest, scheduledRequest } from '../../support/task-requests.ts';

describe('the pool of slots', () => {
  it('is one for all kinds, first in, first out within a priority', async () => {
    const { manager, runner, agents } = setUp({ maxConcurrent: 1 });
    await manager.spawn(processRequest());
    expect(await manager.spawn(agentRequest())).toMatchObject({ status: 'queued' });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest({ priority: 5 }));
    const order: string[] = [];
    for (const id of ['task_1', 'task_4', 'task_2', 'task_3']) {
      const running = manager.list({ status: 'running' }).map((task) => task.id);
      order.push(...running);
      (id === 'task_2' ? agents : runner).of(id).resolve({});
      await settled();
    }
    expect(order).toEqual(['task_1', 'task_4', 'task_2', 'task_3']);
  });

  it('refuses more than maxPending with the numbers, and takes one again when there is room', async () => {
    const { manager, runner } = setUp({ maxConcurrent: 1, maxPending: 1 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    await expect(manager.spawn(processRequest())).rejects.toMatchObject({
      category: 'capacity',
      code: 'TASK_QUEUE_FULL',
      details: { pending: 1, maxPending: 1 },
    });
    runner.of('task_1').resolve({});
    await settled();
    expect(await manager.spawn(processRequest())).toMatchObject({ status: 'queued' });
  });

  it('starts what fits even when nothing may wait', async () => {
    const { manager } = setUp({ maxConcurrent: 1, maxPending: 0 });
    expect(await manager.spawn(processRequest())).toMatchObject({ status: 'running' });
    await expect(manager.spawn(processRequest())).rejects.toMatchObject({ code: 'TASK_QUEUE_FULL' });
  });

  it('gives the slot of a sleeping schedule to others and takes one back when it wakes', async () => {
    const { manager, schedules, runner, told } = setUp({ maxConcurrent: 1 });
    await manager.spawn(scheduledRequest());
    await manager.spawn(processRequest());
    schedules.of('task_1').say({ type: 'background_task_sleeping', nextFireAt: '2026-01-01T00:01:00.000Z' });
    expect(manager.get('task_1')).toMatchObject({ status: 'sleeping', nextFireAt: '2026-01-01T00:01:00.000Z' });
    expect(manager.get('task_2')?.status).toBe('running');
    schedules.of('task_1').say({ type: 'background_task_waking' });
    expect(manager.get('task_1')?.status).toBe('running');
    await manager.spawn(processRequest());
    runner.of('task_2').resolve({});
    await settled();
    expect(manager.get('task_3')?.status).toBe('queued');
    schedules.of('task_1').say({ type: 'background_task_sleeping' });
    expect(manager.get('task_3')?.status).toBe('running');
    expect(told()).toContain('waking');
  });

  it('goes on stopping a schedule that wakes while it is being stopped', async () => {
    const { manager, schedules } = setUp({ maxConcurrent: 1 });
    await manager.spawn(scheduledRequest());
    const work = schedules.of('task_1');
    let isGone = (): void => undefined;
    work.onCancel = () => new Promise((resolve) => (isGone = resolve));
    work.say({ type: 'background_task_sleeping' });
    const cancelled = manager.cancel('task_1');
    await settled();
    expect(manager.get('task_1')?.status).toBe('sleeping');
    work.say({ type: 'background_task_waking' });
    expect(manager.get('task_1')?.status).toBe('running');
    isGone();
    await cancelled;
    expect(manager.get('task_1')?.status).toBe('cancelled');
  });

  it('survives twenty thousand starts that fail', async () => {
    const broken = {
      kind: 'process',
      start: () => {
        throw new Error('no');
      },
    } as const;
    const { manager } = setUp({ runners: { process: broken }, maxConcurrent: 2 });
    await Promise.all(Array.from({ length: 20_000 }, () => manager.spawn(processRequest())));
    await settled();
    expect(manager.list({ status: 'failed' })).toHaveLength(20_000);
  });
});
