import { expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { TasksElsewhere } from '../../../src/actors/task/tasks-elsewhere.ts';

it('a task whose process lives where it cannot be asked is not said to be cancelled', async () => {
  const token = 'boot-1-0123456789';
  const tasks = new TasksElsewhere({
    hosts: {
      // As of another machine over the same disk: it lives, or may live.
      others: async () => ({ tokens: [], beyond: 1 }),
      isAlive: async () => undefined,
      isOwn: () => false,
      ask: async () => ({ is: 'silent' }),
      answerWith: () => undefined,
    },
    processTree: {
      reconcile: async () => [
        {
          ...{ tag: 'a', taskId: 'task_1', pid: 50, host: { pid: 9, token } },
          ...{ action: 'left', reason: 'elsewhere', survivors: [{ pid: 50, startTime: '1' }] },
        },
      ],
    },
    logs: { find: async () => undefined, open: async () => undefined },
    clock: createSimulatedClock(),
  });
  const id = '01234567/task_1';
  expect(await tasks.get(id)).toMatchObject({ status: 'running', process: { reach: 'silent' } });
  await expect(tasks.cancel(id)).rejects.toMatchObject({ code: 'TASK_PROCESS_SILENT', category: 'timeout' });
});
