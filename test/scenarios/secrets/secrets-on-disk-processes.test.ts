/**
 * Nothing that is written to disk in a long run holds a secret, in any form, whatever the agent and its tools do with
 * it, and whoever is killed meanwhile.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { eventually } from '../../adapters/process-tree/system-processes.ts';
import { fixture } from '../../adapters/mcp/mcp-setup.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { FORMS, SECRET, leakyRuntime, survivingRuntime } from './leaky-agent.ts';
import { openLeakyRuntime } from './leaky-runtime.ts';

let home: TemporaryHome;
let httpUrl: string;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  const server = createServer((request, response) => {
    const token = String(request.headers['x-token']);
    response
      .writeHead(500, { 'content-type': 'text/plain', 'x-seen': Buffer.from(token).toString('base64') })
      .end(`refused ${token} ${encodeURIComponent(token)} `.repeat(3_000));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  httpUrl = `http://${host}/`;
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  await mkdir(join(home.path, 'vaults'), { mode: 0o700 });
  await writeFile(
    join(home.path, 'vaults', 'github.yaml'),
    JSON.stringify({ secrets: { token: { value: SECRET, hosts: [host], commands: true } } }),
    { mode: 0o600 },
  );
  await mkdir(join(home.path, 'environments'), { mode: 0o700 });
  await writeFile(
    join(home.path, 'environments', 'leaky.yaml'),
    JSON.stringify({ sandbox: 'off', vaults: ['github'] }),
    { mode: 0o600 },
  );
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await home.remove();
});

async function agent(runtime: Runtime, agentId: string): Promise<string> {
  const mcp = {
    echoing: {
      command: process.execPath,
      args: [fixture('stdio-server.mjs')],
      env: { KEY: { vault: 'github/token', prefix: 'Bearer ' } },
    },
  };
  const tools = ['files', 'shell', 'vaults', 'network'];
  if (!existsSync(join(home.path, 'agents', agentId))) {
    await runtime.agents.create({
      agentId,
      source: {
        frontmatter: {
          name: agentId,
          provider: agentId,
          model: 'm',
          environment: 'leaky',
          tools: agentId === 'leaky' ? [...tools, { mcp: 'echoing' }] : tools,
          ...(agentId === 'leaky' ? { mcp } : {}),
        },
        instructions: 'Work.',
      },
    });
  }
  const { sessionId } = await runtime.sessions.create({ agentId });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  return sessionId;
}

/** Every place where a form of the secret lies, as `file: form`. What people have written into vaults is theirs. */
async function leaks(): Promise<readonly string[]> {
  const files = (await readdir(home.path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files
      .filter((file) => !relative(home.path, file).startsWith('vaults/'))
      .map(async (file) => {
        const text = (await readFile(file)).toString('latin1');
        const dense = text.replaceAll(/\\n|\s/g, '');
        return Object.entries(FORMS).flatMap(([form, written]) =>
          text.includes(written) || dense.includes(written) ? [`${relative(home.path, file)}: ${form}`] : [],
        );
      }),
  );
  return found.flat();
}

async function eventsOf(runtime: Runtime, sessionId: string): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
}

async function longRun(redacts: boolean): Promise<{
  readonly events: readonly SessionEvent[];
  readonly live: readonly AgentRunEvent[];
  readonly workspace: string;
}> {
  const live: AgentRunEvent[] = [];
  const runtime = openLeakyRuntime({ home: home.path, redacts, runtimes: [leakyRuntime({ httpUrl })] });
  try {
    const first = await agent(runtime, 'leaky');
    const outcome = await runtime.wake(first, { onRunEvent: (event) => live.push(event) });
    expect(outcome).toMatchObject({ outcome: 'sleep' });
    const second = await agent(runtime, 'leaky');
    await runtime.wake(second, { onRunEvent: (event) => live.push(event) });
    const summary = JSON.stringify(outcome);
    if (redacts) expect(Object.values(FORMS).filter((form) => summary.includes(form))).toEqual([]);
    return {
      events: await eventsOf(runtime, first),
      live,
      workspace: join(home.path, 'agents', 'leaky', 'sessions', first, 'workspace'),
    };
  } finally {
    await runtime.shutdown();
  }
}

