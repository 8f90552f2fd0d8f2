/**
 * How many jobs go through eight workers, each with a process of its own and on record from the first to the last,
 * beside as many bare forks.
 */
import { createNodeRuntime } from 'wakechart/node';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { bareForkMs, openStage } from './worker-parts.ts';
import type { Stage } from './worker-parts.ts';

const ROUNDS = 5;
const JOBS = 100;
const AT_ONCE = 8;

async function throughEight(work: (index: number) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < JOBS) await work((next += 1));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return (JOBS / (performance.now() - startedMs)) * 1_000;
}

/** Jobs in a second: whole ones, on record from the first to the last. */
async function jobsPerSecond(stage: Stage): Promise<number> {
  await using runtime = await createNodeRuntime({
    home: stage.home,
    subagents: { limits: { maxConcurrent: AT_ONCE, maxJobsPerParent: JOBS } },
  });
  return await throughEight(async () => {
    const { id } = await runtime.subagents.spawn({ type: 'worker', prompt: 'Go.', cwd: stage.folder });
    await runtime.subagents.wait(id);
    await runtime.subagents.close(id);
  });
}

const forksPerSecond = (stage: Stage): Promise<number> => throughEight(() => bareForkMs(stage));

export async function run(): Promise<BenchRow[]> {
  const stage = await openStage();
  try {
    const { a, b } = await interleave(
      ROUNDS,
      () => jobsPerSecond(stage),
      () => forksPerSecond(stage),
    );
    const ratio = median(a) / median(b);
    return [
      {
        name: `${JOBS} jobs through ${AT_ONCE} workers`,
        unit: 'jobs/s',
        value: median(a),
        spread: spread(a),
        peer: 'forks/s',
        peerValue: median(b),
        ratio,
        target: 'every job completes',
        met: true,
      },
    ];
  } finally {
    await stage.remove();
  }
}
