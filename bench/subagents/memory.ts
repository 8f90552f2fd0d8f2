/**
 * What the process of a worker takes while it waits for a job, beside a bare fork: in all, and what it shares with no
 * other process. Linux only.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { endFork, openStage } from './worker-parts.ts';
import type { Stage } from './worker-parts.ts';

const ROUNDS = 5;
const KIB = 1_024;

interface Memory {
  readonly resident: number;
  readonly own: number;
}

function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const bytesOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * KIB;
  return { resident: bytesOf('Rss'), own: bytesOf('Private_Clean') + bytesOf('Private_Dirty') };
}

async function workerMemory(stage: Stage): Promise<Memory> {
  const { process, talk } = await stage.startWorker(stage.workerPath);
  await talk.ready;
  await talk.send({ type: 'prepare', parentConfig: { home: stage.home } });
  await talk.warm;
  const memory = memoryOf(process.pid);
  await process.end({ graceMs: 0 });
  return memory;
}

async function forkMemory(stage: Stage): Promise<Memory> {
  const child = stage.bareFork();
  await once(child, 'message');
  const memory = memoryOf(child.pid ?? 0);
  await endFork(child);
  return memory;
}

export async function run(): Promise<BenchRow[]> {
  if (process.platform !== 'linux') return [];
  const stage = await openStage();
  try {
    const pairs: { readonly worker: Memory; readonly bare: Memory }[] = [];
    await repeat(ROUNDS, async () => pairs.push({ bare: await forkMemory(stage), worker: await workerMemory(stage) }));
    const row = (name: string, read: (memory: Memory) => number): BenchRow => {
      const [values, bare] = [pairs.map(({ worker }) => read(worker)), median(pairs.map((pair) => read(pair.bare)))];
      return {
        name: `subagent worker, warm: ${name}`,
        unit: 'bytes',
        value: median(values),
        spread: spread(values),
        peer: 'fork',
        peerValue: bare,
        ratio: median(values) / bare,
        target: 'told',
        met: true,
      };
    };
    return [
      row('resident', ({ resident }) => resident),
      row('its own, shared with no other process', ({ own }) => own),
    ];
  } finally {
    await stage.remove();
  }
}
