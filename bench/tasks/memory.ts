/** Heap per task: while it lives, and as a record after it has ended. */
import { collectGarbage, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { createManager, endless, noop, request } from './managers.ts';

const COUNT = 50_000;

function heapBytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

async function liveBytes(): Promise<number> {
  const manager = createManager(endless, { maxConcurrent: Infinity });
  const before = heapBytes();
  for (let index = 0; index < COUNT; index += 1) void manager.spawn(request);
  await new Promise((resolve) => setImmediate(resolve));
  const bytes = (heapBytes() - before) / COUNT;
  await manager.shutdown();
  return bytes;
}

async function finishedBytes(): Promise<number> {
  const manager = createManager(noop);
  const before = heapBytes();
  for (let index = 0; index < COUNT; index += 1) {
    void manager.spawn(request);
    if (index % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  while (manager.list({ status: ['queued', 'running'] }).length > 0)
    await new Promise((resolve) => setImmediate(resolve));
  const bytes = (heapBytes() - before) / COUNT;
  if (manager.list().length !== COUNT) throw new Error('a record was lost');
  return bytes;
}

export async function run(): Promise<BenchRow[]> {
  const live = await repeat(5, liveBytes);
  const finished = await repeat(5, finishedBytes);
  const row = (name: string, values: number[], limit: number): BenchRow => ({
    name,
    unit: 'bytes',
    value: median(values),
    spread: spread(values),
    target: `<= ${limit.toLocaleString('en')} bytes`,
    met: median(values) <= limit,
  });
  return [row('memory per live task', live, 2_500), row('memory per finished task that is kept', finished, 600)];
}
