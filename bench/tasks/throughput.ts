/**
 * No-op tasks from spawn to completed with one subscriber, against p-queue doing the same number of empty jobs; and
 * flatness up to a million.
 */
import PQueue from 'p-queue';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { CONCURRENCY, createManager, noop, request } from './managers.ts';

/**
 * Microseconds per task over `batches` batches of `count`, one after the other on one manager: managers live as long as
 * their process, and V8 learns anew what a fresh one does. Records are closed between batches, outside the measurement.
 */
async function oursUs(count: number, batches: number): Promise<number> {
  const manager = createManager(noop);
  let completed = 0;
  let done: () => void = () => undefined;
  manager.subscribe((event) => {
    if (event.type === 'background_task_completed' && (completed += 1) === count) done();
  });
  let spentMs = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    completed = 0;
    const startedMs = performance.now();
    await new Promise<void>((resolve) => {
      done = resolve;
      for (let index = 0; index < count; index += 1) void manager.spawn(request);
    });
    spentMs += performance.now() - startedMs;
    if (batch < batches - 1) await Promise.all(manager.list().map((task) => manager.close(task.id)));
  }
  return (spentMs / (count * batches)) * 1_000;
}

async function queueUs(count: number, batches: number): Promise<number> {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  let spentMs = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    let completed = 0;
    const startedMs = performance.now();
    await new Promise<void>((resolve) => {
      for (let index = 0; index < count; index += 1) {
        void queue
          .add(() => Promise.resolve(''))
          .then(() => {
            if ((completed += 1) === count) resolve();
          });
      }
    });
    spentMs += performance.now() - startedMs;
  }
  return (spentMs / (count * batches)) * 1_000;
}

/** Small counts run in several batches, so that each measurement lasts. */
const lasting =
  (measureUs: (count: number, batches: number) => Promise<number>, count: number) => (): Promise<number> =>
    measureUs(count, Math.max(1, Math.round(50_000 / count)));

const TARGET_RATIO = Number(process.versions.node.split('.')[0]) >= 22 ? 0.8 : 0.5;

export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const perTaskUs = new Map<number, number>();
  for (const count of [1_000, 10_000, 100_000, 1_000_000]) {
    const { a: ours, b: theirs } = await interleave(
      count === 1_000_000 ? 3 : 5,
      lasting(oursUs, count),
      lasting(queueUs, count),
    );
    const value = median(ours);
    const ratio = median(ours.map((own, index) => (theirs[index] ?? Number.NaN) / own));
    perTaskUs.set(count, value);
    rows.push({
      name: `no-op tasks, ${count.toLocaleString('en')} at once in, ${CONCURRENCY} at once running`,
      unit: 'us per task',
      value,
      spread: spread(ours),
      peer: 'p-queue',
      peerValue: median(theirs),
      ratio,
      target: `>= ${TARGET_RATIO} x p-queue`,
      met: ratio >= TARGET_RATIO,
    });
  }
  const baseUs = perTaskUs.get(10_000) ?? Number.NaN;
  for (const count of [1_000, 100_000, 1_000_000]) {
    const ratio = (perTaskUs.get(count) ?? Number.NaN) / baseUs;
    rows.push({
      name: `the same per task, ${count.toLocaleString('en')} against 10,000`,
      unit: 'us per task',
      value: perTaskUs.get(count) ?? Number.NaN,
      spread: '',
      peer: 'itself at 10,000',
      peerValue: baseUs,
      ratio,
      target: '<= 1.2 x',
      met: ratio <= 1.2,
    });
  }
  return rows;
}
