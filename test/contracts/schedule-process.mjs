/**
 * A process that runs the schedule `shared`, one fire a minute, over a directory or a database that it shares with
 * others. Its clock is simulated and moves when the parent says so. Each fire is a line in a file, written before
 * anything else happens: it is there even if the process is killed.
 *
 *   argv: directory or URL of a database, file of fires, name of the process, start in epoch milliseconds, catch-up
 *   policy as JSON
 *   in:   { untilMs }    out: { readyAtMs } once it sleeps, { reachedMs } when all slots up to there are decided
 */
import { appendFileSync } from 'node:fs';
import { createSimulatedClock } from '../../dist/actors/clock/simulated-clock.js';
import { createScheduledTaskRunner } from '../../dist/actors/schedule/scheduled-task-runner.js';
import { createCronerPlan } from '../../dist/adapters/cron/croner-plan.js';
import { createFileScheduleStore } from '../../dist/adapters/schedule-files/file-schedule-store.js';
import { openScheduleDatabase } from './schedule-database.mjs';

const [place = '', fires = '', name = '', startMs = '', catchUp = ''] = process.argv.slice(2);
const MINUTE = 60_000;

const clock = createSimulatedClock({ now: Number(startMs) });
const turn = () => new Promise((resolve) => setImmediate(resolve));

let spawned = 0;
let waitedFor = 0;
const children = {
  async spawn(/** @type {any} */ request) {
    appendFileSync(fires, `${request.metadata.slot} ${name}\n`);
    return /** @type {any} */ ({ id: `${name}_${(spawned += 1)}`, status: 'running' });
  },
  async wait(/** @type {string} */ taskId) {
    waitedFor += 1;
    return { taskId, output: '' };
  },
  async cancel() {},
  async close() {},
};

let nextFireMs = Number.NaN;
const runner = createScheduledTaskRunner({
  clock,
  cron: createCronerPlan({ timezone: 'UTC' }),
  // Small segments, so that they are sealed in the middle of the race.
  store: place.startsWith('postgres')
    ? await openScheduleDatabase(place)
    : createFileScheduleStore({ directory: place, durability: 'os', maxSegmentBytes: 3_000 }),
});
void runner.start({
  taskId: name,
  request: /** @type {any} */ ({
    kind: 'scheduled',
    label: 'shared',
    scheduleId: 'shared',
    cwd: '/',
    cronExpression: '* * * * *',
    command: 'true',
    catchUp: JSON.parse(catchUp),
    mode: 'background',
    parentSessionId: 'local',
    depth: 0,
    priority: 0,
  }),
  children,
  signal: new AbortController().signal,
  emit: (event) => {
    if (event.type === 'background_task_sleeping') nextFireMs = Date.parse(event.nextFireAt ?? '');
    if (event.type === 'background_task_progress') nextFireMs = Date.parse(event.progress.nextFireAt ?? '');
  },
});

// A fire is announced before it is over, and one that still runs would have the next slot skipped: no minute passes
// over it.
const decided = async () => {
  while (!(nextFireMs > clock.now()) || waitedFor < spawned) await turn();
  await turn();
};

/** @param {number} untilMs */
async function goOn(untilMs) {
  while (clock.now() < untilMs) {
    await clock.advance(Math.min(MINUTE, untilMs - clock.now()));
    await decided();
  }
  process.send?.({ reachedMs: untilMs });
}

process.on('message', (/** @type {{ untilMs: number }} */ { untilMs }) => void goOn(untilMs));
process.on('disconnect', () => process.exit());

await decided();
process.send?.({ readyAtMs: clock.now() });
