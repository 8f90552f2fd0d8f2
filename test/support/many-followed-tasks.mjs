/**
 * Follows all tasks of another process but one, one after another, and tells what this process has open before and
 * after. The one that is left keeps the other process.
 */
import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createNodeRuntime } from '../../dist/node.js';

/** Until then what is made once for a process has been made. */
const FIRST = 5;
const PATIENCE_MS = 20_000;

const [home = ''] = process.argv.slice(2);
const { tasksElsewhere, shutdown } = await createNodeRuntime({ home, reconcileOnStart: false });
// One that lasts: each follower that forgets to leave would stay on it.
const { signal } = new AbortController();

function open() {
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo().toSorted(),
    signalListeners: getEventListeners(signal, 'abort').length,
    processListeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/**
 * What is closed is gone in a moment; where that never comes the last state is told.
 * @param {(state: object, last: object | undefined) => boolean} isSettled
 */
async function settled(isSettled) {
  const deadline = performance.now() + PATIENCE_MS;
  let last;
  let state = open();
  while (!isSettled(state, last) && performance.now() < deadline) {
    await delay(50);
    last = state;
    state = open();
  }
  return state;
}

/** @param {string} id */
async function isRunning(id) {
  return (await tasksElsewhere.get(id))?.logPath !== undefined;
}

/** @param {{ id: string, taskId: string }} task @param {number} index */
async function follow({ id, taskId }, index) {
  while (!(await isRunning(id))) await delay(10);
  const types = new Set();
  for await (const news of tasksElsewhere.follow(id, { signal, unfinished: index % 2 === 0 })) {
    if (types.size === 0) await tasksElsewhere.send(id, { stdin: `${taskId}\n` });
    types.add(news.type === 'ended' ? news.task.status : news.type);
  }
  return types.has('lines') && types.has('completed');
}

/** @param {object | undefined} one @param {object | undefined} other */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const tasks = (await tasksElsewhere.list()).slice(0, -1);
let followed = 0;
for (const [index, task] of tasks.slice(0, FIRST).entries()) await follow(task, index);
const before = await settled(isSame);
for (const [index, task] of tasks.slice(FIRST).entries()) if (await follow(task, index)) followed += 1;
const after = await settled((state) => isSame(state, before));
process.stdout.write(JSON.stringify({ before, after, followed }));
await shutdown();
