/**
 * From `cancel` to a process tree that is proven gone: a shell that ignores SIGTERM, with children in its own group, in
 * another session, and a daemon that left both. The grace is subtracted. Also how long one check the system holds the
 * event loop.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createManagedShellProcessRunner, createProcessTree, createSystemClock } from 'wakechart/node';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

type Start = Parameters<ReturnType<typeof createManagedShellProcessRunner>['start']>[0];

const ROUNDS = 200;
const GRACE_MS = 20;
const TARGET_MS = 250;
const CROWD = 300;
const TARGET_STALL_MS = 25;

const TREE = `
trap '' TERM
sleep 1000 &
setsid sleep 1000 &
( setsid sh -c 'sleep 1000 & exit' & )
echo up
while :; do sleep 1; done`;

export async function run(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cancel-'));
  try {
    const times = await cancelTimes(folder);
    const stalls = await stallsWhileChecking();
    const p99 = percentile(times, 0.99);
    return [
      {
        name: 'cancel → tree proven gone, after the grace, p99',
        unit: 'ms',
        value: p99,
        spread: `p50 ${median(times).toFixed(1)} ms, ${spread(times)}`,
        target: `< ${TARGET_MS} ms`,
        met: p99 < TARGET_MS,
      },
      {
        name: `longest event loop stall while checking ${CROWD} more processes, median`,
        unit: 'ms',
        value: median(stalls),
        spread: spread(stalls),
        target: `< ${TARGET_STALL_MS} ms`,
        met: median(stalls) < TARGET_STALL_MS,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function cancelTimes(folder: string): Promise<number[]> {
  const clock = createSystemClock();
  const processTree = createProcessTree({ clock, directory: join(folder, 'processes') });
  let heard: (() => void) | undefined;
  const runner = createManagedShellProcessRunner({
    processTree,
    clock,
    killGraceMs: GRACE_MS,
    onOutput: () => heard?.(),
  });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const up = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const handle = await runner.start({
      taskId: `bench_${round}`,
      request: {
        kind: 'process',
        label: 'bench',
        mode: 'foreground',
        parentSessionId: 'bench',
        depth: 0,
        priority: 0,
        cwd: folder,
        command: TREE,
      },
      emit: () => undefined,
      signal: new AbortController().signal,
      children: {} as Start['children'],
    });
    await up;
    const began = performance.now();
    await handle.cancel('bench');
    times.push(performance.now() - began - GRACE_MS);
  }
  return times;
}

/**
 * The longest time between two turns of the event loop during each of several checks, with many processes around, in
 * milliseconds.
 */
async function stallsWhileChecking(): Promise<number[]> {
  const crowd = spawn('/bin/sh', ['-c', `for i in $(seq ${CROWD}); do sleep 1000 & done; echo up; wait`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    await once(crowd.stdout, 'data');
    const tree = await createProcessTree({ clock: createSystemClock() }).prepare({
      taskId: 'bench',
      commandPreview: '',
    });
    const stalls: number[] = [];
    for (let check = 0; check < 20; check += 1) {
      let longest = 0;
      let isChecking = true;
      let last = performance.now();
      const turn = (): void => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (isChecking) setImmediate(turn);
      };
      setImmediate(turn);
      await tree.survivors();
      isChecking = false;
      stalls.push(longest);
    }
    return stalls;
  } finally {
    if (crowd.pid !== undefined) process.kill(-crowd.pid, 'SIGKILL');
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
