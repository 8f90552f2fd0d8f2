/**
 * A gigabyte of output through a process task, against a Node program that reads the same pipe and does nothing with
 * it.
 *
 * The command prints lines of 60 to 100 characters from a file that lies in the page cache: as fast as anything can
 * print.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createManagedShellProcessRunner, createProcessTree, createSystemClock } from 'wakechart/node';
import { collectGarbage, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

type Start = Parameters<ReturnType<typeof createManagedShellProcessRunner>['start']>[0];

const GIGABYTE = 1_000_000_000;
const COPIES = 16;
const ROUNDS = 5;
const TARGET_RATIO = 0.7;
/** What the engine may keep of dead buffers before it collects them. */
const FLAT_MEGABYTES = 96;

interface Measurement {
  readonly seconds: number;
  /** Peak resident memory above what the process had before. */
  readonly grownMegabytes: number;
}

export async function run(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gigabyte-'));
  try {
    const command = await writeCommand(folder);
    const inMemory = taskRunner(folder, undefined);
    const onDisk = taskRunner(folder, join(folder, 'logs'));
    const runs = { plain: [] as Measurement[], inMemory: [] as Measurement[], onDisk: [] as Measurement[] };
    for (let round = -1; round < ROUNDS; round += 1) {
      const plain = await measured(() => readPlainly(command));
      const memory = await measured(() => inMemory(command));
      const disk = await measured(() => onDisk(command));
      await rm(join(folder, 'logs'), { recursive: true, force: true });
      // The first round warms up.
      if (round < 0) continue;
      runs.plain.push(plain);
      runs.inMemory.push(memory);
      runs.onDisk.push(disk);
    }
    return rowsOf(runs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeCommand(folder: string): Promise<string> {
  const path = join(folder, 'lines.txt');
  const lines: string[] = [];
  for (let size = 0; size < GIGABYTE / COPIES; size += (lines.at(-1)?.length ?? 0) + 1) {
    lines.push(`line ${lines.length} `.padEnd(60 + ((lines.length * 7919) % 40), 'x'));
  }
  const text = lines.join('\n').slice(0, GIGABYTE / COPIES - 1);
  await writeFile(path, `${text}\n`);
  return `for copy in ${Array.from({ length: COPIES }, (_, copy) => copy).join(' ')}; do cat '${path}'; done`;
}

function taskRunner(folder: string, logDirectory: string | undefined): (command: string) => Promise<void> {
  const clock = createSystemClock();
  const runner = createManagedShellProcessRunner({
    processTree: createProcessTree({ clock, directory: join(folder, 'processes') }),
    clock,
    logDirectory,
  });
  return async (command) => {
    const handle = await runner.start({
      taskId: 'bench',
      request: {
        kind: 'process',
        label: 'bench',
        mode: 'foreground',
        parentSessionId: 'bench',
        depth: 0,
        priority: 0,
        cwd: folder,
        command,
      },
      emit: () => undefined,
      signal: new AbortController().signal,
      children: {} as Start['children'],
    });
    const { metadata } = await handle.result;
    if (metadata?.['outputBytes'] !== GIGABYTE)
      throw new Error(`expected ${GIGABYTE} bytes of output, the task saw ${String(metadata?.['outputBytes'])}`);
  };
}

async function readPlainly(command: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(child, 'close');
  if (bytes !== GIGABYTE) throw new Error(`expected ${GIGABYTE} bytes, read ${bytes}`);
}

async function measured(work: () => Promise<void>): Promise<Measurement> {
  collectGarbage();
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(sampler);
  return { seconds, grownMegabytes: (peak - before) / 1_000_000 };
}

function rowsOf({
  plain,
  inMemory,
  onDisk,
}: Readonly<Record<'plain' | 'inMemory' | 'onDisk', readonly Measurement[]>>): BenchRow[] {
  const secondsOf = (runs: readonly Measurement[]): number[] => runs.map(({ seconds }) => seconds);
  const plainSeconds = median(secondsOf(plain));
  const speedRow = (name: string, runs: readonly Measurement[]): BenchRow => {
    const seconds = median(secondsOf(runs));
    // The ratio of each round is taken within it: the machine was the same then.
    const ratio = median(runs.map((one, round) => (plain[round]?.seconds ?? Number.NaN) / one.seconds));
    return {
      name,
      unit: 'GB/s',
      value: 1 / seconds,
      spread: spread(secondsOf(runs)),
      peer: 'plain Node reader',
      peerValue: 1 / plainSeconds,
      ratio,
      target: `≥ ${TARGET_RATIO} × reader`,
      met: ratio >= TARGET_RATIO,
    };
  };
  const growth = Math.max(
    ...inMemory.map(({ grownMegabytes }) => grownMegabytes),
    ...onDisk.map(({ grownMegabytes }) => grownMegabytes),
  );
  return [
    speedRow('1 GB through a task', inMemory),
    speedRow('1 GB through a task with a log file', onDisk),
    {
      name: 'peak memory growth over 1 GB',
      unit: 'MB',
      value: growth,
      spread: 'maximum',
      peer: 'plain Node reader',
      peerValue: Math.max(...plain.map(({ grownMegabytes }) => grownMegabytes)),
      target: `≤ ${FLAT_MEGABYTES} MB`,
      met: growth <= FLAT_MEGABYTES,
    },
  ];
}
