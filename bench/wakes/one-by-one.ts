/**
 * Wakes of one session on files, one after the other, each with the message before it. Beside them the least that the
 * disk takes for what they store: as many writes, each with its sync.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { EMPTY_WAKE, openHome, wakesWithCalls } from './home.ts';
import type { BenchHome } from './home.ts';

const ROUNDS = 9;
const WAKES_PER_ROUND = 60;
/** By then the compiler has seen all of a wake: a process that has run for a minute. */
const WARM_UP = 900;
const FIRST = 60;
/** Wakes whose events together are ten thousand. */
const LONG = 1_100;
/** By then the conversation is more than the context of a model holds. */
const BEYOND = 5_000;
const MAX_CPU_MS = 4;
const RECORD = Buffer.from(`${'.'.repeat(599)}\n`);

interface Cost {
  readonly cpuMs: number;
  readonly ms: number;
}

/**
 * Of one time, in milliseconds. The collector runs when V8 wants it to: one that is forced before each round also throws
 * away compiled code, and a wake then cost 1.5 times what it costs in a process that goes on.
 */
async function costOf(times: number, work: () => Promise<void> | void): Promise<Cost> {
  const [cpu, startedMs] = [process.cpuUsage(), performance.now()];
  for (let n = 0; n < times; n += 1) await work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / 1_000 / times, ms: (performance.now() - startedMs) / times };
}

interface Measured {
  /** Of the first wakes of the process, milliseconds of processor. */
  readonly first: number;
  readonly ours: readonly Cost[];
  readonly floor: readonly Cost[];
  readonly appends: number;
}

async function measure({ home, runtime }: BenchHome, wakesBefore: number): Promise<Measured> {
  const { sessionId } = await runtime.sessions.create({ agentId: 'echo' });
  const once = async (): Promise<void> => {
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go on.' });
    await runtime.wake(sessionId);
  };
  const disk = openSync(join(home, 'floor'), 'a');
  try {
    const first = await costOf(FIRST, once);
    await costOf(wakesBefore - FIRST, once);
    const appends = await recordsOf(home, sessionId, once);
    const sync = (): void => {
      for (let count = 0; count < appends; count += 1) {
        writeSync(disk, RECORD);
        fdatasyncSync(disk);
      }
    };
    const [ours, floor]: [Cost[], Cost[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(await costOf(WAKES_PER_ROUND, once));
      floor.push(await costOf(WAKES_PER_ROUND, sync));
    }
    return { first: first.cpuMs, ours, floor, appends };
  } finally {
    closeSync(disk);
  }
}

/** How many records one more wake puts into the log, its message included. */
async function recordsOf(home: string, sessionId: string, once: () => Promise<void>): Promise<number> {
  const lines = async (): Promise<number> => {
    const text = await readFile(join(home, 'agents/echo/sessions', sessionId, 'events.jsonl'), 'utf8');
    return text.split('\n').filter((line) => line !== '').length;
  };
  const before = await lines();
  await once();
  return (await lines()) - before;
}

function rows(
  name: string,
  { first, ours, floor, appends }: Measured,
  target?: { readonly maxCpuMs: number },
): BenchRow[] {
  const cpu = ours.map(({ cpuMs }) => cpuMs);
  const time = ours.map(({ ms }) => ms);
  const peer = `${appends} writes and syncs`;
  const ratios = (of: keyof Cost): number =>
    median(ours.map((own, index) => own[of] / (floor[index]?.[of] ?? Number.NaN)));
  const cpuMs = median(cpu);
  return [
    {
      name: `${name}: processor time`,
      unit: 'ms',
      value: cpuMs,
      spread: spread(cpu),
      peer,
      peerValue: median(floor.map((cost) => cost.cpuMs)),
      ratio: ratios('cpuMs'),
      target: target === undefined ? 'told' : `<= ${target.maxCpuMs} ms`,
      met: target === undefined || cpuMs <= target.maxCpuMs,
    },
    {
      name: `${name}: processor time of the first ${FIRST}`,
      unit: 'ms',
      value: first,
      spread: '-',
      peer: 'the same, later',
      peerValue: cpuMs,
      ratio: first / cpuMs,
      target: 'told',
      met: true,
    },
    {
      name: `${name}: time`,
      unit: 'ms',
      value: median(time),
      spread: spread(time),
      peer,
      peerValue: median(floor.map(({ ms }) => ms)),
      ratio: ratios('ms'),
      target: 'told',
      met: true,
    },
  ];
}

export async function run(): Promise<BenchRow[]> {
  const measured = async (steps: Parameters<typeof openHome>[0], wakesBefore: number): Promise<Measured> => {
    const home = await openHome(steps);
    try {
      return await measure(home, wakesBefore);
    } finally {
      await home.dispose();
    }
  };
  const withCalls = wakesWithCalls(WARM_UP + 1 + ROUNDS * WAKES_PER_ROUND);
  return [
    ...rows('an empty wake with its message', await measured(EMPTY_WAKE, WARM_UP), { maxCpuMs: MAX_CPU_MS }),
    ...rows('the same in a session of 10,000 events', await measured(EMPTY_WAKE, LONG)),
    ...rows('the same in a session of 25,000 events', await measured(EMPTY_WAKE, BEYOND)),
    ...rows('a wake with three tool calls', await measured(withCalls, WARM_UP)),
  ];
}
