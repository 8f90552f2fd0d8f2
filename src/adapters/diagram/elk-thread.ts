/**
 * ELK in a thread of its own, started with the first picture: it never yields before it is done, and some small charts
 * would take it for ever. One layout at a time; a thread that is not done in time is ended, and the next layout gets
 * another one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ElkNode } from 'elkjs/lib/elk-api.js';

/** What one picture may still cost, in milliseconds of layouts. */
export interface LayoutTime {
  leftMs: number;
}

const ELK = 'elkjs/lib/elk.bundled.js';
/** A thread that has been idle for so long is ended. */
const IDLE_MS = 30_000;
const MAX_HEAP_MB = 512;

/**
 * ELK is a large program that was translated from another language: whatever it throws means only that this way does
 * not work.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const Elk = require(workerData);
const elk = new Elk();
parentPort.on('message', (graph) => elk.layout(graph).then((placed) => parentPort.postMessage(placed), () => parentPort.postMessage(undefined)));
`;

let thread: Worker | undefined;
let idle: NodeJS.Timeout | undefined;
let queue: Promise<unknown> = Promise.resolve();
/** Layouts that wait or run and that the process has to stay for. */
let awaited = 0;
const passing = new AsyncLocalStorage<true>();

/** What `work` lays out keeps no process that has nothing else to do. */
export function inPassing<Value>(work: () => Value): Value {
  return passing.run(true, work);
}

/**
 * The graph with its places; undefined where ELK has none, or not in time: then nothing of `time` is left. @throws
 * Error where there is no ELK
 */
export function placedByElk(graph: ElkNode, time: LayoutTime): Promise<ElkNode | undefined> {
  const isAwaited = passing.getStore() !== true;
  if (isAwaited) {
    awaited += 1;
    thread?.ref();
  }
  const mine = queue
    .then(() => place(graph, time))
    .finally(() => {
      if (isAwaited) awaited -= 1;
      if (awaited === 0) thread?.unref();
    });
  queue = mine.catch(() => undefined);
  return mine;
}

async function place(graph: ElkNode, time: LayoutTime): Promise<ElkNode | undefined> {
  if (time.leftMs <= 0) return undefined;
  clearTimeout(idle);
  const begun = performance.now();
  thread ??= started();
  const worker = thread;
  const answer = await answerOf(worker, graph, time.leftMs);
  if (answer === 'late') {
    time.leftMs = 0;
    await worker.terminate();
    return undefined;
  }
  time.leftMs -= performance.now() - begun;
  idle = setTimeout(() => void worker.terminate(), IDLE_MS).unref();
  return answer;
}

function started(): Worker {
  const path = createRequire(import.meta.url).resolve(ELK);
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData: path,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const forget = (): void => {
    if (thread === worker) thread = undefined;
  };
  // One that ran out of memory is as good as one that was late: its end is what counts.
  worker.on('error', forget).on('exit', forget);
  return worker;
}

async function answerOf(worker: Worker, graph: ElkNode, leftMs: number): Promise<ElkNode | undefined | 'late'> {
  const { promise, resolve } = answerAwaited();
  const fail = (): void => resolve('late');
  const timer = setTimeout(fail, leftMs).unref();
  worker.on('message', resolve).on('exit', fail);
  // One that is listened to keeps the process.
  if (awaited === 0) worker.unref();
  try {
    worker.postMessage(graph);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off('message', resolve).off('exit', fail);
  }
}

function answerAwaited(): {
  readonly promise: Promise<ElkNode | undefined | 'late'>;
  readonly resolve: (answer: ElkNode | undefined | 'late') => void;
} {
  let resolve: (answer: ElkNode | undefined | 'late') => void = () => undefined;
  const promise = new Promise<ElkNode | undefined | 'late'>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
