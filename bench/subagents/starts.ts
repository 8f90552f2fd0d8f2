/** How long until a worker says its first word, beside a bare fork; how long until one that waits has taken its job; and how many jobs go through eight. */
import { once } from 'node:events';
import { createNodeRuntime } from 'wakechart/node';
import { interleave, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { endFork, openStage } from './worker-parts.ts';
import type { Stage } from './worker-parts.ts';

const ROUNDS = 15;
const JOB_ROUNDS = 5;
const JOBS = 100;
const AT_ONCE = 8;
const MOST_TIMES_A_FORK = 1.15;
const MOST_WARM_MS = 5;

async function coldMs(stage: Stage): Promise<number> {
  const startedMs = performance.now();
  const { process, talk } = await stage.startWorker(stage.workerPath);
  await talk.ready;
  const tookMs = performance.now() - startedMs;
  await process.end({ graceMs: 0 });
  return tookMs;
}

async function bareMs(stage: Stage): Promise<number> {
  const startedMs = performance.now();
  const child = stage.bareFork();
  await once(child, 'message');
  const tookMs = performance.now() - startedMs;
  await endFork(child);
  return tookMs;
}

async function warmMs(stage: Stage): Promise<number> {
  const { process, talk } = await stage.startWorker(stage.workerPath);
  const parentConfig = { home: stage.home };
  await talk.ready;
  await talk.send({ type: 'prepare', parentConfig });
  await talk.warm;
  const startedMs = performance.now();
  const accepted = new Promise<void>((resolve) => {
    talk.hear(({ message }) => {
      if (message?.type === 'accepted') resolve();
    });
  });
  await talk.send({ type: 'start', jobId: 'bench', request: { agentType: 'worker', prompt: 'Go.', cwd: stage.folder }, parentConfig });
  await accepted;
  const tookMs = performance.now() - startedMs;
  await process.end({ graceMs: 2_000 });
  return tookMs;
}

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
async function jobsPerSecond(stage: Stage, warmWorkers: number): Promise<number> {
  await using runtime = await createNodeRuntime({ home: stage.home, subagents: { limits: { maxConcurrent: AT_ONCE, maxJobsPerParent: JOBS }, warmWorkers } });
  return await throughEight(async () => {
    const { id } = await runtime.subagents.spawn({ type: 'worker', prompt: 'Go.', cwd: stage.folder });
    await runtime.subagents.wait(id);
    await runtime.subagents.close(id);
  });
}

const forksPerSecond = (stage: Stage): Promise<number> => throughEight(() => bareMs(stage));

export async function run(): Promise<BenchRow[]> {
  const stage = await openStage();
  try {
    const cold = await interleave(ROUNDS, () => coldMs(stage), () => bareMs(stage));
    const coldRatio = median(cold.a) / median(cold.b);
    await warmMs(stage);
    const warm = await repeat(ROUNDS, () => warmMs(stage));
    const jobs = await interleave(JOB_ROUNDS, () => jobsPerSecond(stage, 0), () => forksPerSecond(stage));
    const jobsRatio = median(jobs.a) / median(jobs.b);
    return [
      { name: 'subagent worker, cold, to its first word', unit: 'ms', value: median(cold.a), spread: spread(cold.a), peer: 'fork', peerValue: median(cold.b), ratio: coldRatio, target: `<= ${MOST_TIMES_A_FORK} x`, met: coldRatio <= MOST_TIMES_A_FORK },
      { name: 'subagent worker, warm, from start to accepted', unit: 'ms', value: median(warm), spread: spread(warm), target: `<= ${MOST_WARM_MS} ms`, met: median(warm) <= MOST_WARM_MS },
      { name: `${JOBS} jobs through ${AT_ONCE} workers`, unit: 'jobs/s', value: median(jobs.a), spread: spread(jobs.a), peer: 'forks/s', peerValue: median(jobs.b), ratio: jobsRatio, target: 'every job completes', met: true },
    ];
  } finally {
    await stage.remove();
  }
}
