/**
 * A worker over a home where a hundred thousand sessions sleep: what it costs while nothing is due, and how soon it is
 * at work.
 */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileEventStore, createNodeRuntime, createSystemClock } from 'wakechart/node';
import { collectGarbage, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const SLEEPING = 100_000;
const RESTS_MS = 3_000;
const DAY_MS = 86_400_000;

interface Idle {
  readonly cpuMsPerSecond: number;
  readonly heapBytes: number;
  readonly files: number;
  readonly startMs: number;
}

const uuid = (n: number): string => `0192f0c1-2345-7abc-8def-${n.toString(16).padStart(12, '0')}`;

async function homeWith(sleeping: number): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'bench-worker-'));
  const { activations } = new FileEventStore({ home, clock: createSystemClock() });
  const soonestMs = Date.now() + DAY_MS / 24;
  const hint = (n: number): Parameters<typeof activations.add>[0][0] => ({
    sessionId: uuid(n),
    agentId: 'sleeper',
    causeId: uuid(n + SLEEPING),
    kind: 'wake',
    priority: 'normal',
    dueAtMs: soonestMs + Math.floor((n / sleeping) * DAY_MS),
  });
  for (let start = 0; start < sleeping; start += 1_000)
    await activations.add(Array.from({ length: Math.min(1_000, sleeping - start) }, (_, index) => hint(start + index)));
  return home;
}

async function idleOver(home: string): Promise<Idle> {
  const runtime = await createNodeRuntime({ home });
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const beganMs = performance.now();
  const worker = runtime.startWorker();
  await new Promise<void>((resolve) => worker.events$.subscribe(({ type }) => type === 'idle' && resolve()));
  const startMs = performance.now() - beganMs;
  const cpu = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, RESTS_MS));
  const { user, system } = process.cpuUsage(cpu);
  collectGarbage();
  const idle = {
    cpuMsPerSecond: (user + system) / 1_000 / (RESTS_MS / 1_000),
    heapBytes: process.memoryUsage().heapUsed - before,
    files: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
    startMs,
  };
  await runtime.shutdown();
  return idle;
}

export async function run(): Promise<BenchRow[]> {
  const homes = { many: await homeWith(SLEEPING), few: await homeWith(10) };
  try {
    const many: Idle[] = [];
    const few: Idle[] = [];
    await idleOver(homes.few);
    await repeat(5, async () => {
      few.push(await idleOver(homes.few));
      many.push(await idleOver(homes.many));
      return 0;
    });
    const row = (name: string, unit: string, read: (idle: Idle) => number, limit: number): BenchRow => {
      const [value, peerValue] = [median(many.map(read)), median(few.map(read))];
      return {
        name: `worker over ${SLEEPING.toLocaleString('en')} sleeping sessions: ${name}`,
        unit,
        value,
        spread: spread(many.map(read)),
        peer: 'over 10',
        peerValue,
        target: `<= ${limit} ${unit}`,
        met: value <= limit,
      };
    };
    return [
      row('processor time per second', 'ms', ({ cpuMsPerSecond }) => cpuMsPerSecond, 2),
      row('heap', 'bytes', ({ heapBytes }) => heapBytes, 2_000_000),
      row('open files', 'files', ({ files }) => files, median(few.map(({ files }) => files)) + 1),
      row('start to rest', 'ms', ({ startMs }) => startMs, 100),
    ];
  } finally {
    for (const home of Object.values(homes)) await rm(home, { recursive: true, force: true });
  }
}
