/** Runtimes of several machines over one database: homes of their own, sessions in common. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { freshDatabase } from '../../support/postgres-server.ts';
import { emptyStores } from './empty-stores.ts';

const { another, database } = emptyStores();

const homes: string[] = [];
const runtimes: NodeRuntime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.shutdown()));
  await Promise.all(homes.splice(0).map((home) => rm(home, { recursive: true, force: true })));
});

async function machine(like?: string): Promise<{ readonly home: string; readonly runtime: NodeRuntime }> {
  const home = await mkdtemp(join(tmpdir(), 'wakechart-machine-'));
  homes.push(home);
  if (like !== undefined) await cp(join(like, 'agents'), join(home, 'agents'), { recursive: true });
  const runtime = await createNodeRuntime({ home, store: { postgres: database().url }, leaseMs: 2_000 });
  runtimes.push(runtime);
  return { home, runtime };
}

async function giveAgent(
  { home, runtime }: { readonly home: string; readonly runtime: NodeRuntime },
  agentId: string,
  steps: readonly object[],
): Promise<void> {
  await runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', permission: 'preapproved' },
      instructions: 'Work.',
    },
  });
  await writeFile(
    join(home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }),
  );
}

describe('runtimes over one database', () => {
  it('share sessions: what one is told, the worker of the other does', async () => {
    const one = await machine();
    await giveAgent(one, 'writer', [
      { toolCalls: [{ name: 'shell_run', input: { command: 'echo done' } }] },
      { text: 'It is done.' },
    ]);
    const other = await machine(one.home);
    const worker = other.runtime.startWorker({ concurrency: 2 });
    const { sessionId } = await one.runtime.sessions.create({ agentId: 'writer' });
    const said = new Promise<string>((resolve) => {
      one.runtime.sessions.events$(sessionId).subscribe((event) => {
        if (event.type === 'agent.message') resolve(event.data.text);
      });
    });
    await one.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Do it.' });
    expect(await said).toBe('It is done.');
    await worker.stop();
    expect((await one.runtime.sessions.get(sessionId)).status).toBe('idle');
  });

  it('wake each of many sessions once between them', async () => {
    const one = await machine();
    await giveAgent(one, 'counter', [{ text: 'One.' }]);
    const other = await machine(one.home);
    const workers = [one, other].map(({ runtime }) => runtime.startWorker({ concurrency: 4, untilIdle: true }));
    const created = await Promise.all(
      Array.from({ length: 24 }, () => one.runtime.sessions.create({ agentId: 'counter' })),
    );
    await Promise.all(
      created.map(({ sessionId }) => one.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Count.' })),
    );
    await Promise.all(workers.map((worker) => worker.ended));
    const rest = [one, other].map(({ runtime }) => runtime.startWorker({ untilIdle: true }));
    await Promise.all(rest.map((worker) => worker.ended));
    const store = await another();
    const started = await store.database.run<{ readonly wakes: string; readonly sessions: string }>(
      `SELECT count(*) AS wakes, count(DISTINCT session_id) AS sessions FROM ${store.database.schema}.event WHERE type = 'wake.started' AND session_id = ANY ($1::uuid[])`,
      [created.map(({ sessionId }) => sessionId)],
    );
    await store.close();
    expect(started).toEqual([{ wakes: '24', sessions: '24' }]);
  });

  it('say what is missing when the schema was never made, and leave nothing open', async () => {
    const empty = await freshDatabase();
    const home = await mkdtemp(join(tmpdir(), 'wakechart-machine-'));
    homes.push(home);
    await expect(createNodeRuntime({ home, store: { postgres: empty.url } })).rejects.toMatchObject({
      code: 'STORE_SCHEMA_OLD',
      hint: expect.stringContaining('wakechart store migrate'),
    });
    await empty.drop();
  });

  it('never say the password of the database', async () => {
    const url = new URL(database().url);
    url.password = 'swordfish-password';
    url.port = '1';
    const failure = await createNodeRuntime({
      home: '/nowhere',
      readsOnly: true,
      store: { postgres: url.href, patienceMs: 0 },
    }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'STORAGE_FAILED' });
    expect(
      `${JSON.stringify(failure)} ${String(failure instanceof Error ? failure.stack : '')} ${String((failure as { cause?: unknown }).cause)}`,
    ).not.toContain('swordfish');
  });
});
