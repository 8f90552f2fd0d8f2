/** From a message that is sent to the wake that hears it: with the worker in the same process, and in another. */
import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNodeRuntime } from 'wakechart/node';
import type { Runtime } from 'wakechart/node';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const MESSAGES = 60;
const WARM_UP = 10;
const [, , role, workerHome] = process.argv;

/** Milliseconds from before each send until the log says that a wake has started. */
async function latencies(runtime: Runtime, sessionId: string): Promise<number[]> {
  const values: number[] = [];
  for (let n = 0; n < MESSAGES + WARM_UP; n += 1) {
    const { head } = await runtime.sessions.get(sessionId);
    const events = runtime.sessions.events(sessionId, { from: head + 1, follow: true });
    const began = (async (): Promise<number> => {
      for await (const { type } of events) if (type === 'wake.started') return performance.now();
      throw new Error('the log ended');
    })();
    const sentMs = performance.now();
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go on.' });
    const latencyMs = (await began) - sentMs;
    if (n >= WARM_UP) values.push(latencyMs);
    while ((await runtime.sessions.get(sessionId)).status !== 'idle') await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return values;
}

async function measure(where: 'here' | 'elsewhere'): Promise<number[]> {
  const home = await mkdtemp(join(tmpdir(), 'bench-send-'));
  const runtime = await createNodeRuntime({ home });
  const child = where === 'elsewhere' ? fork(fileURLToPath(import.meta.url), ['worker', home]) : undefined;
  try {
    await runtime.agents.create({ agentId: 'echo', source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: '' } });
    await writeFile(join(home, 'agents/echo/echo.json'), JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Heard.' }], onEnd: 'repeat-last' }));
    const { sessionId } = await runtime.sessions.create({ agentId: 'echo' });
    if (child === undefined) runtime.startWorker();
    else await new Promise((resolve) => child.once('message', resolve));
    return await latencies(runtime, sessionId);
  } finally {
    child?.kill('SIGKILL');
    await runtime.shutdown();
    await rm(home, { recursive: true, force: true });
  }
}

export async function run(): Promise<BenchRow[]> {
  const row = (name: string, values: readonly number[], limitMs: number): BenchRow => ({
    name: `send to wake started, ${name}`,
    unit: 'ms',
    value: median(values),
    spread: spread(values),
    target: `p50 < ${limitMs} ms`,
    met: median(values) < limitMs,
  });
  return [row('same process', await measure('here'), 2), row('two processes', await measure('elsewhere'), 25)];
}

if (role === 'worker' && process.send !== undefined) {
  const runtime = await createNodeRuntime({ home: workerHome });
  runtime.startWorker().events$.subscribe(({ type }) => type === 'idle' && process.send?.('idle'));
}
