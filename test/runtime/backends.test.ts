/** Sessions of a home whose agents are run by a model over HTTP and by a program, with everything real in between. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { ProviderTable } from '../../src/machines/run/provider-settings.ts';
import type { RunLimits } from '../../src/machines/run/run-decision.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import type { Step } from '../fixtures/cli-agents/scenario.mjs';
import { toolStory } from '../support/backend-setup.ts';
import { answers, failsWithError } from '../support/http-models/behaviors.ts';
import { ModelServer } from '../support/http-models/model-server.ts';
import { until } from '../support/session-setup.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const NODE_ENTRY = fileURLToPath(new URL('../../dist/node.js', import.meta.url));
const CLAUDE = fileURLToPath(new URL('../fixtures/cli-agents/claude.mjs', import.meta.url));

let home: TemporaryHome;
let runtime: Runtime;
let server: ModelServer;
const children: ChildProcess[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  server = await ModelServer.start();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await runtime.shutdown();
  await server.close();
  await home.remove();
});

async function open(
  agent: Partial<AgentFrontmatter> & Pick<AgentFrontmatter, 'provider' | 'model'>,
  runLimits: Partial<RunLimits> = {},
): Promise<string> {
  const providers: ProviderTable = {
    setup: { backend: 'embedded', api: 'anthropic', baseUrl: server.baseUrl('anthropic'), needsKey: false },
    spare: { backend: 'embedded', api: 'openai-chat', baseUrl: server.baseUrl('openai-chat'), needsKey: false },
    ollama: {
      backend: 'embedded',
      api: 'openai-chat',
      baseUrl: `http://127.0.0.1:${await closedPort()}/v1`,
      needsKey: false,
    },
    program: {
      backend: 'cli-agent',
      dialect: 'claude',
      program: { command: process.execPath, args: [CLAUDE], set: { FIXTURE_HOME: home.path } },
    },
  };
  // JSON is YAML.
  await writeFile(join(home.path, 'providers.yaml'), JSON.stringify(providers));
  runtime = await createNodeRuntime({ home: home.path, runLimits });
  await runtime.agents.create({
    agentId: 'worker',
    source: { frontmatter: { name: 'Worker', ...agent }, instructions: 'Work.' },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'worker' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return sessionId;
}

/** Nothing listens there any more. */
async function closedPort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return port;
}

const scenario = (...steps: readonly Step[]): Promise<void> =>
  writeFile(join(home.path, 'play.json'), JSON.stringify(steps));

