/**
 * What a recorder costs the program that it is attached to, each figure beside the same work without it: tasks that
 * come all at once, and tasks that come in waves, whose payloads are all kept. What it takes up, and how long it holds
 * the event loop where a hundred thousand actors live.
 */
import { collectGarbage, interleave, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { createManager, noop, request } from '../tasks/managers.ts';
import { TASKS, createVastManager, loadRecorder, taskUs } from './watched-tasks.ts';
import type { Attach, Mode, Recorder, Wave } from './watched-tasks.ts';

const ROUNDS = 5;
const WAVE = 500;
const ACTORS = 100_000;

interface Comparison {
  readonly mode: Mode;
  readonly name: string;
  readonly wave: Wave;
  readonly limit: number;
}

const COMPARISONS: readonly Comparison[] = [
  { mode: 'on', name: 'with a recorder, all at once', wave: undefined, limit: 2 },
  { mode: 'followed', name: 'with a recorder and a follower, all at once', wave: undefined, limit: 2.5 },
  { mode: 'detached', name: 'after it was detached, all at once', wave: undefined, limit: 1.05 },
  { mode: 'on', name: `with a recorder, ${WAVE} a turn`, wave: WAVE, limit: 3 },
  { mode: 'followed', name: `with a recorder and a follower, ${WAVE} a turn`, wave: WAVE, limit: 4 },
  { mode: 'detached', name: `after it was detached, ${WAVE} a turn`, wave: WAVE, limit: 1.05 },
];

async function compare(attach: Attach, { mode, name, wave, limit }: Comparison): Promise<BenchRow> {
  const { a: without, b: values } = await interleave(
    ROUNDS,
    () => taskUs(attach, 'off', wave),
    () => taskUs(attach, mode, wave),
  );
  const ratio = median(values.map((value, index) => value / (without[index] ?? Number.NaN)));
  return {
    name: `no-op tasks ${name}`,
    unit: 'us per task',
    value: median(values),
    spread: spread(values),
    peer: 'without',
    peerValue: median(without),
    ratio,
    target: `<= ${limit} x`,
    met: ratio <= limit,
  };
}

/** Of everything that a full recorder holds: what is gone when it is. */
async function bytesPerRecord(attach: Attach): Promise<number> {
  const manager = createManager(noop);
  let recorder: Recorder | undefined = attach(manager);
  for (let count = 0; count < TASKS / 5; count += 1) {
    const { id } = await manager.spawn(request);
    await manager.wait(id);
    await manager.close(id);
  }
  const { keptRecords } = recorder.statistics;
  const full = usedBytes();
  recorder.detach();
  recorder = undefined;
  // What it holds on to until the turn is over.
  await turn();
  return (full - usedBytes()) / keptRecords;
}

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Attaches to a system of many actors, meets them, hears of one that moves, reads everything, detaches. @returns the
 * longest stop of the event loop, in milliseconds
 */
async function longestStopMs(attach: Attach): Promise<number> {
  const manager = await createVastManager();
  for (let count = 0; count < ACTORS; count += 1) {
    void manager.spawn(request);
    if (count % 1_000 === 0) await turn();
  }
  collectGarbage();
  let longest = 0;
  let sinceMs = performance.now();
  const note = (): void => {
    longest = Math.max(longest, performance.now() - sinceMs);
    sinceMs = performance.now();
  };
  const recorder = attach(manager);
  if (recorder.statistics.untoldActors < ACTORS / 2)
    throw new Error('the recorder does not see the actors that it is measured with');
  recorder.follow(() => undefined);
  do {
    note();
    await turn();
  } while (recorder.statistics.untoldActors > 0);
  for await (const _page of recorder.records(0)) {
    note();
    await turn();
  }
  note();
  recorder.detach();
  note();
  return longest;
}

export async function run(): Promise<BenchRow[]> {
  const attach = await loadRecorder();
  const rows: BenchRow[] = [];
  for (const comparison of COMPARISONS) rows.push(await compare(attach, comparison));
  const bytes = await repeat(3, () => bytesPerRecord(attach));
  rows.push({
    name: 'a kept record of no-op tasks',
    unit: 'bytes',
    value: median(bytes),
    spread: spread(bytes),
    target: '<= 120',
    met: median(bytes) <= 120,
  });
  const stops = await repeat(3, () => longestStopMs(attach));
  rows.push({
    name: `the longest stop of the event loop at ${ACTORS.toLocaleString('en')} actors`,
    unit: 'ms',
    value: median(stops),
    spread: spread(stops),
    target: '<= 50 ms',
    met: median(stops) <= 50,
  });
  return rows;
}
