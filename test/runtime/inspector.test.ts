/** The inspector of a whole runtime: what it sees, what it keeps to itself, and how it ends. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InspectionRecord } from '../../src/machines/inspection-log/inspection-record.ts';
import { createInspector as openAtOnce } from '../../src/node-inspector.ts';
import { createInspector, createNodeRuntime } from '../../src/node.ts';
import type { CreateInspectorOptions, Inspector, NodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let folder: TemporaryHome;
let runtime: NodeRuntime;
let page: string;

beforeEach(async () => {
  folder = await temporaryHome();
  page = join(folder.path, 'page');
  await mkdir(page);
  await writeFile(join(page, 'index.html'), '<p>The page');
  runtime = await createNodeRuntime({ home: join(folder.path, 'home') });
});

afterEach(async () => {
  await runtime.shutdown();
  await folder.remove();
});

const open = (options: CreateInspectorOptions = {}): Promise<Inspector> => createInspector(runtime, { pageDirectory: page, ...options });

interface Browser {
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

async function signedIn(inspector: Inspector): Promise<Browser> {
  const { headers } = await fetch(inspector.signInAddress(), { redirect: 'manual' });
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return {
    async ask(path) {
      const response = await fetch(`${inspector.origin}${path}`, { headers: { cookie } });
      return { status: response.status, text: await response.text() };
    },
  };
}

async function isListening({ origin }: Inspector): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function recordsOf({ recorder }: Inspector): Promise<readonly InspectionRecord[]> {
  const records: InspectionRecord[] = [];
  for await (const some of recorder.records(1)) records.push(...some);
  return records;
}

describe('the inspector of a runtime', () => {
  it('serves the page, what it is about, and the sessions, to whoever has signed in', async () => {
    await runtime.agents.create({ agentId: 'clerk', source: { frontmatter: { name: 'Clerk', provider: 'script', model: 'play.json' }, instructions: '' } });
    const { sessionId } = await runtime.sessions.create({ agentId: 'clerk' });
    await using inspector = await open({ title: 'the counter' });
    expect((await fetch(`${inspector.origin}/api/about`)).status).toBe(401);
    const { ask } = await signedIn(inspector);
    expect(await ask('/')).toEqual({ status: 200, text: '<p>The page' });
    expect(JSON.parse((await ask('/api/about')).text)).toMatchObject({ kind: 'runtime', title: 'the counter', hasSessions: true, canAnswer: true, hasEnded: false });
    expect(JSON.parse((await ask('/api/sessions')).text)).toMatchObject({ total: 1, sessions: [{ sessionId }] });
    expect(inspector.recorder.header.program).toMatchObject({ name: 'the counter', pid: process.pid });
  });

  it('sees every system of actors, with what tasks are called', async () => {
    await using inspector = await open();
    const roots = (await recordsOf(inspector)).filter((record) => record.k === 'actor' && record.parent === undefined);
    expect(roots).toHaveLength(runtime.inspection.systems.length);
    expect(runtime.inspection.systems).toContain(runtime.subagents.getBackgroundTaskManager());
    expect(runtime.inspection.systems.length).toBe(4);
    const task = await runtime.tasks.spawn({ kind: 'process', label: 'say hello', command: 'echo hello', cwd: folder.path, parentSessionId: 'parent' });
    await runtime.tasks.wait(task.id);
    const told = (await recordsOf(inspector)).find((record) => record.k === 'actor' && record.kind === 'task');
    expect(told).toMatchObject({ facts: { taskId: task.id, label: 'say hello', kind: 'process', sessionId: 'parent' } });
  });

  it('frees its port and lets go of the actors when it is closed, and the runtime goes on', async () => {
    const inspector = await open();
    expect(await isListening(inspector)).toBe(true);
    await inspector.close();
    await inspector.close();
    expect([await isListening(inspector), inspector.recorder.isAttached]).toEqual([false, false]);
    const again = await open({ port: Number(new URL(inspector.origin).port) });
    expect(again.origin).toBe(inspector.origin);
    await again.close();
  });

  it('is closed by the runtime where the program forgets it, after all that it has to see', async () => {
    const inspector = await open();
    await runtime.shutdown();
    expect([await isListening(inspector), inspector.recorder.isAttached]).toEqual([false, false]);
    const lastStatuses = new Map((await recordsOf(inspector)).flatMap((record) => ('status' in record ? [[record.a, record.status] as const] : [])));
    expect([...lastStatuses.values()].filter((status) => status === 'active')).toEqual([]);
  });

  it('is not opened any more when the runtime is shut down', async () => {
    await runtime.shutdown();
    await expect(open()).rejects.toMatchObject({ code: 'RUNTIME_SHUT_DOWN' });
  });

  it('that is opened while the runtime shuts down leaves no port', async () => {
    const [inspector] = await Promise.all([openAtOnce(runtime, { pageDirectory: page }), runtime.shutdown()]);
    expect(await isListening(inspector)).toBe(false);
  });

  it('leaves nothing behind when it cannot be opened', async () => {
    await using first = await open();
    const port = Number(new URL(first.origin).port);
    await expect(open({ port })).rejects.toMatchObject({ code: 'INSPECTOR_PORT_TAKEN' });
    await expect(open({ title: '' })).rejects.toMatchObject({ code: 'INSPECTOR_OPTIONS_INVALID' });
    await expect(open({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'INSPECTOR_OPTIONS_INVALID' });
    await expect(open({ recorderLimits: { records: 0 } })).rejects.toMatchObject({ code: 'RECORDER_OPTIONS_INVALID' });
    const misspelt = { portt: 1 } as CreateInspectorOptions;
    await expect(open(misspelt)).rejects.toMatchObject({ code: 'INSPECTOR_OPTIONS_INVALID', message: expect.stringContaining('portt') as string });
    expect(first.recorder.isAttached).toBe(true);
  });

  it('uses a recorder that is there already, and leaves it attached', async () => {
    await using first = await open();
    const second = await open({ recorder: first.recorder });
    expect(second.recorder).toBe(first.recorder);
    await second.close();
    expect(first.recorder.isAttached).toBe(true);
  });
});
