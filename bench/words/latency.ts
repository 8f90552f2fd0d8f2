/**
 * From a piece that a model says in one process to its arrival at one who follows the session in another: fifty pieces
 * a second, as fast models speak.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentRuntime } from 'wakechart';
import { createNodeRuntime } from 'wakechart/node';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { nowMs } from '../postgres/fleet.ts';
import { startServer } from '../postgres/server.ts';

const PIECES = 500;
const EVERY_MS = 20;
const MOST_MS = 100;
const FOLLOWER = new URL('./follower.js', import.meta.url);

interface Place {
  readonly home: string;
  readonly store?: { readonly postgres: string };
}

export async function run(): Promise<BenchRow[]> {
  const home = await mkdtemp(join(tmpdir(), 'bench-words-'));
  const server = await startServer();
  try {
    const files = await latencies({ home: join(home, 'files') });
    const postgres = await latencies({ home: join(home, 'postgres'), store: { postgres: await server.migrated() } });
    return [...rowsOf('files', files), ...rowsOf('PostgreSQL', postgres)];
  } finally {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** Each piece says when it was said. */
async function latencies(place: Place): Promise<readonly number[]> {
  const speaker = createAgentRuntime({
    id: 'speaker',
    async answer(_params, voice) {
      for (let count = 0; count < PIECES; count += 1) {
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
        voice.say(`${nowMs()} `);
      }
    },
  });
  const runtime = await createNodeRuntime({ ...place, runtimes: [speaker] });
  await runtime.agents.create({
    agentId: 'speaker',
    source: { frontmatter: { name: 'Speaker', provider: 'speaker', model: 'm' }, instructions: '' },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'speaker' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Speak.' });
  const follower = fork(fileURLToPath(FOLLOWER), [JSON.stringify(place), sessionId]);
  await once(follower, 'message');
  const heard = once(follower, 'message');
  await runtime.wake(sessionId);
  const [values] = (await heard) as [readonly number[]];
  await runtime.shutdown();
  return values;
}

function rowsOf(store: string, values: readonly number[]): BenchRow[] {
  const sorted = values.toSorted((one, other) => one - other);
  const p99 = sorted[Math.floor(0.99 * (sorted.length - 1))] ?? Number.NaN;
  const row = { unit: 'ms', spread: spread(values) } as const;
  const isAll = values.length === PIECES;
  return [
    {
      ...row,
      name: `piece said to heard in another process, ${store}, p50`,
      value: median(values),
      target: 'shown',
      met: isAll,
    },
    {
      ...row,
      name: `piece said to heard in another process, ${store}, p99`,
      value: p99,
      target: `<= ${MOST_MS} ms`,
      met: isAll && p99 <= MOST_MS,
    },
  ];
}
