/**
 * Sessions that have been woken once and rest: what each takes on the disk, what one more wake adds to it, and what a
 * runtime with a worker keeps of them in memory while it is idle.
 */
import { fork } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNodeRuntime } from 'wakechart/node';
import { collectGarbage, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { EMPTY_WAKE, openHome } from '../wakes/home.ts';
import type { BenchHome } from '../wakes/home.ts';

const SESSIONS = 500;
const FEW = 10;
const WAKES = 100;
const ROUNDS = 3;
/** What `stat` counts in, whatever the file system's own size is. */
const BLOCK_BYTES = 512;
const [, , role, idleHome = ''] = process.argv;

interface Taken {
  readonly files: number;
  readonly bytes: number;
  readonly onDisk: number;
}

interface Idle {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

async function wakeOnce({ runtime }: BenchHome, sessionId: string): Promise<void> {
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go on.' });
  await runtime.wake(sessionId);
}

async function makeSessions(home: BenchHome, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { sessionId } = await home.runtime.sessions.create({ agentId: 'echo' });
    await wakeOnce(home, sessionId);
    ids.push(sessionId);
  }
  return ids;
}

function takenBy(folder: string): Taken {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({
    entry,
    stats: statSync(join(entry.parentPath, entry.name)),
  }));
  const files = all.filter(({ entry }) => entry.isFile());
  return {
    files: files.length,
    bytes: files.reduce((sum, { stats }) => sum + stats.size, 0),
    onDisk: all.reduce((sum, { stats }) => sum + stats.blocks * BLOCK_BYTES, statSync(folder).blocks * BLOCK_BYTES),
  };
}

/** In a process of its own, which has seen none of the sessions before. */
function idleOver({ home }: BenchHome): Promise<Idle> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['idle', home], { execArgv: process.execArgv });
    child.once('message', (message) => resolve(message as Idle));
    child.once('exit', (code) => reject(new Error(`the idle process ended with ${code}`)));
  });
}

const row = (name: string, unit: string, values: readonly number[]): BenchRow => ({
  name,
  unit,
  value: median(values),
  spread: spread(values),
  target: 'told',
  met: true,
});

function diskRows(first: readonly Taken[], wakeBytes: number): BenchRow[] {
  return [
    row(
      'a session at rest: files',
      'files',
      first.map(({ files }) => files),
    ),
    row(
      'a session at rest: bytes in its files',
      'bytes',
      first.map(({ bytes }) => bytes),
    ),
    row(
      'a session at rest: bytes of the disk, in whole blocks',
      'bytes',
      first.map(({ onDisk }) => onDisk),
    ),
    row('bytes that one more message and its wake add', 'bytes', [wakeBytes]),
  ];
}

export async function run(): Promise<BenchRow[]> {
  const [many, few] = [await openHome(EMPTY_WAKE), await openHome(EMPTY_WAKE)];
  try {
    await makeSessions(few, FEW);
    const ids = await makeSessions(many, SESSIONS);
    const folderOf = (id: string): string => join(many.home, 'agents/echo/sessions', id);
    const first = ids.map((id) => takenBy(folderOf(id)));
    const [grown = ''] = ids;
    for (let n = 0; n < WAKES; n += 1) await wakeOnce(many, grown);
    const wakeBytes = (takenBy(folderOf(grown)).bytes - (first[0]?.bytes ?? 0)) / WAKES;
    const idle: { readonly many: Idle; readonly few: Idle }[] = [];
    await repeat(ROUNDS, async () => idle.push({ few: await idleOver(few), many: await idleOver(many) }));
    const peers = (read: (one: Idle) => number): Partial<BenchRow> => ({
      peer: `with ${FEW}`,
      peerValue: median(idle.map((one) => read(one.few))),
    });
    return [
      ...diskRows(first, wakeBytes),
      {
        ...row(
          `an idle runtime over ${SESSIONS} sessions at rest: heap`,
          'bytes',
          idle.map((one) => one.many.heapBytes),
        ),
        ...peers(({ heapBytes }) => heapBytes),
      },
      {
        ...row(
          `an idle runtime over ${SESSIONS} sessions at rest: resident`,
          'bytes',
          idle.map((one) => one.many.residentBytes),
        ),
        ...peers(({ residentBytes }) => residentBytes),
      },
    ];
  } finally {
    for (const home of [many, few]) await home.dispose();
  }
}

async function tellIdle(home: string): Promise<void> {
  const runtime = await createNodeRuntime({ home });
  const worker = runtime.startWorker();
  await new Promise<void>((resolve) => worker.events$.subscribe(({ type }) => type === 'idle' && resolve()));
  collectGarbage();
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ heapBytes: heapUsed, residentBytes: rss } satisfies Idle);
  await runtime.shutdown();
  process.disconnect();
}

if (role === 'idle') await tellIdle(idleHome);
