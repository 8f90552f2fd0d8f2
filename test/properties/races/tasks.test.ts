/**
 * Pairs that race over one task: whatever comes first, it has one outcome, which everybody is told once, and nothing of
 * it stays.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { isTerminalBackgroundTaskStatus } from '../../../src/machines/task/task-lifecycle.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import type { ManualRunner } from '../../support/manual-runner.ts';
import { inTurn } from '../../support/racing-store.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { processRequest } from '../../support/task-requests.ts';

interface Setup {
  readonly manager: BackgroundTaskManager;
  readonly runner: ManualRunner<'process'>;
  readonly events: BackgroundTaskEvent[];
  readonly timers: () => number;
}

/** Runners take their time to start, in the order of the scheduler. */
function open(scheduler: fc.Scheduler): Setup {
  const clock = createSimulatedClock();
  const runner = createManualRunner('process');
  const slow: ManualRunner<'process'> = {
    ...runner,
    start: async (start) => {
      await scheduler.schedule(Promise.resolve(), 'the runner answers');
      return runner.start(start);
    },
  };
  const manager = new BackgroundTaskManager({
    clock,
    runners: { process: slow },
    maxConcurrent: 1,
    cancelDeadlineMs: 0,
  });
  const events: BackgroundTaskEvent[] = [];
  manager.subscribe((event) => events.push(event));
  return { manager, runner, events, timers: () => clock.pendingTimers };
}

/** What was told of each task's end, in order. */
function ends(events: readonly BackgroundTaskEvent[]): Map<string, string[]> {
  const told = new Map<string, string[]>();
  for (const event of events) {
    if (!('task' in event)) continue;
    const { id, status } = event.task;
    told.set(id, [...(told.get(id) ?? []), ...(isTerminalBackgroundTaskStatus(status) ? [status] : [])]);
  }
  return told;
}

function expectOneEndEach({ manager, events, timers }: Setup): void {
  for (const [id, told] of ends(events)) expect([id, told]).toEqual([id, [manager.get(id)?.status]]);
  expect(timers()).toBe(0);
}

/** What `wait` says, as the status that goes with it. */
async function outcomeOf(waited: Promise<unknown>): Promise<string> {
  return waited.then(
    () => 'completed',
    (error: unknown) => ((error as Error).message.includes('cancel') ? 'cancelled' : 'failed'),
  );
}

describe('a cancel that races the end of the work', () => {
  it.each(['completes', 'fails'] as const)(
    'leaves a task that %s with one outcome, told once, and whoever waits hears the same',
    async (how) => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), fc.boolean(), async (scheduler, isSlowToStop) => {
          const setup = open(scheduler);
          const { id } = await setup.manager.spawn(processRequest());
          const waited = outcomeOf(setup.manager.wait(id));
          const end = inTurn(scheduler, 'end', async () => {
            const work = setup.runner.works.find(({ start }) => start.taskId === id);
            if (isSlowToStop && work !== undefined)
              work.onCancel = () => scheduler.schedule(Promise.resolve(), 'the work is gone');
            if (how === 'completes') work?.resolve({ output: 'done' });
            else work?.reject(new Error('it broke'));
          });
          const cancel = inTurn(scheduler, 'cancel', async () => {
            await setup.manager.cancel(id, 'enough');
          });
          await scheduler.waitFor(Promise.all([end(), cancel()]));
          await scheduler.waitIdle();
          for (const work of setup.runner.works) work.resolve({ output: 'late' });
          await settled();
          const status = setup.manager.get(id)?.status ?? '';
          expect(['cancelled', how === 'completes' ? 'completed' : 'failed']).toContain(status);
          expect(await waited).toBe(status);
          expectOneEndEach(setup);
          await setup.manager.shutdown();
        }),
        modelRuns(20),
      );
    },
  );
});

describe('a shutdown that races spawns', () => {
  it('refuses them or ends them, and resolves when nothing of them runs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 4 }), async (scheduler, count) => {
        const setup = open(scheduler);
        const spawned: (string | undefined)[] = [];
        const spawn = inTurn(scheduler, 'spawn', async () => {
          await setup.manager.spawn(processRequest()).then(
            ({ id }) => spawned.push(id),
            (error: unknown) => {
              expect(error).toMatchObject({ code: 'TASK_MANAGER_SHUT_DOWN' });
              spawned.push(undefined);
            },
          );
        });
        const shutDown = inTurn(scheduler, 'shutdown', async () => {
          await setup.manager.shutdown('enough');
          expect(setup.manager.list().filter(({ status }) => !isTerminalBackgroundTaskStatus(status))).toEqual([]);
        });
        await scheduler.waitFor(Promise.all([shutDown(), ...Array.from({ length: count }, () => spawn())]));
        await scheduler.waitIdle();
        // Accepted means recorded: each of them has its end, and there are no others.
        expect(
          setup.manager
            .list()
            .map(({ id }) => id)
            .toSorted(),
        ).toEqual(spawned.flatMap((id) => id ?? []).toSorted());
        expectOneEndEach(setup);
        await expect(setup.manager.spawn(processRequest())).rejects.toMatchObject({ code: 'TASK_MANAGER_SHUT_DOWN' });
      }),
      modelRuns(20),
    );
  });
});

describe('an answer that races the end of the work', () => {
  it.each([true, false])('counts once or is refused (allowed: %s), and the task has one outcome', async (allowed) => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const setup = open(scheduler);
        const { id } = await setup.manager.spawn(processRequest());
        await scheduler.waitIdle();
        await settled();
        setup.runner
          .of(id)
          .say({ type: 'background_task_permission_request', requestId: 'q', toolName: 't', toolArgs: {} });
        const answer = inTurn(scheduler, 'answer', async () => {
          return setup.manager.send(id, { permission: { requestId: 'q', allowed } }).then(
            () => true,
            () => false,
          );
        });
        const again = inTurn(scheduler, 'the same answer', async () => {
          return setup.manager.send(id, { permission: { requestId: 'q', allowed } }).then(
            () => true,
            () => false,
          );
        });
        const end = inTurn(scheduler, 'end', async () => {
          setup.runner.of(id).resolve({ output: 'done' });
        });
        const [first, second] = await scheduler.waitFor(Promise.all([answer(), again(), end()]));
        await scheduler.waitIdle();
        await settled();
        expect([first, second].filter(Boolean).length).toBeLessThanOrEqual(1);
        expect(setup.runner.of(id).inputs.length).toBeLessThanOrEqual(1);
        expect(['completed', 'failed']).toContain(setup.manager.get(id)?.status);
        if (allowed) expect(setup.manager.get(id)?.status).toBe('completed');
        expectOneEndEach(setup);
        await setup.manager.shutdown();
      }),
      modelRuns(20),
    );
  });
});

describe('what the races are judged by', () => {
  it('finds an end that was told twice, and one that was not told', () => {
    const scheduler = fc.sample(fc.scheduler(), 1)[0] as fc.Scheduler;
    const setup = open(scheduler);
    const task = { id: 'task_9', status: 'cancelled' } as never;
    const twice = {
      ...setup,
      events: [
        { type: 'background_task_cancelled', task },
        { type: 'background_task_cancelled', task },
      ] as BackgroundTaskEvent[],
    };
    expect(() => expectOneEndEach(twice)).toThrow();
    const untold = {
      ...setup,
      events: [{ type: 'background_task_started', task: { id: 'task_9', status: 'running' } }] as never,
    };
    expect(() => expectOneEndEach(untold)).toThrow();
  });
});
