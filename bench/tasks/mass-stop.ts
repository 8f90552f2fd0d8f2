/** Shutting down with a full queue, and cancelling tasks newest first: both once quadratic, both flat now. */
import { median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { createManager, endless, request } from './managers.ts';

async function filled(count: number): Promise<ReturnType<typeof createManager>> {
  const manager = createManager(endless);
  manager.subscribe(() => undefined);
  for (let index = 0; index < count; index += 1) void manager.spawn(request);
  await new Promise((resolve) => setImmediate(resolve));
  return manager;
}

async function shutdownMs(count: number): Promise<number> {
  const manager = await filled(count);
  const startedMs = performance.now();
  await manager.shutdown();
  return performance.now() - startedMs;
}

async function cancelNewestFirstMs(count: number): Promise<number> {
  const manager = await filled(count);
  const ids = manager.list().map((task) => task.id);
  const startedMs = performance.now();
  const cancelled: Promise<void>[] = [];
  for (let index = ids.length - 1; index >= 0; index -= 1)
    cancelled.push(manager.cancel(ids[index] ?? '', 'newest first'));
  await Promise.all(cancelled);
  return performance.now() - startedMs;
}

const LARGE = 100_000;
const SMALL = 10_000;

export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [name, measure] of [
    ['shutdown with queued tasks', shutdownMs],
    ['cancel newest first', cancelNewestFirstMs],
  ] as const) {
    await measure(SMALL);
    const small = await repeat(7, () => measure(SMALL));
    const large = await repeat(7, () => measure(LARGE));
    const ratio = median(large) / LARGE / (median(small) / SMALL);
    rows.push({
      name: `${name}, ${LARGE.toLocaleString('en')}`,
      unit: 'ms',
      value: median(large),
      spread: spread(large),
      target: '< 500 ms',
      met: median(large) < 500,
    });
    rows.push({
      name: `${name}, per task against 10,000`,
      unit: 'us per task',
      value: (median(large) / LARGE) * 1_000,
      spread: spread(large),
      peer: 'itself at 10,000',
      peerValue: (median(small) / SMALL) * 1_000,
      ratio,
      target: '<= 1.5 x (flat)',
      met: ratio <= 1.5,
    });
  }
  return rows;
}
