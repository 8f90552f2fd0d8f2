/** The inspector of a whole runtime: what it sees, what it keeps to itself, and how it ends. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InspectionRecord } from '../../src/machines/inspection-log/inspection-record.ts';
import { writeInspectionLog } from '../../src/adapters/inspection-files/inspection-log-file.ts';
import { createInspector as openAtOnce } from '../../src/node/inspector.ts';
import { createInspector, createNodeRuntime } from '../../src/node.ts';
import type { CreateInspectorOptions, Inspector, NodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { isListening } from '../support/listening.ts';

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

const open = (options: CreateInspectorOptions = {}): Promise<Inspector> =>
  createInspector(runtime, { pageDirectory: page, ...options });

interface Browser {
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

async function signedIn(inspector: Inspector): Promise<Browser> {
  const { pathname, search } = new URL(inspector.signInAddress());
  const { headers } = await fetch(`${inspector.origin}${pathname}${search}`, { redirect: 'manual' });
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return {
    async ask(path) {
      const response = await fetch(`${inspector.origin}${pathname.slice(0, -1)}${path}`, { headers: { cookie } });
      return { status: response.status, text: await response.text() };
    },
  };
}

const isServing = ({ origin }: Inspector): Promise<boolean> => isListening({ port: Number(new URL(origin).port) });

async function recordsOf({ recorder }: Inspector): Promise<readonly InspectionRecord[]> {
  const records: InspectionRecord[] = [];
  for await (const some of recorder.records(1)) records.push(...some);
  return records;
}

describe('the inspector of a runtime', () => {
  it('serves the page, what it is about, and the sessions, to whoever has signed in', async () => {
    await runtime.agents.create({
      agentId: 'clerk',
      source: { frontmatter: { name: 'Clerk', provider: 'script', model: 'play.json' }, instructions: '' },
    });
    const { sessionId } = await runtime.sessions.create({ agentId: 'clerk' });
    await using inspector = await open({ title: 'the counter' });
    const { pathname } = new URL(inspector.signInAddress());
    expect([
      (await fetch(`${inspector.origin}/api/about`)).status,
      (await fetch(`${inspector.origin}${pathname}api/about`)).status,
    ]).toEqual([404, 401]);
    const { ask } = await signedIn(inspector);
    expect(await ask('/')).toEqual({ status: 200, text: '<p>The page' });
    expect(JSON.parse((await ask('/api/about')).text)).toMatchObject({
      kind: 'runtime',
      title: 'the counter',
      home: join(folder.path, 'home'),
      hasSessions: true,
      canAnswer: true,
      hasEnded: false,
    });
    expect(JSON.parse((await ask('/api/sessions')).text)).toMatchObject({ total: 1, sessions: [{ sessionId }] });
    expect(inspector.recorder.header.program).toMatchObject({ name: 'the counter', pid: process.pid });
  });

  it('sees every system of actors, with what tasks are called', async () => {
    await using inspector = await open();
    const roots = (await recordsOf(inspector)).filter((record) => record.k === 'actor' && record.parent === undefined);
    expect(roots).toHaveLength(runtime.inspection.systems.length);
    expect(runtime.inspection.systems.map(({ tasks }) => tasks)).toContain(
      runtime.subagents.getBackgroundTaskManager(),
    );
    expect(runtime.inspection.systems.length).toBe(4);
    const task = await runtime.tasks.spawn({
      kind: 'process',
      label: 'say hello',
      command: 'echo hello',
      cwd: folder.path,
      parentSessionId: 'parent',
    });
    await runtime.tasks.wait(task.id);
    const told = (await recordsOf(inspector)).find((record) => record.k === 'actor' && record.kind === 'task');
    expect(told).toMatchObject({
      facts: { taskId: task.id, label: 'say hello', kind: 'process', sessionId: 'parent' },
    });
  });

  it('frees its port and releases the actors when it is closed, and the runtime goes on', async () => {
    const inspector = await open();
    expect(await isServing(inspector)).toBe(true);
    await inspector.close();
    await inspector.close();
    expect([await isServing(inspector), inspector.recorder.isAttached]).toEqual([false, false]);
    const again = await open({ port: Number(new URL(inspector.origin).port) });
    expect(again.origin).toBe(inspector.origin);
    await again.close();
  });

  it('is closed by the runtime where the program forgets it, after all that it has to see', async () => {
    const inspector = await open();
    await runtime.shutdown();
    expect([await isServing(inspector), inspector.recorder.isAttached]).toEqual([false, false]);
    const lastStatuses = new Map(
      (await recordsOf(inspector)).flatMap((record) =>
        'status' in record ? [[record.a, record.status] as const] : [],
      ),
    );
    expect([...lastStatuses.values()].filter((status) => status === 'active')).toEqual([]);
  });

  it('is not opened any more when the runtime is shut down', async () => {
    await runtime.shutdown();
    await expect(open()).rejects.toMatchObject({ code: 'RUNTIME_SHUT_DOWN' });
  });

  it('that is opened while the runtime shuts down leaves no port', async () => {
    const [inspector] = await Promise.all([openAtOnce(runtime, { pageDirectory: page }), runtime.shutdown()]);
    expect(await isServing(inspector)).toBe(false);
  });

  it('leaves nothing behind when it cannot be opened', async () => {
    await using first = await open();
    const port = Number(new URL(first.origin).port);
    await expect(open({ port })).rejects.toMatchObject({ code: 'INSPECTOR_PORT_TAKEN' });
    await expect(open({ title: '' })).rejects.toMatchObject({ code: 'INSPECTOR_OPTIONS_INVALID' });
    await expect(createInspector(undefined as never)).rejects.toMatchObject({
      code: 'INSPECTOR_OPTIONS_INVALID',
      hint: expect.stringContaining('createInspector(runtime)') as unknown,
    });
    await expect(open({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'INSPECTOR_OPTIONS_INVALID' });
    await expect(open({ recorderLimits: { records: 0 } })).rejects.toMatchObject({ code: 'RECORDER_OPTIONS_INVALID' });
    const misspelt = { portt: 1 } as CreateInspectorOptions;
    await expect(open(misspelt)).rejects.toMatchObject({
      code: 'INSPECTOR_OPTIONS_INVALID',
      message: expect.stringContaining('portt') as string,
    });
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

describe('what a session prints of a secret of a vault', () => {
  const SECRET = 'ghp_Sup3rSecretValue42';
  const MARK = '[redacted github/token]';

  /** A session whose command prints it, and whose model says it. */
  async function tellingSession(): Promise<string> {
    const home = join(folder.path, 'home');
    for (const name of ['vaults', 'environments']) await mkdir(join(home, name), { mode: 0o700 });
    await writeFile(
      join(home, 'vaults', 'github.yaml'),
      JSON.stringify({ secrets: { token: { value: SECRET, commands: true } } }),
      { mode: 0o600 },
    );
    await writeFile(join(home, 'environments', 'shown.yaml'), JSON.stringify({ sandbox: 'off', vaults: ['github'] }), {
      mode: 0o600,
    });
    await runtime.agents.create({
      agentId: 'teller',
      source: {
        frontmatter: {
          name: 'Teller',
          provider: 'script',
          model: 'play.json',
          environment: 'shown',
          permission: { mode: 'preapproved' },
        },
        instructions: '',
      },
    });
    const steps = [
      {
        text: `I know ${SECRET}.`,
        toolCalls: [
          {
            name: 'shell_run',
            input: { command: 'echo "the token is $TOKEN"; echo "$TOKEN" >&2', secrets: { TOKEN: 'github/token' } },
          },
        ],
      },
      { directive: { outcome: 'sleep', summary: `Told ${SECRET}.` } },
    ];
    await writeFile(
      join(home, 'agents', 'teller', 'play.json'),
      JSON.stringify({ format: 'wakechart-script/1', steps }),
    );
    const { sessionId } = await runtime.sessions.create({ agentId: 'teller' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
    return sessionId;
  }

  it('comes neither to the page nor into a recording', async () => {
    await using inspector = await open();
    const path = join(folder.path, 'run.ndjson');
    const file = await writeInspectionLog({
      path,
      recording: inspector.recorder,
      onTrouble: (error) => expect.unreachable(error.message),
    });
    const sessionId = await tellingSession();
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
    // What the runtime stores is redacted before; what a program does with a secret of its own is seen by the recorder
    // as it is.
    const task = await runtime.tasks.spawn({
      kind: 'process',
      label: `send ${SECRET}`,
      command: `echo ${SECRET}`,
      cwd: folder.path,
      parentSessionId: sessionId,
    });
    await runtime.tasks.wait(task.id);
    const { ask } = await signedIn(inspector);
    const session = `/api/sessions/${sessionId}`;
    const texts = await Promise.all(
      [
        '/api/records',
        `/api/records?session=${sessionId}`,
        '/api/sessions',
        session,
        `${session}/events`,
        `${session}/processes`,
        `${session}/changes`,
      ].map(async (each) => (await ask(each)).text),
    );
    await file.close();
    const recorded = await readFile(path, 'utf8');
    expect([...texts, recorded].filter((text) => text.includes(SECRET))).toEqual([]);
    // It would be no test if none of it came there.
    expect([
      texts[0]?.includes(`send ${MARK}`),
      recorded.includes(`send ${MARK}`),
      texts[1]?.includes(MARK),
      texts[4]?.includes(`the token is ${MARK}`),
      recorded.includes('shell_run'),
    ]).toEqual([true, true, true, true, true]);
  });

  it('is known to an inspector of a living runtime in which nobody has opened the vault, which says which ones are not', async () => {
    await tellingSession();
    expect(runtime.inspection.redact(`a ${SECRET}`)).toBe(`a ${SECRET}`);
    await writeFile(join(folder.path, 'home', 'vaults', 'other.yaml'), 'secrets: { deploy: { command: ["false"] } }', {
      mode: 0o600,
    });
    await using inspector = await open();
    const task = await runtime.tasks.spawn({
      kind: 'process',
      label: `send ${SECRET}`,
      command: `echo ${SECRET}`,
      cwd: folder.path,
    });
    await runtime.tasks.wait(task.id);
    const { ask } = await signedIn(inspector);
    const records = (await ask('/api/records')).text;
    expect([records.includes(SECRET), records.includes(`send ${MARK}`)]).toEqual([false, true]);
    expect((await ask('/api/about')).text).toContain(
      'not known here, and so are shown as they are wherever they stand: other/deploy.',
    );
  });

  it('is taken out of what was recorded before it was known', async () => {
    await using inspector = await open();
    const task = await runtime.tasks.spawn({
      kind: 'process',
      label: `send ${SECRET}`,
      command: `echo ${SECRET}`,
      cwd: folder.path,
    });
    await runtime.tasks.wait(task.id);
    const { ask } = await signedIn(inspector);
    expect((await ask('/api/records')).text).toContain(`send ${SECRET}`);
    await tellingSession();
    await runtime.inspection.learnSecrets?.();
    const records = (await ask('/api/records')).text;
    expect([records.includes(SECRET), records.includes(`send ${MARK}`)]).toEqual([false, true]);
  });

  it('is known to an inspector of a home in which nobody has opened the vault', async () => {
    await tellingSession();
    expect(runtime.inspection.redact(`a ${SECRET}`)).toBe(`a ${SECRET}`);
    expect(await runtime.inspection.learnSecrets?.()).toEqual([]);
    expect(runtime.inspection.redact(`a ${SECRET}`)).toBe(`a ${MARK}`);
  });
});
