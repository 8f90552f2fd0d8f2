/**
 * What a task costs in each of its flavours: every kind, waited for or only heard of, a thousand to a million at once,
 * with no, one and a thousand subscribers; against p-queue, and each kind against the fastest.
 */
import PQueue from 'p-queue';
import type { BackgroundTaskManager, BackgroundTaskRequestInput } from 'wakechart';
import type { BackgroundTaskRunner } from 'wakechart/ports';
import { collectGarbage, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { CONCURRENCY, createManager, createSpeaker, endless, noop, request } from './managers.ts';

const COUNTS = [1_000, 10_000, 100_000, 1_000_000] as const;
/**
 * Tasks of one measurement at least: small counts run in several batches on one manager, so that each measurement
 * lasts.
 */
const LASTING = 50_000;
const ROUNDS = 3;
const QUEUED = 100_000;
/** With a thousand listeners each event is a thousand calls. */
const CROWD = 1_000;
const CROWD_COUNT = 2_000;
const EVENTS = 100_000;

const COMMON = { label: 'no-op', mode: 'background', parentSessionId: 'bench', depth: 0, cwd: '/' } as const;

const REQUESTS = {
  process: request,
  agent: { ...COMMON, kind: 'agent', agentType: 'noop', prompt: 'Do nothing.' },
  scheduled: { ...COMMON, kind: 'scheduled', cronExpression: '* * * * *', command: 'true' },
} as const satisfies Record<string, BackgroundTaskRequestInput>;

type Kind = keyof typeof REQUESTS;

const KINDS = ['process', 'agent', 'scheduled'] as const satisfies readonly Kind[];

interface Flavour {
  readonly kind: Kind;
  readonly isWaitedFor: boolean;
  readonly subscribers: number;
  readonly count: number;
}

/** Flavours that differ in their kind only stand together. */
const FLAVOURS: readonly Flavour[] = [
  ...COUNTS.flatMap((count) =>
    [false, true].flatMap((isWaitedFor) => KINDS.map((kind) => ({ kind, isWaitedFor, subscribers: 1, count }))),
  ),
  ...KINDS.map((kind) => ({ kind, isWaitedFor: true, subscribers: 0, count: QUEUED })),
  ...KINDS.map((kind) => ({ kind, isWaitedFor: true, subscribers: CROWD, count: CROWD_COUNT })),
];

const runnerOf = (kind: Kind, runner: BackgroundTaskRunner): BackgroundTaskRunner => ({ ...runner, kind });

/** Microseconds per task: on the wall, and of processor with all threads of the process, the collector's among them. */
interface Cost {
  readonly wall: number;
  readonly processor: number;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Takes the time of what it is given, as often as it is given something. */
function stopwatch(tasks: number): {
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
  readonly cost: () => Cost;
} {
  let [wallMs, processor] = [0, 0];
  return {
    run: async (work) => {
      const [startedMs, before] = [performance.now(), processorMs()];
      await work();
      wallMs += performance.now() - startedMs;
      processor += processorMs() - before;
    },
    cost: () => ({ wall: (wallMs / tasks) * 1_000, processor: (processor / tasks) * 1_000 }),
  };
}

/** From spawn to the end of each. Records are closed between batches, outside the measurement. */
async function taskUs({ kind, isWaitedFor, subscribers, count }: Flavour): Promise<Cost> {
  const manager = createManager(runnerOf(kind, noop));
  let heard = 0;
  // One that is only heard of is heard by its own subscriber.
  for (let index = isWaitedFor ? 0 : 1; index < subscribers; index += 1) manager.subscribe(() => (heard += 1));
  const batches = batchesOf(count);
  const { run: timed, cost } = stopwatch(count * batches);
  for (let batch = 0; batch < batches; batch += 1) {
    await timed(() =>
      isWaitedFor ? waitedFor(manager, REQUESTS[kind], count) : heardOf(manager, REQUESTS[kind], count),
    );
    if (batch < batches - 1) await Promise.all(manager.list().map((task) => manager.close(task.id)));
  }
  return cost();
}

function batchesOf(count: number): number {
  return count === CROWD_COUNT ? 1 : Math.max(1, Math.round(LASTING / count));
}

async function waitedFor(
  manager: BackgroundTaskManager,
  what: BackgroundTaskRequestInput,
  count: number,
): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => manager.spawn(what).then(({ id }) => manager.wait(id))));
}

async function heardOf(manager: BackgroundTaskManager, what: BackgroundTaskRequestInput, count: number): Promise<void> {
  let left = count;
  let leave: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    leave = manager.subscribe(({ type }) => {
      if (type === 'background_task_completed' && (left -= 1) === 0) resolve();
    });
    for (let index = 0; index < count; index += 1) void manager.spawn(what);
  });
  leave();
}