const log = async (sessionId: string): Promise<SessionEvent[]> => {
  const events: SessionEvent[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
};

/** Ids of the programs that were started. */
function programs(): readonly number[] {
  const notes = join(home.path, 'notes.jsonl');
  return existsSync(notes)
    ? [
        ...new Set(
          readFileSync(notes, 'utf8')
            .trim()
            .split('\n')
            .map((line) => (JSON.parse(line) as { pid: number }).pid),
        ),
      ]
    : [];
}

function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('an agent of a home', () => {
  it('is run by a model over HTTP, calls our tools, and falls back to another when the first is down', async () => {
    server.when('first', failsWithError(401, { type: 'authentication_error', message: 'invalid key' }));
    let step = 0;
    server.when('second', (exchange) => {
      step += 1;
      return (
        step === 1
          ? answers([
              { text: 'I check.' },
              { tool: 'shell_run', callId: 'c1', input: JSON.stringify({ command: 'echo seen > made.txt' }) },
            ])
          : answers([{ text: 'Seen.' }])
      )(exchange);
    });
    const id = await open({
      provider: 'setup',
      model: 'first',
      fallbacks: [{ provider: 'spare', model: 'second' }],
      permission: 'preapproved',
    });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Seen.', modelSteps: 2 });
    const events = await log(id);
    expect(readFileSync(join(home.path, 'agents/worker/sessions', id, 'workspace/made.txt'), 'utf8')).toBe('seen\n');
    expect(events.flatMap((event) => (event.type === 'run.attempt_failed' ? [event.data.error.kind] : []))).toEqual([
      'auth',
    ]);
    // The second step knows already that the first choice rests.
    expect(events.flatMap((event) => (event.type === 'span.started' ? [event.data.model] : []))).toEqual([
      'first',
      'second',
    ]);
  });

  it('is run by a program, which is asked about and goes on with its own session', async () => {
    await scenario(
      { use: { name: 'Bash', input: { command: 'make it' }, output: 'made' }, ask: true },
      { say: 'Made.' },
    );
    const id = await open({ provider: 'program', model: 'play', permission: 'ask' });
    const waking = runtime.wake(id);
    await until(async () => (await runtime.sessions.get(id)).pendingActions.length === 1);
    const [request] = (await runtime.sessions.get(id)).pendingActions;
    await runtime.sessions.send(id, {
      type: 'user.tool_confirmation',
      requestId: request?.requestId ?? '',
      toolName: 'Bash',
      allowed: true,
    });
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Made.' });
    expect(toolStory(await log(id))).toEqual([
      'use Bash by backend',
      'asked',
      'resolved allowed',
      'started, allowed by person',
      'completed',
      'says Made.',
    ]);
    await scenario({ say: 'Again.' });
    await runtime.sessions.send(id, { type: 'user.message', text: 'And now?' });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Again.' });
    expect(
      (await log(id)).flatMap((event) => (event.type === 'backend.session_bound' ? [event.data.generation] : [])),
    ).toEqual([1, 1]);
    await until(() => programs().every((pid) => !lives(pid)));
  });

  it('is run by another model when the system kills its program, which is begun once more at most', async () => {
    await scenario({ kill: 'SIGKILL' });
    server.when('second', (exchange) => answers([{ text: 'Done here.' }])(exchange));
    const id = await open({
      provider: 'program',
      model: 'play',
      fallbacks: [{ provider: 'spare', model: 'second' }],
      permission: 'ask',
    });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done here.' });
    const failed = (await log(id)).flatMap((event) => (event.type === 'run.attempt_failed' ? [event.data] : []));
    expect(failed.map(({ error: { kind }, next }) => [kind, next])).toEqual([
      ['server_error', 'back_off'],
      ['server_error', 'fall_back'],
    ]);
    expect(failed[0]?.error.message).toContain('it was ended by SIGKILL');
    expect(programs().length).toBe(2);
  });

  it('is begun exactly once more when the system kills its program and no other model is named', async () => {
    await scenario({ kill: 'SIGKILL' });
    const id = await open({ provider: 'program', model: 'play', permission: 'ask' });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'failed' });
    const failed = (await log(id)).flatMap((event) => (event.type === 'run.attempt_failed' ? [event.data] : []));
    expect(failed.map(({ error: { kind }, next }) => [kind, next])).toEqual([
      ['server_error', 'back_off'],
      ['server_error', 'give_up'],
    ]);
    expect(programs().length).toBe(2);
  });

  it('does not know what came of a call whose program was killed, and has nothing run again', async () => {
    await scenario({ use: { name: 'Bash', input: { command: 'make it' }, hangs: true } });
    const id = await open({
      provider: 'program',
      model: 'play',
      fallbacks: [{ provider: 'spare', model: 'second' }],
      permission: 'preapproved',
    });
    const waking = runtime.wake(id);
    await until(async () => (await log(id)).some(({ type }) => type === 'agent.tool_started'));
    for (const pid of programs()) process.kill(pid, 'SIGKILL');
    expect(await waking).toMatchObject({
      outcome: 'failed',
      error: { message: expect.stringContaining('server_error') as string },
    });
    expect(toolStory(await log(id))).toEqual(['use Bash by backend', 'started', 'unknown']);
    expect([programs().length, server.requests.length]).toEqual([1, 0]);
  });

  it('is told how to start a server on this machine that does not run', async () => {
    const id = await open({ provider: 'ollama', model: 'qwen3' }, { maxBackOffs: 0 });
    expect(await runtime.wake(id)).toMatchObject({
      outcome: 'failed',
      error: {
        hint: expect.stringMatching(
          /^Start the server \(`ollama serve`\), or correct its address: baseUrl of "ollama" in providers.yaml, now http:\/\/127.0.0.1:\d+\/v1, then wake the session again\.$/,
        ) as string,
      },
    });
  });

  it('goes on after its process was killed in the middle of a turn of a program, and no program is left', async () => {
    await scenario(
      { use: { name: 'Bash', input: { command: 'make it' }, output: 'made' }, ask: true },
      { say: 'Made.' },
    );
    const id = await open({ provider: 'program', model: 'play', permission: 'ask' });
    const script = `const { createNodeRuntime } = await import(${JSON.stringify(NODE_ENTRY)});
      const runtime = await createNodeRuntime({ home: ${JSON.stringify(home.path)} });
      await runtime.wake(${JSON.stringify(id)});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, TMPDIR: home.path },
    });
    children.push(child);
    const exited = once(child, 'exit');
    for await (const { type } of runtime.sessions.events(id, { follow: true }))
      if (type === 'permission.requested') break;
    child.kill('SIGKILL');
    await exited;
    await scenario({ say: 'Begun anew.' });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Begun anew.' });
    expect(toolStory(await log(id))).toEqual([
      'use Bash by backend',
      'asked',
      'taken back',
      'cancelled',
      'says Begun anew.',
    ]);
    expect(await runtime.sessions.get(id)).toMatchObject({ openToolCalls: [], pendingActions: [], status: 'idle' });
    expect(programs().length).toBe(2);
    await until(() => programs().every((pid) => !lives(pid)));
  });
});
