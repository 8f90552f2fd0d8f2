/**
 * How long until a worker says its first word, beside a bare fork; and how long until one that waits has taken its job.
 */
import { interleave, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { bareForkMs, openStage } from './worker-parts.ts';
import type { Stage } from './worker-parts.ts';

const ROUNDS = 15;
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
  await talk.send({
    type: 'start',
    jobId: 'bench',
    request: { agentType: 'worker', prompt: 'Go.', cwd: stage.folder },
    parentConfig,
  });
  await accepted;
  const tookMs = performance.now() - startedMs;
  await process.end({ graceMs: 2_000 });
  return tookMs;
}

export async function run(): Promise<BenchRow[]> {
  const stage = await openStage();
  try {
    const cold = await interleave(
      ROUNDS,
      () => coldMs(stage),
      () => bareForkMs(stage),
    );
    const coldRatio = median(cold.a) / median(cold.b);
    await warmMs(stage);
    const warm = await repeat(ROUNDS, () => warmMs(stage));
    return [
      {
        name: 'subagent worker, cold, to its first word',
        unit: 'ms',
        value: median(cold.a),
        spread: spread(cold.a),
        peer: 'fork',
        peerValue: median(cold.b),
        ratio: coldRatio,
        target: `<= ${MOST_TIMES_A_FORK} x`,
        met: coldRatio <= MOST_TIMES_A_FORK,
      },
      {
        name: 'subagent worker, warm, from start to accepted',
        unit: 'ms',
        value: median(warm),
        spread: spread(warm),
        target: `<= ${MOST_WARM_MS} ms`,
        met: median(warm) <= MOST_WARM_MS,
      },
    ];
  } finally {
    await stage.remove();
  }
}
