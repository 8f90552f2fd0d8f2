/** What a task costs in each of its flavours: every kind, waited for or only heard of, with no, one and a thousand subscribers. */
import PQueue from 'p-queue';
import type { BackgroundTaskManager, BackgroundTaskRequestInput } from 'wakechart';
import type { BackgroundTaskRunner } from 'wakechart/ports';
import { collectGarbage, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { CONCURRENCY, createManager, createSpeaker, endless, noop, request } from './managers.ts';

const COUNT = 100_000;
const ROUNDS = 5;
/** With a thousand listeners each event is a thousand calls. */
const HEARD_COUNT = 2_000;
const EVENTS = 100_000;

const COMMON = { label: 'no-op', mode: 'background', parentSessionId: 'bench', depth: 0, cwd: '/' } as const;

const REQUESTS = {
  process: request,
  agent: { ...COMMON, kind: 'agent', agentType: 'noop', prompt: 'Do nothing.' },
  scheduled: { ...COMMON, kind: 'scheduled', cronExpression: '* * * * *', command: 'true' },
} as const satisfies Record<string, BackgroundTaskRequestInput>;

type Kind = keyof typeof REQUESTS;

interface Flavour {
  readonly kind: Kind;
  readonly isWaitedFor: boolean;
  readonly subscribers: number;
}

const FLAVOURS: readonly Flavour[] = [
  ...(['process', 'agent', 'scheduled'] as const).flatMap((kind) => [
    { kind, isWaitedFor: false, subscribers: 1 },
    { kind, isWaitedFor: true, subscribers: 1 },
    { kind, isWaitedFor: true, subscribers: 0 },
  ]),
  { kind: 'agent', isWaitedFor: true, subscribers: 1_000 },
];

const runnerOf = (kind: Kind, runner: BackgroundTaskRunner): BackgroundTaskRunner => ({ ...runner, kind });

/** Microseconds per task, from spawn to its end. */
async function taskUs({ kind, isWaitedFor, subscribers }: Flavour, count: number): Promise<number> {
  const manager = createManager(runnerOf(kind, noop));
  let heard = 0;
  for (let index = 0; index < subscribers; index += 1) manager.subscribe(() => (heard += 1));
  const startedMs = performance.now();
  await (isWaitedFor ? waitedFor(manager, REQUESTS[kind], count) : heardOf(manager, REQUESTS[kind], count));
  return ((performance.now() - startedMs) / count) * 1_000;
}

async function waitedFor(manager: BackgroundTaskManager, what: BackgroundTaskRequestInput, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => manager.spawn(what).then(({ id }) => manager.wait(id))));
}

function heardOf(manager: BackgroundTaskManager, what: BackgroundTaskRequestInput, count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    manager.subscribe(({ type }) => {
      if (type === 'background_task_completed' && (left -= 1) === 0) resolve();
    });
    for (let index = 0; index < count; index += 1) void manager.spawn(what);
  });
}

async function queueUs(): Promise<number> {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: COUNT }, () => queue.add(() => Promise.resolve(''))));
  return ((performance.now() - startedMs) / COUNT) * 1_000;
}

/** Microseconds per tool event of one agent task with one subscriber. */
async function toolEventUs(): Promise<number> {
  const { runner, starts } = createSpeaker();
  const manager = createManager(runner, { agentIdleTimeoutMs: 0 });
  manager.subscribe(() => undefined);
  const { id: taskId } = await manager.spawn(REQUESTS.agent);
  const startedMs = performance.now();
  for (let index = 0; index < EVENTS; index += 2) {
    starts[0]?.emit({ type: 'background_task_tool_start', taskId, toolName: 'read', firstArg: 'a.ts' });
    starts[0]?.emit({ type: 'background_task_tool_end', taskId, toolName: 'read', success: true });
  }
  const spentUs = ((performance.now() - startedMs) / EVENTS) * 1_000;
  await manager.shutdown();
  return spentUs;
}

/** Milliseconds to shut down with so many tasks in the queue. */
async function shutdownMs(kind: Kind): Promise<number> {
  const manager = createManager(runnerOf(kind, endless));
  manager.subscribe(() => undefined);
  for (let index = 0; index < COUNT; index += 1) void manager.spawn(REQUESTS[kind]);
  const startedMs = performance.now();
  await manager.shutdown();
  return performance.now() - startedMs;
}

function nameOf({ kind, isWaitedFor, subscribers }: Flavour): string {
  return `no-op ${kind} tasks, ${isWaitedFor ? 'waited for' : 'heard of'}, ${subscribers} subscriber${subscribers === 1 ? '' : 's'}`;
}

/** Each round measures the queue and every flavour once, so that a machine that slows down slows all of them. */
async function flavourRows(): Promise<BenchRow[]> {
  const queue: number[] = [];
  const spent = FLAVOURS.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    // The first round warms up.
    if (round === 1) for (const values of [queue, ...spent]) values.length = 0;
    queue.push(await queueUs());
    for (const [index, flavour] of FLAVOURS.entries()) {
      collectGarbage();
      spent[index]?.push(await taskUs(flavour, flavour.subscribers > 1 ? HEARD_COUNT : COUNT));
    }
  }
  const target = Number(process.versions.node.split('.')[0]) >= 22 ? 0.8 : 0.5;
  return FLAVOURS.map((flavour, index) => {
    const values = spent[index] ?? [];
    const ratio = median(values.map((own, round) => (queue[round] ?? Number.NaN) / own));
    const isHeld = flavour.subscribers <= 1;
    return {
      name: nameOf(flavour),
      unit: 'us per task',
      value: median(values),
      spread: spread(values),
      peer: 'p-queue',
      peerValue: median(queue),
      ratio,
      target: isHeld ? `>= ${target} x p-queue` : '(told, not held)',
      met: !isHeld || ratio >= target,
    };
  });
}

export async function run(): Promise<BenchRow[]> {
  const rows = await flavourRows();
  const tool = await repeat(ROUNDS, toolEventUs);
  rows.push({ name: 'a tool event of an agent task, one subscriber', unit: 'us', value: median(tool), spread: spread(tool), target: '<= 1 us', met: median(tool) <= 1 });
  for (const kind of ['process', 'agent', 'scheduled'] as const) {
    const stopped = await repeat(ROUNDS, () => shutdownMs(kind));
    rows.push({ name: `shutdown with 100,000 queued ${kind} tasks`, unit: 'ms', value: median(stopped), spread: spread(stopped), target: '< 300 ms', met: median(stopped) < 300 });
  }
  return rows;
}
