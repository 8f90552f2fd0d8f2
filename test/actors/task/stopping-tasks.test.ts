import { describe, expect, it } from 'vitest';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import { setUp } from '../../support/task-setup.ts';
import { agentRequest, processRequest } from '../../support/task-requests.ts';

describe('cancelling', () => {
  it('ends a queued task without ever starting it', async () => {
    const { manager, runner, told } = setUp({ maxConcurrent: 1 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    await manager.cancel('task_2', 'not needed');
    expect(manager.get('task_2')).toMatchObject({
      status: 'cancelled',
      error: { code: 'TASK_CANCELLED', message: 'Background task cancelled: not needed' },
    });
    expect(runner.works).toHaveLength(1);
    expect(told().slice(-1)).toEqual(['cancelled(cancelled)']);
    await expect(manager.wait('task_2')).rejects.toMatchObject({
      category: 'runner',
      details: { reason: 'not needed' },
    });
  });

  it('turns a running task terminal only when its work is gone, and frees the slot only then', async () => {
    const { manager, runner } = setUp({ maxConcurrent: 1 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    let gone!: () => void;
    runner.of('task_1').onCancel = () =>
      new Promise((resolve) => {
        gone = resolve;
      });
    const cancelled = manager.cancel('task_1');
    await settled();
    expect(manager.get('task_1')?.status).toBe('running');
    expect(manager.get('task_2')?.status).toBe('queued');
    gone();
    await cancelled;
    expect(manager.get('task_1')?.status).toBe('cancelled');
    expect(manager.get('task_2')?.status).toBe('running');
  });

  it('keeps the first cause, cancels the handle once, and everybody who asked hears the end', async () => {
    const { manager, runner, clock } = setUp();
    await manager.spawn(processRequest({ maxRuntimeMs: 50 }));
    let gone!: () => void;
    runner.of('task_1').onCancel = () =>
      new Promise((resolve) => {
        gone = resolve;
      });
    const both = Promise.all([manager.cancel('task_1', 'first'), manager.cancel('task_1', 'second')]);
    await clock.advance(100);
    gone();
    await both;
    expect(runner.of('task_1').cancelReasons).toEqual(['first']);
    expect(manager.get('task_1')).toMatchObject({ status: 'cancelled', error: { details: { reason: 'first' } } });
    expect(manager.get('task_1')?.timeoutReason).toBeUndefined();
  });

  it('keeps what the work still delivered', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    const work = runner.of('task_1');
    work.onCancel = async () => {
      work.resolve({ output: 'half of it', signalCode: 'SIGTERM' });
      await settled();
    };
    await manager.cancel('task_1');
    expect(manager.get('task_1')).toMatchObject({
      status: 'cancelled',
      result: { output: 'half of it', signalCode: 'SIGTERM' },
    });
  });

  it('gives up after cancelDeadlineMs, says what is left, and keeps the slot until that is gone', async () => {
    const runner = createManualRunner('process', { pid: 77 });
    const { manager, clock } = setUp({ runners: { process: runner }, maxConcurrent: 1, cancelDeadlineMs: 500 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    let gone!: () => void;
    runner.of('task_1').onCancel = () =>
      new Promise((resolve) => {
        gone = resolve;
      });
    const cancelled = manager.cancel('task_1');
    await clock.advance(500);
    await cancelled;
    expect(manager.get('task_1')).toMatchObject({
      status: 'cancelled',
      error: { details: { leftOver: 'still not gone after 500 ms', pid: 77 } },
    });
    expect(manager.get('task_2')?.status).toBe('queued');
    gone();
    await settled();
    expect(manager.get('task_2')?.status).toBe('running');
  });

  it('says so when the runner cannot stop the work', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    runner.of('task_1').onCancel = () => {
      throw new Error('pid 9 survived');
    };
    await manager.cancel('task_1');
    expect(manager.get('task_1')?.error).toMatchObject({
      code: 'TASK_CANCELLED',
      details: { leftOver: 'pid 9 survived' },
    });
  });

  it('aborts the signal of a runner that asked for it, also when it asks late', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    const { signal } = runner.of('task_1').start;
    await Promise.all([manager.cancel('task_1', 'enough'), manager.cancel('task_2', 'enough')]);
    expect([signal.aborted, signal.reason]).toEqual([true, 'enough']);
    expect(runner.of('task_2').start.signal.aborted).toBe(true);
  });

  it('leaves a task that has ended as it is', async () => {
    const { manager, runner, events } = setUp();
    await manager.spawn(processRequest());
    runner.of('task_1').resolve({});
    await manager.wait('task_1');
    const before = [manager.get('task_1'), events.length];
    await manager.cancel('task_1');
    expect([manager.get('task_1'), events.length]).toEqual(before);
  });

  it('works from inside the event that announces the task', async () => {
    const { manager, runner } = setUp();
    manager.subscribe((event) => {
      if (event.type === 'background_task_created') void manager.cancel(event.task.id, 'at birth');
    });
    await manager.spawn(processRequest());
    await settled();
    expect(manager.get('task_1')?.status).toBe('cancelled');
    expect(runner.works.every((work) => work.isCancelled)).toBe(true);
  });

  it('keeps a task that waits from the slot of the one whose end is being told', async () => {
    const { manager, runner } = setUp({ maxConcurrent: 1 });
    for (let index = 0; index < 3; index += 1) await manager.spawn(processRequest());
    manager.subscribe((event) => {
      if (event.type !== 'background_task_completed') return;
      void manager.cancel('task_2', 'no longer needed');
      void manager.cancel('task_2', 'too late');
    });
    runner.of('task_1').resolve({});
    await settled();
    expect(manager.list().map(({ status }) => status)).toEqual(['completed', 'cancelled', 'running']);
    expect(manager.get('task_2')?.error?.details).toEqual({ reason: 'no longer needed' });
    expect(runner.works.map(({ start }) => start.taskId)).toEqual(['task_1', 'task_3']);
  });
});

describe('shutdown', () => {
  it('cancels what waits and what runs, tells everybody before it resolves, and keeps the records', async () => {
    const { manager, runner, told } = setUp({ maxConcurrent: 1 });
    for (let index = 0; index < 3; index += 1) await manager.spawn(processRequest());
    let gone!: () => void;
    runner.of('task_1').onCancel = () =>
      new Promise((resolve) => {
        gone = resolve;
      });
    let isDone = false;
    const done = manager.shutdown('going home').then(() => {
      isDone = true;
    });
    expect(manager.shutdown()).toBe(manager.shutdown());
    await settled();
    expect(isDone).toBe(false);
    expect(manager.list().map((task) => task.status)).toEqual(['running', 'cancelled', 'cancelled']);
    gone();
    await done;
    expect(manager.list().map((task) => task.status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(told().filter((line) => line === 'cancelled(cancelled)')).toHaveLength(3);
    expect(runner.of('task_1').cancelReasons).toEqual(['going home']);
    expect(manager.supervisor.getSnapshot()).toMatchObject({ value: 'stopped', status: 'done' });
    await expect(manager.spawn(processRequest())).rejects.toMatchObject({ code: 'TASK_MANAGER_SHUT_DOWN' });
    await manager.close('task_1');
  });

  it('of an idle manager is over at once, and leaves no timer', async () => {
    const { manager, clock, agents } = setUp();
    await manager.spawn(agentRequest({ maxRuntimeMs: 1e6 }));
    agents.of('task_1').resolve({});
    await settled();
    await manager.shutdown();
    expect(clock.pendingTimers).toBe(0);
  });

  it('from inside a listener or a runner does not start what waits', async () => {
    const { manager, runner } = setUp({ maxConcurrent: 1 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    let done: Promise<void> | undefined;
    manager.subscribe((event) => {
      if (event.type === 'background_task_completed') done = manager.shutdown();
    });
    runner.of('task_1').resolve({});
    await settled();
    await done;
    expect(runner.works).toHaveLength(1);
    expect(manager.get('task_2')?.status).toBe('cancelled');
  });
});
