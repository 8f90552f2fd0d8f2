/** Two machines with homes of their own over one database: what a session works in comes along, and goes with it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { ask } from '../../support/postgres-databases.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';

let database: FreshDatabase;
let directory: string;
beforeAll(async () => {
  database = await migratedDatabase();
  directory = await mkdtemp(join(tmpdir(), 'wakechart-machines-'));
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

let found = '';

/** Writes how often it was asked, and notes what it found. */
const counting: AgentRuntime = {
  id: 'counting',
  async run({ workspaceDir }) {
    const file = join(workspaceDir, 'count');
    const before = await readFile(file, 'utf8').catch(() => '0');
    found = `found ${before}`;
    await writeFile(file, String(Number(before) + 1));
    return { payloads: [{ type: 'text', text: 'Counted.' }], meta: { modelSteps: 1 } };
  },
  abort: async () => undefined,
  isRunActive: () => false,
};

async function machine(name: string): Promise<NodeRuntime> {
  const runtime = await createNodeRuntime({
    home: join(directory, name),
    store: { postgres: database.url },
    backends: [counting],
  });
  for (const [agentId, environment] of [
    ['counter', 'host'],
    ['bound', 'bound'],
  ] as const) {
    await runtime.agents.create({
      agentId,
      source: { frontmatter: { name: agentId, provider: 'counting', model: 'm', environment }, instructions: 'Count.' },
    });
  }
  await runtime.environments.create('bound', 'sandbox: off\nhostBound: true\n');
  return runtime;
}

async function told(runtime: NodeRuntime, sessionId: string): Promise<string> {
  found = '';
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Count.' });
  await runtime.wake(sessionId);
  return found;
}

it('lets a session go on where it was, on the other machine, unless it is bound', async () => {
  const [one, two] = [await machine('one'), await machine('two')];
  try {
    const { sessionId } = await one.sessions.create({ agentId: 'counter' });
    expect([
      await told(one, sessionId),
      await told(two, sessionId),
      await told(two, sessionId),
      await told(one, sessionId),
    ]).toEqual(['found 0', 'found 1', 'found 2', 'found 3']);
    const bound = await one.sessions.create({ agentId: 'bound' });
    expect(await told(one, bound.sessionId)).toBe('found 0');
    await expect(told(two, bound.sessionId)).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_ELSEWHERE',
      message: expect.stringContaining('its environment "bound" is bound') as string,
    });
    expect(await told(one, bound.sessionId)).toBe('found 1');
    await one.sessions.terminate(sessionId);
    await one.sessions.delete(sessionId);
  } finally {
    await Promise.all([one.shutdown(), two.shutdown()]);
  }
});

it('shows a session that is bound elsewhere to its home as soon as another machine has refused it', async () => {
  const [one, two] = [await machine('home'), await machine('away')];
  try {
    const { sessionId } = await one.sessions.create({ agentId: 'bound' });
    await told(one, sessionId);
    await one.sessions.send(sessionId, { type: 'user.message', text: 'Count.' });
    const away = two.startWorker({ concurrency: 1 });
    await firstValueFrom(away.events$.pipe(filter(({ type }) => type === 'contended')));
    // It checks again after a second; a claim that nobody gives back holds for ten.
    const claims = async (): Promise<number> =>
      (await ask(database.url, 'SELECT 1 FROM wakechart.claim WHERE session_id = $1', [sessionId])).length;
    await expect.poll(claims, { timeout: 5_000 }).toBe(0);
    await away.stop();
    const home = one.startWorker({ concurrency: 1, untilIdle: true });
    expect((await home.ended).counts.succeeded).toBe(1);
    expect(found).toBe('found 1');
  } finally {
    await Promise.all([one.shutdown(), two.shutdown()]);
  }
});
