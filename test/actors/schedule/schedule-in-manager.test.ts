import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyActorRef } from 'xstate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createScheduledTaskRunner } from '../../../src/actors/schedule/scheduled-task-runner.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import type { BackgroundTaskManagerOptions } from '../../../src/actors/task/task-manager-options.ts';
import type { ScheduleLimitsInput } from '../../../src/machines/schedule/schedule-options.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createFileScheduleStore } from '../../../src/adapters/schedule-files/file-schedule-store.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import { scheduledRequest } from '../../support/task-requests.ts';
import { unhandledDuring } from '../../support/unhandled.ts';
import { HOUR, MINUTE, START, at, cron } from './schedule-stage.ts';

function managed(options: BackgroundTaskManagerOptions = {}, limits: ScheduleLimitsInput = {}) {
  const clock = createSimulatedClock({ now: START });
  const processes = createManualRunner('process');
  const agents = createManualRunner('agent');
  const manager = new BackgroundTaskManager({
    runners: { scheduled: createScheduledTaskRunner({ clock, cron, limits }), process: processes, agent: agents },
    clock,
    ...options,
  });
  return { clock, processes, agents, manager };
}

describe('a schedule among the tasks of a manager', () => {
  it('sleeps between fires and shows when the next one is', async () => {
    const { clock, manager } = managed();
    const { id } = await manager.spawn(scheduledRequest({ cronExpression: '*/10 * * * *' }));
    await settled();
    expect(manager.get(id)).toMatchObject({ status: 'sleeping', nextFireAt: at(10 * MINUTE) });
    await clock.advance(10 * MINUTE);
    expect(manager.get(id)).toMatchObject({ status: 'sleeping', nextFireAt: at(20 * MINUTE) });
    await manager.shutdown();
  });

  it('makes each fire a task of its own, with itself as parent', async () => {
    const { clock, manager, processes } = managed();
    const { id } = await manager.spawn(
      scheduledRequest({ label: 'build', command: 'make', scheduleId: 'build', env: { A: '1' } }),
    );
    await clock.advance(MINUTE);
    processes.works[0]?.resolve({ output: 'done', exitCode: 3 });
    await clock.advance(MINUTE);
    expect(manager.list({ parentTaskId: id })).toMatchObject([
      {
        kind: 'process',
        label: `build @ ${at(MINUTE)}`,
        status: 'completed',
        depth: 0,
        result: { output: 'done', exitCode: 3 },
        metadata: { scheduleId: 'build', slot: at(MINUTE) },
      },
      { kind: 'process', label: `build @ ${at(2 * MINUTE)}`, status: 'running' },
    ]);
    await manager.shutdown();
  });

  it('is seen by an inspector as an actor beside its task, moving through its chart', async () => {
    const heard: string[] = [];
    const { clock, manager } = managed({
      inspect: (event) => {
        if (event.type === '@xstate.event' && (event.actorRef as AnyActorRef).id === 'schedule:task_1')
          heard.push(event.event.type);
      },
    });
    const { id } = await manager.spawn(scheduledRequest());
    await clock.advance(MINUTE);
    await manager.pause(id);
    await manager.cancel(id);
    expect(heard.filter((type) => !type.startsWith('xstate.'))).toEqual([
      'OPENED',
      'DUE',
      'SETTLED',
      'PAUSE',
      'STOP',
      'STOPPED',
    ]);
    await manager.shutdown();
  });

  it('leaves the outcome of a fire unread until somebody reads it, and closes old fires', async () => {
    const { clock, manager, processes } = managed({}, { maxKeptFires: 1 });
    const { id } = await manager.spawn(scheduledRequest());
    for (let fire = 0; fire < 3; fire += 1) {
      await clock.advance(MINUTE);
      processes.works.at(-1)?.resolve({ output: `fire ${fire}` });
      await settled();
    }
    expect(manager.list({ parentTaskId: id })).toMatchObject([{ unread: true, result: { output: 'fire 2' } }]);
    await manager.shutdown();
  });

  it('fires agents too', async () => {
    const { clock, manager, agents } = managed();
    await manager.spawn(scheduledRequest({ command: undefined, agentInstruction: 'Tidy up.', agentType: 'cleaner' }));
    await clock.advance(MINUTE);
    expect(agents.works[0]?.start.request).toMatchObject({ kind: 'agent', agentType: 'cleaner', prompt: 'Tidy up.' });
    await manager.shutdown();
  });

  it('fires with a single slot in the pool, which it does not hold while its child waits for it', async () => {
    const { clock, manager, processes } = managed({ maxConcurrent: 1 });
    const { id } = await manager.spawn(scheduledRequest());
    await clock.advance(MINUTE);
    expect([manager.get(id)?.status, processes.works.length]).toEqual(['sleeping', 1]);
    processes.works[0]?.resolve({});
    await clock.advance(MINUTE);
    expect(processes.works).toHaveLength(2);
    await manager.shutdown();
  });

  it('lets many schedules share a single slot', async () => {
    const { clock, manager, processes } = managed({ maxConcurrent: 1 });
    for (let index = 0; index < 10; index += 1) await manager.spawn(scheduledRequest());
    await clock.advance(MINUTE);
    for (let done = 0; done < 10; done += 1) {
      expect(processes.works).toHaveLength(done + 1);
      processes.works[done]?.resolve({});
      await settled();
    }
    await manager.shutdown();
  });

  it('goes on when the queue is full, and its log says which slot could not be started', async () => {
    const { clock, manager, processes } = managed({ maxConcurrent: 2, maxPending: 0 });
    const { id } = await manager.spawn(scheduledRequest());
    await settled();
    for (let slot = 0; slot < 2; slot += 1)
      await manager.spawn({ kind: 'process', label: 'long', cwd: '/', command: 'sleep' });
    await clock.advance(MINUTE);
    expect((await manager.readLog(id)).lines.at(-1)).toContain(
      `${at(MINUTE)} could not be started: the queue holds 0 of 0 tasks`,
    );
    for (const work of processes.works) work.resolve({});
    await clock.advance(MINUTE);
    expect(processes.works).toHaveLength(3);
    await manager.shutdown();
  });

  it('announces created, started, waking and every change of the next fire', async () => {
    const { clock, manager } = managed();
    const events: BackgroundTaskEvent[] = [];
    manager.subscribe((event) => events.push(event));
    const { id } = await manager.spawn(scheduledRequest({ cronExpression: '0 * * * *' }));
    await clock.advance(HOUR);
    const own = events.filter((event) => ('task' in event ? event.task.id : event.taskId) === id);
    const words = own.map(
      (event) =>
        `${event.type.replace('background_task_', '')}${'task' in event ? ` ${event.task.status} ${event.task.nextFireAt?.slice(11, 16) ?? '-'}` : ''}`,
    );
    expect(words.filter((word, index) => word !== words[index - 1])).toEqual([
      'created queued -',
      'started running -',
      'updated sleeping 01:00',
      'updated running 01:00',
      'waking',
      'updated sleeping 02:00',
    ]);
    await manager.shutdown();
  });

  it('is paused, resumed and edited through the manager', async () => {
    const { clock, manager, processes } = managed();
    const { id } = await manager.spawn(scheduledRequest());
    await manager.pause(id);
    expect(manager.get(id)).toMatchObject({ status: 'sleeping', currentAction: 'paused', nextFireAt: undefined });
    await clock.advance(5 * MINUTE);
    await manager.resume(id);
    expect(manager.get(id)).toMatchObject({ currentAction: undefined, nextFireAt: at(6 * MINUTE) });
    await manager.edit(id, { cronExpression: '0 * * * *' });
    expect([manager.get(id)?.nextFireAt, processes.works.length]).toEqual([at(HOUR), 0]);
    await expect(manager.edit(id, { cronExpression: 'often' })).rejects.toMatchObject({ category: 'validation' });
    await manager.shutdown();
  });

  it('completes when its expression has no further time', async () => {
    const { clock, manager, processes } = managed();
    const { id } = await manager.spawn(scheduledRequest({ cronExpression: '2026-01-01T01:00:00' }));
    await clock.advance(HOUR);
    expect(manager.get(id)?.status).toBe('sleeping');
    processes.works[0]?.resolve({});
    expect(await manager.wait(id)).toMatchObject({ output: 'fired 1 time' });
    expect(manager.get(id)?.status).toBe('completed');
    await manager.shutdown();
  });

  it.each([
    [{ cronExpression: 'often' }, 'SCHEDULE_EXPRESSION'],
    [{ timezone: 'Mars/Olympus' }, 'SCHEDULE_TIMEZONE'],
    [{ cronExpression: '0 0 31 2 *' }, 'SCHEDULE_NEVER_FIRES'],
    [{ cronExpression: '2020-01-01T00:00:00' }, 'SCHEDULE_NEVER_FIRES'],
  ])('is refused at spawn when its plan cannot be read or never fires: %j', async (plan, code) => {
    const { manager } = managed();
    await expect(manager.spawn(scheduledRequest(plan))).rejects.toMatchObject({ category: 'validation', code });
    expect(manager.list()).toEqual([]);
    await manager.shutdown();
  });

  it('is cancelled with the child that runs, and is terminal when that is gone', async () => {
    const { clock, manager, processes } = managed();
    const { id } = await manager.spawn(scheduledRequest());
    await clock.advance(MINUTE);
    const [work] = processes.works;
    let release = (): void => undefined;
    if (work !== undefined) work.onCancel = () => new Promise<void>((resolve) => (release = resolve));
    const cancelled = manager.cancel(id, 'enough');
    await settled();
    expect([work?.cancelReasons, manager.get(id)?.status]).toEqual([['enough'], 'sleeping']);
    release();
    await cancelled;
    expect(manager.list().map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(clock.pendingTimers).toBe(0);
    await manager.shutdown();
  });

  it('ends with the manager, in any state, and nothing is left armed or unhandled', async () => {
    const seen = await unhandledDuring(async () => {
      const { clock, manager } = managed({ maxConcurrent: 1 });
      const spawned = await Promise.all(
        Array.from({ length: 5 }, () => manager.spawn(scheduledRequest({ overlap: 'queue' }))),
      );
      await clock.advance(3 * MINUTE);
      await manager.pause(spawned[0]?.id ?? '');
      void manager.spawn(scheduledRequest());
      await manager.shutdown();
      expect(manager.list().filter(({ status }) => status !== 'cancelled')).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    });
    expect(seen).toEqual([]);
  });

  it('catches up under its name when it is spawned again', async () => {
    const { clock, manager, processes } = managed();
    const first = await manager.spawn(scheduledRequest({ scheduleId: 'nightly', cronExpression: '0 2 * * *' }));
    await settled();
    await manager.cancel(first.id);
    await clock.advance(50 * HOUR);
    const second = await manager.spawn(scheduledRequest({ scheduleId: 'nightly', cronExpression: '0 2 * * *' }));
    await settled();
    expect(processes.works.map(({ start }) => start.request.label)).toEqual([`a schedule @ ${at(50 * HOUR)}`]);
    expect(manager.get(second.id)?.nextFireAt).toBe(at(74 * HOUR));
    await manager.shutdown();
  });
});

describe('a schedule of real commands, in real time, over files', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'real-schedule-'));
  });
  afterEach(() => {
    rmSync(home, { recursive: true, force: true });
  });

  it('runs the command at its second and keeps what came of it', async () => {
    const clock = createSystemClock();
    const runners = {
      scheduled: createScheduledTaskRunner({
        clock,
        cron,
        store: createFileScheduleStore({ directory: join(home, 'schedules') }),
      }),
      process: createManagedShellProcessRunner({
        processTree: createProcessTree({ clock, directory: join(home, 'processes') }),
        clock,
      }),
    };
    const manager = new BackgroundTaskManager({ runners, clock });
    const soon = new Date(Math.ceil(clock.now() / 1_000 + 0.5) * 1_000).toISOString().replace('.000', '');
    const { id } = await manager.spawn(
      scheduledRequest({
        scheduleId: 'real',
        cronExpression: soon,
        cwd: home,
        command: 'date +%s > fired; echo out; exit 7',
      }),
    );
    expect(await manager.wait(id)).toMatchObject({ output: 'fired 1 time' });
    expect(Number(readFileSync(join(home, 'fired'), 'utf8')) * 1_000).toBeGreaterThanOrEqual(Date.parse(soon));
    expect(manager.list({ parentTaskId: id })).toMatchObject([
      { status: 'completed', result: { output: expect.stringContaining('out') as string, exitCode: 7 } },
    ]);
    await manager.shutdown();
  });
});
