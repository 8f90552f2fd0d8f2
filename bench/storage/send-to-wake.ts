/**
 * From a message that is sent to the wake that hears it: with the worker in the same process, and in another. Beside it
 * the least that the disk takes for what both of them store: two writes, each with its sync.
 */
import { fork } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNodeRuntime } from 'wakechart/node';
import type { Runtime } from 'wakechart/ports';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const MESSAGES = 60;
/** By then the compiler has seen all of the way: a worker that has run for a minute. */
const WARM_UP = 400;
/** Milliseconds of quiet before each message: the wake before has released everything by then. */
const REST_MS = 25;
const RECORD = Buffer.from(`${'.'.repeat(299)}\n`);
const [, , role, workerHome] = process.argv;

interface Latencies {
  readonly ours: number[];
  readonly floor: number[];
}

/**
 * Milliseconds from before each send until the log says that a wake has started, and those that the disk takes for it.
 */
async function latencies(runtime: Runtime, sessionId: string, disk: FileHandle): Promise<Latencies> {
  const values: Latencies = { ours: [], floor: [] };
  for (let n = 0; n < MESSAGES + WARM_UP; n += 1) {
    const { head } = await runtime.sessions.get(sessionId);
    const events = runtime.sessions.events(sessionId, { from: head + 1, follow: true });
    const began = (async (): Promise<number> => {
      for await (const { type } of events) if (type === 'wake.started') return performance.now();
      throw new Error('the log ended');
    })();
    const floorMs = await twoSyncsMs(disk);
    if (n >= WARM_UP) await pause(REST_MS);
    const sentMs = performance.now();
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go on.' });
    const latencyMs = (await began) - sentMs;
    if (n >= WARM_UP) {
      values.ours.push(latencyMs);
      values.floor.push(floorMs);
    }
    while ((await runtime.sessions.get(sessionId)).status !== 'idle') await pause(2);
  }
  return values;
}

async function twoSyncsMs(disk: FileHandle): Promise<number> {
  const startedMs = performance.now();
  for (let count = 0; count < 2; count += 1) {
    await disk.write(RECORD);
    await disk.datasync();
  }
  return performance.now() - startedMs;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function measure(where: 'here' | 'elsewhere'): Promise<Latencies> {
  const home = await mkdtemp(join(tmpdir(), 'bench-send-'));
  const runtime = await createNodeRuntime({ home });
  const disk = await open(join(home, 'floor'), 'a');
  const child = where === 'elsewhere' ? fork(fileURLToPath(import.meta.url), ['worker', home]) : undefined;
  try {
    await runtime.agents.create({
      agentId: 'echo',
      source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: '' },
    });
    await writeFile(
      join(home, 'agents/echo/echo.json'),
      JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Heard.' }], onEnd: 'repeat-last' }),
    );
    const { sessionId } = await runtime.sessions.create({ agentId: 'echo' });
    if (child === undefined) runtime.startWorker();
    else await new Promise((resolve) => child.once('message', resolve));
    return await latencies(runtime, sessionId, disk);
  } finally {
    child?.kill('SIGKILL');
    await runtime.shutdown();
    await disk.close();
    await rm(home, { recursive: true, force: true });
  }
}

export async function run(): Promise<BenchRow[]> {
  const row = (name: string, { ours, floor }: Latencies, limitMs: number): BenchRow => ({
    name: `send to wake started, ${name}`,
    unit: 'ms',
    value: median(ours),
    spread: spread(ours),
    peer: 'two writes and syncs',
    peerValue: median(floor),
    ratio: median(ours.map((own, index) => own / (floor[index] ?? Number.NaN))),
    target: `p50 < ${limitMs} ms`,
    met: median(ours) < limitMs,
  });
  return [row('same process', await measure('here'), 2), row('two processes', await measure('elsewhere'), 25)];
}

if (role === 'worker' && process.send !== undefined) {
  const runtime = await createNodeRuntime({ home: workerHome });
  runtime.startWorker().events$.subscribe(({ type }) => type === 'idle' && process.send?.('idle'));
}
