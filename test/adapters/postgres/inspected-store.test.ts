/** Sessions in PostgreSQL as an inspector of another machine sees them: its home holds nothing of them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createHomeSource } from '../../../src/node/inspector.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { inspectionSourceContract } from '../../support/inspection-source-contract.ts';
import type { OpenSource } from '../../support/inspection-source-contract.ts';
import { SPEAKER, speakingBackend } from '../../support/speaking-backend.ts';
import { emptyStores } from './empty-stores.ts';

const { open, database } = emptyStores();

const SCRIPT = {
  format: 'wakechart-script/1',
  steps: [
    { toolCalls: [{ name: 'shell_run', input: { command: 'rm -rf build' } }] },
    { text: 'Done.', directive: { outcome: 'sleep', summary: 'Done.' } },
  ],
};

async function waitingSession(runtime: NodeRuntime, home: string): Promise<string> {
  await runtime.agents.create({
    agentId: 'cleaner',
    source: {
      frontmatter: { name: 'cleaner', provider: 'script', model: 'script.json', permission: { mode: 'ask' } },
      instructions: 'Work.',
    },
  });
  await writeFile(join(home, 'agents', 'cleaner', 'script.json'), JSON.stringify(SCRIPT));
  const { sessionId } = await runtime.sessions.create({ agentId: 'cleaner' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Clean up.' });
  await runtime.wake(sessionId);
  return sessionId;
}

async function inspected(): Promise<OpenSource> {
  await (await open()).close();
  const folder = await mkdtemp(join(tmpdir(), 'wakechart-machines-'));
  const store = { postgres: database().url };
  const worker = await createNodeRuntime({ home: join(folder, 'worker'), store });
  const viewer = await createNodeRuntime({
    home: join(folder, 'viewer'),
    store,
    reconcileOnStart: false,
    readsOnly: true,
  });
  const session = await waitingSession(worker, join(folder, 'worker'));
  const source = createHomeSource(viewer, { title: 'the database' });
  return {
    source,
    session,
    actInSession: async () => void (await worker.sessions.send(session, { type: 'user.message', text: 'And then?' })),
    [Symbol.asyncDispose]: async () => {
      source.close();
      await Promise.all([worker.shutdown(), viewer.shutdown()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

inspectionSourceContract('sessions in PostgreSQL', inspected);

it('a session that another machine wakes is told with its process, and until when that counts as alive', async () => {
  await (await open()).close();
  const folder = await mkdtemp(join(tmpdir(), 'wakechart-machines-'));
  const store = { postgres: database().url };
  const backend = speakingBackend();
  const worker = await createNodeRuntime({ home: join(folder, 'worker'), store, backends: [backend.runtime] });
  const viewer = await createNodeRuntime({
    home: join(folder, 'viewer'),
    store,
    reconcileOnStart: false,
    readsOnly: true,
  });
  const source = createHomeSource(viewer, { title: 'the database' });
  try {
    const frontmatter = { name: 'speaker', ...SPEAKER };
    await worker.agents.create({ agentId: 'speaker', source: { frontmatter, instructions: 'Speak.' } });
    const { sessionId } = await worker.sessions.create({ agentId: 'speaker' });
    await worker.sessions.send(sessionId, { type: 'user.message', text: 'Speak.' });
    const waking = worker.wake(sessionId);
    await backend.voice();
    const told = (await source.session(sessionId))?.worker;
    expect(told).toMatchObject({
      owner: expect.stringMatching(`:${process.pid}$`),
      pid: process.pid,
      aliveUntil: expect.stringMatching(/^\d{4}-/),
      residentBytes: expect.any(Number),
    });
    expect(Date.parse(told?.aliveUntil ?? '')).toBeGreaterThan(Date.parse(told?.heardAt ?? ''));
    backend.end();
    await waking;
    expect((await source.session(sessionId))?.worker).toBeUndefined();
  } finally {
    source.close();
    await Promise.all([worker.shutdown(), viewer.shutdown()]);
    await rm(folder, { recursive: true, force: true });
  }
});
