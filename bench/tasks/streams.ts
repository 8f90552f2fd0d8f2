/** What one text delta costs with every watchdog on, and what an event costs when a thousand others are followed. */
import { median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { createManager, createSpeaker } from './managers.ts';

const DELTAS = 200_000;
const FOLLOWERS = 1_000;

const agent = {
  kind: 'agent',
  label: 'speaker',
  parentSessionId: 'bench',
  cwd: '/',
  agentType: 'speaker',
  prompt: 'Speak.',
} as const;

/** Eighty bytes of text that does not repeat itself. */
const deltas = Array.from({ length: 1_024 }, (_, index) =>
  `${index} ${'the quick brown fox jumps over the lazy dog and runs on into the woods '.slice(index % 40)}${index * 7_919} and more and more words to fill`.slice(
    0,
    80,
  ),
);

async function deltaUs(): Promise<number> {
  const { runner, starts } = createSpeaker();
  const manager = createManager(runner, {
    agentMaxTextDeltas: 1e9,
    agentOutputLimitBytes: 1e12,
    agentMaxRuntimeMs: 1e9,
  });
  let heard = 0;
  manager.subscribe(() => (heard += 1));
  await manager.spawn(agent);
  const [start] = starts;
  if (start === undefined) throw new Error('the speaker was not started');
  const startedMs = performance.now();
  for (let index = 0; index < DELTAS; index += 1) {
    start.emit({ type: 'background_task_text_delta', taskId: start.taskId, delta: deltas[index & 1_023] ?? '' });
  }
  const us = ((performance.now() - startedMs) / DELTAS) * 1_000;
  if (heard < DELTAS) throw new Error('a delta was lost');
  await manager.shutdown();
  return us;
}

async function routedUs(): Promise<number> {
  const { runner, starts } = createSpeaker();
  const manager = createManager(runner, {
    maxConcurrent: Infinity,
    repetitionThreshold: 0,
    agentIdleTimeoutMs: 0,
    agentMaxTextDeltas: 0,
    agentOutputLimitBytes: 0,
  });
  let heard = 0;
  const subscriptions = [];
  for (let index = 0; index < FOLLOWERS; index += 1) {
    const { id } = await manager.spawn(agent);
    subscriptions.push(manager.events$({ taskId: id }).subscribe(() => (heard += 1)));
  }
  const startedMs = performance.now();
  for (let index = 0; index < DELTAS; index += 1) {
    const start = starts[index % FOLLOWERS];
    start?.emit({ type: 'background_task_text_delta', taskId: start.taskId, delta: 'x' });
  }
  const us = ((performance.now() - startedMs) / DELTAS) * 1_000;
  if (heard !== DELTAS) throw new Error('an event went astray');
  for (const subscription of subscriptions) subscription.unsubscribe();
  await manager.shutdown();
  return us;
}

export async function run(): Promise<BenchRow[]> {
  await deltaUs();
  await routedUs();
  const delta = await repeat(7, deltaUs);
  const routed = await repeat(7, routedUs);
  return [
    {
      name: 'text delta of 80 bytes through all watchdogs, one subscriber',
      unit: 'us',
      value: median(delta),
      spread: spread(delta),
      target: '<= 1 us',
      met: median(delta) <= 1,
    },
    {
      name: 'event of one task with 1,000 followed',
      unit: 'us',
      value: median(routed),
      spread: spread(routed),
      target: '<= 0.5 us',
      met: median(routed) <= 0.5,
    },
  ];
}