describe('a long run of an agent that spills its secret', () => {
  it('leaves it nowhere on the disk, in no form, and shows it to nobody who watches', async () => {
    const { events, live, workspace } = await longRun(true);
    expect(await leaks()).toEqual([]);
    const shown = live
      .map((event) => (event.stream === 'assistant' ? event.data.text : JSON.stringify(event.data)))
      .join('');
    expect(Object.entries(FORMS).filter(([, form]) => shown.includes(form))).toEqual([]);
    expect(shown).toContain('[redacted github/token]');
    const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? [event.data] : []));
    const outcomes = results.map(({ name, outcome }) => `${name} ${outcome}`);
    expect(outcomes).toEqual([
      ...[
        'shell_run',
        'shell_run',
        'shell_run',
        'shell_run',
        'shell_open',
        'shell_exec',
        'shell_read_last_output',
        'http_request',
      ].map((name) => `${name} completed`),
      ...['http_request', 'echoing__env', 'echoing__crash', 'shell_run', 'write'].map(
        (name) => `${name} ${name === 'echoing__env' ? 'completed' : 'failed'}`,
      ),
      'vault_list completed',
      'no_tool_[redacted github/token] failed',
    ]);
    // The secret was there: what stands in its place says so.
    const said = results.map(({ output }) => JSON.stringify(output));
    expect(
      [0, 1, 2, 3, 5, 6, 7, 9, 10].filter((index) => said[index]?.includes('[redacted github/token]') !== true),
    ).toEqual([]);
    expect(existsSync(join(workspace, 'typed'))).toBe(false);
    expect(existsSync(join(workspace, 'note.txt'))).toBe(false);
  }, 60_000);

  it('would leave it in logs, outputs and views if nobody took it out', async () => {
    await longRun(false);
    const found = await leaks();
    const forms = new Set(found.map((line) => line.split(': ').at(-1)));
    expect([...forms]).toEqual(expect.arrayContaining(['plain', 'base64', 'url', 'hex', 'base64 moved by two']));
    expect(
      ['events.jsonl', 'task-logs', '.wakechart-runtime/outputs'].filter(
        (place) => !found.some((line) => line.includes(place)),
      ),
    ).toEqual([]);
  }, 60_000);

  it('leaves nothing when its process is killed while a command spills it, nor when another goes on', async () => {
    const runtime = openLeakyRuntime({ home: home.path, redacts: true, runtimes: [survivingRuntime()] });
    closing.unshift(() => runtime.shutdown());
    const sessionId = await agent(runtime, 'endless');
    const file = join(home.path, 'worker.mjs');
    await bundled(file);
    const worker = spawn(process.execPath, [file, home.path, sessionId], { stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = once(worker, 'exit');
    try {
      await eventually(
        async () => (await taskLogs()).includes('[redacted github/token]') || undefined,
        'the command has spilled it',
      );
    } finally {
      worker.kill('SIGKILL');
      await exited;
    }
    expect(await leaksWithout('worker.mjs')).toEqual([]);
    await runtime.wake(sessionId);
    expect(await leaksWithout('worker.mjs')).toEqual([]);
    expect(
      (await eventsOf(runtime, sessionId)).some(
        (event) => event.type === 'agent.message' && event.data.text.includes('[redacted github/token]'),
      ),
    ).toBe(true);
  }, 60_000);
});

/** The program itself knows the secret. */
async function leaksWithout(file: string): Promise<readonly string[]> {
  return (await leaks()).filter((line) => !line.startsWith(file));
}

async function taskLogs(): Promise<string> {
  const folder = join(home.path, 'task-logs');
  const files = await readdir(folder).catch(() => []);
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('');
}

async function bundled(file: string): Promise<void> {
  const build = await rolldown({
    input: fileURLToPath(new URL('dying-worker.ts', import.meta.url)),
    platform: 'node',
    logLevel: 'silent',
  });
  await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
}
