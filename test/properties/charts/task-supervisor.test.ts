/** The life of a task supervisor: the real one, in a real manager with a task that ends when it is told to. */
import { expect } from 'vitest';
import { isTerminalBackgroundTaskStatus } from '../../../src/machines/task/task-lifecycle.ts';
import { settled } from '../../support/manual-runner.ts';
import { supervisorLifecycle } from '../../../src/machines/task/supervisor-machine.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { watchChart } from '../../support/chart-model-watch.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { setUp } from '../../support/task-setup.ts';
import { processRequest } from '../../support/task-requests.ts';

interface Facts {
  /** Tasks that work, and those that wait for the only slot. */
  working: number;
  waiting: number;
  /** Being stopped, and not gone yet. */
  stopping: number;
}

interface Real extends RealSubject {
  /** Tasks in one of these statuses. */
  count(...statuses: readonly string[]): number;
  /** Those whose end was told. */
  ends(): readonly string[];
  /** @returns the code of the refusal */
  spawn(): Promise<string | undefined>;
  end(): Promise<void>;
  shutdown(): Promise<void>;
  release(): Promise<void>;
}

function open(): Real {
  const watch = watchChart(supervisorLifecycle);
  const { manager, runner, events } = setUp({ maxConcurrent: 1, cancelDeadlineMs: 0 });
  const [life] = watch.lives;
  if (life === undefined) throw new Error('the supervisor has no actor');
  const held: (() => void)[] = [];
  /** Whatever runs takes its time to stop. */
  const settle = async (): Promise<void> => {
    await settled();
    for (const work of runner.works) work.onCancel = () => new Promise((resolve) => held.push(resolve));
  };
  const release = async (): Promise<void> => {
    for (const resolve of held.splice(0)) resolve();
    await settled();
  };
  return {
    state: () => (manager.supervisor.getSnapshot() as { readonly value: string }).value,
    taken: () => life.taken,
    can: (event) => life.can(event),
    count: (...statuses) => manager.list().filter(({ status }) => statuses.includes(status)).length,
    ends: () =>
      events.flatMap((event) =>
        'task' in event && isTerminalBackgroundTaskStatus(event.task.status) ? [event.task.id] : [],
      ),
    async spawn() {
      const code = await manager.spawn(processRequest()).then(
        () => undefined,
        (error: unknown) => (error as { readonly code?: string }).code,
      );
      await settle();
      return code;
    },
    async end() {
      const [running] = manager.list({ status: ['running'] });
      if (running !== undefined) runner.of(running.id).resolve({ output: 'done' });
      await settle();
    },
    async shutdown() {
      void manager.shutdown('model');
      await settled();
    },
    release,
    async close() {
      const over = manager.shutdown();
      await settled();
      await release();
      await over;
      watch.end();
    },
  };
}

describeModel<Facts, Real>(
  'the task supervisor',
  {
    chart: supervisorLifecycle,
    facts: () => ({ working: 0, waiting: 0, stopping: 0 }),
    open,
    agree: (real, { facts }) => {
      expect([real.count('queued'), real.count('running')]).toEqual([facts.waiting, facts.working + facts.stopping]);
      const ends = real.ends();
      expect([ends.length, new Set(ends).size]).toEqual([real.count('completed', 'cancelled', 'failed'), ends.length]);
    },
    commands: {
      spawn: {
        isPossible: ({ facts }) => facts.waiting < 3,
        tells: ({ facts, value }) => {
          if (value !== 'accepting') return;
          if (facts.working === 0) facts.working = 1;
          else facts.waiting += 1;
        },
        act: async (real, before) =>
          expect(await real.spawn()).toBe(before.is('accepting') ? undefined : 'TASK_MANAGER_SHUT_DOWN'),
      },
      end: {
        isPossible: ({ facts }) => facts.working > 0,
        tells: ({ facts }) => {
          facts.working = facts.waiting > 0 ? 1 : 0;
          facts.waiting = Math.max(0, facts.waiting - 1);
        },
        act: (real) => real.end(),
      },
      shutdown: {
        tells: (model) => {
          const { facts } = model;
          model.tell('DRAIN');
          facts.stopping += facts.working;
          facts.working = 0;
          facts.waiting = 0;
          if (facts.stopping === 0) model.tell('IDLE');
        },
        act: (real) => real.shutdown(),
      },
      release: {
        isPossible: ({ facts }) => facts.stopping > 0,
        tells: (model) => {
          model.facts.stopping = 0;
          model.tell('IDLE');
        },
        act: (real) => real.release(),
      },
    },
  },
  { runs: 25 },
);
