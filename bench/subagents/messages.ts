/**
 * A message to a worker and back, checked at both ends, beside raw IPC: short ones, and a mebibyte, which goes by file.
 */
import { once } from 'node:events';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { endFork, openStage } from './worker-parts.ts';

const ROUNDS = 9;
const SHORT_TRIPS = 4_000;
/** Of one worker at most a hundred long messages are read in a row: with a round to warm up these are eighty. */
const LONG_TRIPS = 8;
const MOST_TIMES_RAW = 1.3;

/** With the words around it, 100 bytes. */
const SHORT = 'x'.repeat(66);
const LONG = 'x'.repeat(1_048_576);

type Trips = (text: string, count: number) => Promise<number>;

/** Microseconds for each of `count` messages, one after the other. */
function tripper(send: (text: string) => void, onBack: (listener: () => void) => void): Trips {
  let back: () => void = () => undefined;
  onBack(() => back());
  return (text, count) =>
    new Promise((resolve) => {
      const startedMs = performance.now();
      let left = count;
      back = () => {
        left -= 1;
        if (left === 0) resolve(((performance.now() - startedMs) / count) * 1_000);
        else send(text);
      };
      send(text);
    });
}

export async function run(): Promise<BenchRow[]> {
  const stage = await openStage();
  const child = stage.bareFork();
  await once(child, 'message');
  const { process: worker, talk } = await stage.startWorker(stage.talkingEcho);
  await talk.ready;
  const raw = tripper(
    (prompt) => child.send({ type: 'send', prompt }),
    (listener) => child.on('message', listener),
  );
  const ours = tripper(
    (prompt) => void talk.send({ type: 'send', prompt }),
    (listener) => talk.hear(listener),
  );
  try {
    const short = await interleave(
      ROUNDS,
      () => ours(SHORT, SHORT_TRIPS),
      () => raw(SHORT, SHORT_TRIPS),
    );
    const long = await interleave(
      ROUNDS,
      () => ours(LONG, LONG_TRIPS),
      () => raw(LONG, LONG_TRIPS),
    );
    const [shortRatio, longRatio] = [median(short.a) / median(short.b), median(long.a) / median(long.b)];
    return [
      {
        name: 'message to a worker and back, 100 B',
        unit: 'us',
        value: median(short.a),
        spread: spread(short.a),
        peer: 'raw IPC',
        peerValue: median(short.b),
        ratio: shortRatio,
        target: `<= ${MOST_TIMES_RAW} x`,
        met: shortRatio <= MOST_TIMES_RAW,
      },
      {
        name: 'message to a worker and back, 1 MiB by file',
        unit: 'us',
        value: median(long.a),
        spread: spread(long.a),
        peer: 'raw IPC',
        peerValue: median(long.b),
        ratio: longRatio,
        target: `<= ${MOST_TIMES_RAW} x`,
        met: longRatio <= MOST_TIMES_RAW,
      },
    ];
  } finally {
    await endFork(child);
    await worker.end({ graceMs: 0 });
    await stage.remove();
  }
}
