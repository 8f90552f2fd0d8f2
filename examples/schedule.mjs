// @ts-check
/**
 * A schedule that fires every second, three times. Each fire is a task of its own, with its own output and exit code.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';

const FIRES = 3;

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const runtime = await createNodeRuntime({ home });
const { tasks } = runtime;

try {
  /** @type {Promise<void>} */
  const enough = new Promise((resolve) => {
    let fires = 0;
    tasks.events$().subscribe((event) => {
      if (event.type !== 'background_task_completed' || event.task.kind !== 'process') return;
      fires += 1;
      console.log(`fire ${fires}: "${event.task.label}" wrote ${event.task.result?.output.trim()}`);
      if (fires === FIRES) resolve();
    });
  });

  const ticker = await tasks.spawn({
    kind: 'scheduled',
    label: 'ticker',
    // A name makes it remembered: its next start knows which fires were missed, and catchUp says what to do about them.
    scheduleId: 'ticker',
    cronExpression: '* * * * * *',
    command: 'echo tick',
    cwd: home,
    overlap: 'skip',
    catchUp: 'none',
  });
  await enough;

  // Between two fires it sleeps, and holds no slot of the pool.
  await tasks.cancel(ticker.id, 'seen enough');
  console.log(`the schedule is ${tasks.get(ticker.id)?.status}`);
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true, force: true });
}
