/**
 * A worker of durable schedules as a process of its own, on real time, over a home or a database that it shares with
 * others. It ends when its parent leaves.
 *
 *   argv: home, where it kills itself (`before-send`, `after-send` or `nowhere`), the URL of a database, or nothing,
 *   and the folder by which
 *     workers of this machine know of each other whether they live
 *   out:  { ready: true } once its schedules have started
 */
import { join } from 'node:path';
import { createSystemClock } from '../../dist/actors/clock/system-clock.js';
import { createDurableScheduleRunner } from '../../dist/actors/schedule/durable-runner.js';
import { DurableSchedules } from '../../dist/actors/schedule/durable-schedules.js';
import { createScheduledTaskRunner } from '../../dist/actors/schedule/scheduled-task-runner.js';
import { createSlotOwners } from '../../dist/actors/schedule/slot-owners.js';
import { BackgroundTaskManager } from '../../dist/actors/task/background-task-manager.js';
import { createHostLife } from '../../dist/adapters/host-life/socket-host-life.js';
import { createCronerPlan } from '../../dist/adapters/cron/croner-plan.js';
import { createFileScheduleStore } from '../../dist/adapters/schedule-files/file-schedule-store.js';
import { openScheduleDatabase } from './schedule-database.mjs';
import { createNodeRuntime } from '../../dist/node.js';

const [home = '', crash = '', url = '', hosts = ''] = process.argv.slice(2);
const clock = createSystemClock();
const cron = createCronerPlan();
const slots =
  url === '' ? createFileScheduleStore({ directory: join(home, 'schedules') }) : await openScheduleDatabase(url);
const owners = createSlotOwners({ life: createHostLife({ directory: hosts }) });
const runner = createDurableScheduleRunner(createScheduledTaskRunner({ clock, cron, store: slots, owners }));
const tasks = new BackgroundTaskManager({ clock, runners: { scheduled: runner } });
const runtime = await createNodeRuntime({ home, ...(url === '' ? {} : { store: { postgres: url } }) });

const die = () => process.kill(process.pid, 'SIGKILL');
const schedules = new DurableSchedules({
  registry: runtime.schedules,
  tasks,
  runner,
  clock,
  owners,
  cwd: home,
  sessions: {
    async send(sessionId, message, options) {
      if (crash === 'before-send') die();
      const receipt = await runtime.sessions.send(sessionId, message, options);
      if (crash === 'after-send') die();
      return receipt;
    },
  },
  onTrouble: (trouble) => console.error(trouble),
});
process.on('disconnect', () => process.exit());
await schedules.start();
process.send?.({ ready: true });