async function queueUs(count: number): Promise<Cost> {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const batches = batchesOf(count);
  const { run: timed, cost } = stopwatch(count * batches);
  for (let batch = 0; batch < batches; batch += 1) {
    await timed(() => Promise.all(Array.from({ length: count }, () => queue.add(() => Promise.resolve('')))));
  }
  return cost();
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
  for (let index = 0; index < QUEUED; index += 1) void manager.spawn(REQUESTS[kind]);
  const startedMs = performance.now();
  await manager.shutdown();
  return performance.now() - startedMs;
}

function nameOf({ isWaitedFor, subscribers, count }: Flavour, kind: string): string {
  const how = `${isWaitedFor ? 'waited for' : 'heard of'}, ${subscribers} subscriber${subscribers === 1 ? '' : 's'}`;
  return `no-op ${kind} tasks, ${count.toLocaleString('en')} at once, ${how}`;
}

interface Measured {
  readonly flavour: Flavour;
  readonly queue: Cost[];
  readonly own: Cost[];
}

/** The queue is measured beside every flavour, so that a machine that slows down slows both. */
async function measured(): Promise<Measured[]> {
  const all = FLAVOURS.map((flavour): Measured => ({ flavour, queue: [], own: [] }));
  for (const count of new Set(FLAVOURS.map((flavour) => flavour.count))) {
    const beside = all.filter(({ flavour }) => flavour.count === count);
    // The first round warms up; a million tasks need none.
    for (let round = count === 1_000_000 ? 1 : 0; round <= ROUNDS; round += 1) {
      for (const { flavour, queue, own } of beside) {
        collectGarbage();
        const peerUs = await queueUs(count);
        collectGarbage();
        const ownUs = await taskUs(flavour);
        if (round === 0) continue;
        queue.push(peerUs);
        own.push(ownUs);
      }
    }
  }
  return all;
}

const TARGET_RATIO = Number(process.versions.node.split('.')[0]) >= 22 ? 0.8 : 0.5;

/** By the wall, which is what a user waits for and is held; and by the processor, which tells on a busy machine too. */
function rowsOf({ flavour, queue, own }: Measured): BenchRow[] {
  const isHeld = flavour.subscribers === 1;
  const row = (by: keyof Cost, target: number | undefined): BenchRow => {
    const values = own.map((cost) => cost[by]);
    const ratio = median(values.map((value, round) => (queue[round]?.[by] ?? Number.NaN) / value));
    return {
      name: `${nameOf(flavour, flavour.kind)}${by === 'processor' ? ', processor' : ''}`,
      unit: 'us per task',
      value: median(values),
      spread: spread(values),
      peer: 'p-queue',
      peerValue: median(queue.map((cost) => cost[by])),
      ratio,
      target: target === undefined ? '(told, not held)' : `>= ${target} x p-queue`,
      met: target === undefined || ratio >= target,
    };
  };
  return [row('wall', isHeld ? TARGET_RATIO : undefined), ...(isHeld ? [row('processor', undefined)] : [])];
}

/** The slowest kind against the fastest, for flavours that differ in their kind only. */
function evennessRows(all: readonly Measured[]): BenchRow[] {
  const rows: BenchRow[] = [];
  for (let first = 0; first < all.length; first += KINDS.length) {
    const kinds = all
      .slice(first, first + KINDS.length)
      .map(({ flavour, own }) => ({ flavour, us: median(own.map(({ wall }) => wall)) }));
    const [fastest] = kinds.toSorted((one, other) => one.us - other.us);
    const slowest = kinds.toSorted((one, other) => other.us - one.us)[0];
    if (fastest === undefined || slowest === undefined || fastest.flavour.subscribers !== 1) continue;
    const ratio = slowest.us / fastest.us;
    const peer = `${fastest.flavour.kind}, the fastest`;
    const name = nameOf(slowest.flavour, `${slowest.flavour.kind} (the slowest)`);
    rows.push({
      name,
      unit: 'us per task',
      value: slowest.us,
      spread: '',
      peer,
      peerValue: fastest.us,
      ratio,
      target: '<= 1.15 x',
      met: ratio <= 1.15,
    });
  }
  return rows;
}

export async function run(): Promise<BenchRow[]> {
  const all = await measured();
  const rows = [...all.flatMap(rowsOf), ...evennessRows(all)];
  const tool = await repeat(ROUNDS, toolEventUs);
  rows.push({
    name: 'a tool event of an agent task, one subscriber',
    unit: 'us',
    value: median(tool),
    spread: spread(tool),
    target: '<= 1 us',
    met: median(tool) <= 1,
  });
  for (const kind of KINDS) {
    const stopped = await repeat(ROUNDS, () => shutdownMs(kind));
    rows.push({
      name: `shutdown with ${QUEUED.toLocaleString('en')} queued ${kind} tasks`,
      unit: 'ms',
      value: median(stopped),
      spread: spread(stopped),
      target: '< 300 ms',
      met: median(stopped) < 300,
    });
  }
  return rows;
}
