/** The worker of the package: it runs agents in sessions of the home, and never outlives its parent. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { getDefaultSubagentWorkerPath } from '../../../src/adapters/child-process/default-worker-path.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { answers } from '../../support/http-models/behaviors.ts';
import { ModelServer } from '../../support/http-models/model-server.ts';
import { eventually, isRunning, pidFrom, processesWith } from '../process-tree/system-processes.ts';
import { runnerSetup } from './runner-setup.ts';
import type { RunnerSetup } from './runner-setup.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/subagent-workers/${name}`, import.meta.url));
const dist = new URL('../../../dist/', import.meta.url).href;
const realWorker = getDefaultSubagentWorkerPath();

let home: string;
let setups: RunnerSetup[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'home-'));
});
afterEach(async () => {
  for (const setup of setups) await setup.close();
  setups = [];
  await rm(home, { recursive: true, force: true });
});

const open = async (options: Parameters<typeof runnerSetup>[0] = {}): Promise<RunnerSetup> => {
  const setup = await runnerSetup({ workerPath: realWorker, home, ...options });
  setups.push(setup);
  return setup;
};

/** An agent `worker` whose model says what is written. */
async function agent(steps: readonly object[], permission = 'preapproved'): Promise<void> {
  const folder = join(home, 'agents', 'worker');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: worker\nprovider: script\nmodel: play.json\npermission: ${permission}\n---\n\nWork.\n`,
  );
  await writeFile(join(folder, 'play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
}

const logs = async (): Promise<readonly string[]> => {
  const sessions = join(home, 'agents', 'worker', 'sessions');
  return Promise.all(
    (await readdir(sessions)).map((session) => readFile(join(sessions, session, 'events.jsonl'), 'utf8')),
  );
};

describe('the worker of the package', () => {
  it('runs an agent in a session of the home, and says what it says', async () => {
    await agent([
      { text: 'Checking.', toolCalls: [{ name: 'shell_run', input: { command: 'echo from the tool' } }] },
      { text: 'All done.' },
    ]);
    const { start, folder } = await open();
    const { handle, text, events } = await start('Have a check.', { cwd: folder });
    const { output, metadata } = await handle.result;
    expect(output).toContain('All done.');
    expect(text()).toContain('Checking.');
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['background_task_tool_start', 'background_task_tool_end']),
    );
    expect(metadata).toBeDefined();
    const [log = ''] = await logs();
    expect(log).toContain('Have a check.');
    expect(log).toContain('from the tool');
    expect(isRunning(handle.pid ?? 0)).toBe(false);
  });

  it('runs at once where it is warm', async () => {
    await agent([{ text: 'Quick.' }]);
    const { start, runner } = await open({ warmWorkers: 1 });
    await eventually(() => runner.warmWorkers === 1, 'a warm worker');
    const { handle } = await start('Go.');
    expect((await handle.result).output).toContain('Quick.');
  });

  it('says what is wrong in the words of whoever found it', async () => {
    const { start } = await open();
    const { handle } = await start('Go.', { agentType: 'nobody' });
    await expect(handle.result).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND', category: 'not_found' });
  });

  it('is stopped with the commands of its agent', async () => {
    await agent([
      { toolCalls: [{ name: 'shell_run', input: { command: 'echo $$ > pid.new; mv pid.new pid; exec sleep 1000' } }] },
    ]);
    const { start, folder } = await open();
    const { handle } = await start('Wait.', { cwd: folder });
    const command = await pidFrom(join(folder, 'pid'));
    await handle.cancel('no longer needed');
    expect(isRunning(command)).toBe(false);
    await expect(handle.result).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED' });
  });

  it('asks its parent for permission, and goes on with the answer', async () => {
    await agent(
      [{ toolCalls: [{ name: 'shell_run', input: { command: 'touch allowed' } }] }, { text: 'Asked.' }],
      'ask',
    );
    const { start, folder } = await open();
    const { handle, events } = await start('Go.', { cwd: folder, permissionPolicy: 'prompt' });
    const request = await eventually(
      () => events.find((event) => event.type === 'background_task_permission_request'),
      'a request',
    );
    await handle.answerPermission?.('requestId' in request ? request.requestId : '', true);
    expect((await handle.result).output).toContain('Asked.');
    expect(await readdir(folder)).toContain('allowed');
  });

  it('runs an agent that came along, in a home that goes with it, with a key that is only named', async () => {
    const server = await ModelServer.start();
    vi.stubEnv('SOME_API_KEY', 'very-secret-value');
    try {
      const keys: unknown[] = [];
      server.when('tiny', (exchange) => {
        keys.push(exchange.request.headers.authorization);
        return answers([{ text: `My key is ${String(exchange.request.headers.authorization)}.` }])(exchange);
      });
      const frontmatter = { name: 'worker', provider: 'mine', model: 'tiny', permission: 'deny' };
      const { start, transcript, runner } = await open({
        home: undefined,
        agentDefinition: { frontmatter, instructions: 'Answer.' },
        warmWorkers: 1,
      });
      await eventually(() => runner.warmWorkers === 1, 'a warm worker');
      const { handle } = await start('Who are you?', {
        providerProfile: {
          name: 'mine',
          provider: 'vllm',
          baseUrl: server.baseUrl('openai-chat'),
          apiKeyEnv: 'SOME_API_KEY',
        },
      });
      expect((await handle.result).output).toBe('My key is Bearer [redacted].');
      expect(keys).toEqual(['Bearer very-secret-value']);
      expect(JSON.stringify(await transcript())).not.toContain('very-secret-value');
      expect(await readdir(home)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      await server.close();
    }
  });

  it('is no program for people', async () => {
    const child = spawn(process.execPath, [realWorker], { stdio: ['ignore', 'ignore', 'pipe'] });
    const errors = child.stderr.setEncoding('utf8').toArray();
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(2);
    expect((await errors).join('')).toContain('is forked by Wakechart');
  });
});

describe('a worker whose parent is killed', () => {
  let hosts: ChildProcess[] = [];
  afterEach(async () => {
    for (const host of hosts) await kill(host);
    hosts = [];
  });
  const kill = async (host: ChildProcess): Promise<void> => {
    if (host.exitCode !== null || host.signalCode !== null) return;
    const closed = once(host, 'exit');
    host.kill('SIGKILL');
    await closed;
  };

  async function startHost(
    worker: string,
    request: Readonly<Record<string, unknown>>,
    warmWorkers = 0,
  ): Promise<{ host: ChildProcess; pid: number }> {
    const host = spawn(
      process.execPath,
      [fixture('host.mjs'), dist, home, worker, JSON.stringify(request), String(warmWorkers)],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, MARK: home } },
    );
    hosts.push(host);
    if (host.stdout === null) throw new Error('the host has no output');
    const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
    return { host, pid: (JSON.parse(line) as { pid?: number }).pid ?? 0 };
  }

  const gone = (pid: number): Promise<unknown> => eventually(() => !isRunning(pid), `the end of ${pid}`);

  it('ends, and its commands with it', async () => {
    await agent([
      {
        text: 'Waiting.',
        toolCalls: [
          { name: 'shell_run', input: { command: 'echo $$ > pid.new; mv pid.new pid; exec setsid sleep 1000' } },
        ],
      },
    ]);
    const { host, pid } = await startHost(realWorker, { home, prompt: 'Wait.' });
    const command = await pidFrom(join(home, 'pid'));
    await kill(host);
    await Promise.all([gone(pid), gone(command)]);
    expect([pid, command].filter(isRunning)).toEqual([]);
    await createProcessTree({ clock: createSystemClock(), directory: join(home, 'processes') }).reconcile();
  });

  it('ends also when it is busy and hears nothing, with what it has started in sessions of their own', async () => {
    const pidFile = join(home, 'daemon.pid');
    const { host, pid } = await startHost(fixture('guarded-worker.mjs'), { prompt: JSON.stringify({ pidFile }) });
    const daemon = await pidFrom(pidFile);
    expect(isRunning(pid) && isRunning(daemon)).toBe(true);
    const tag =
      (await readFile(`/proc/${pid}/environ`, 'utf8'))
        .split('\0')
        .find((entry) => entry.startsWith('WAKECHART_TASK=')) ?? '';
    expect(processesWith(tag).length).toBeGreaterThanOrEqual(3);
    await kill(host);
    await Promise.all([gone(pid), gone(daemon)]);
    await vi.waitFor(() => expect(processesWith(tag)).toEqual([]));
  });

  it('ends also while it waits for a job', async () => {
    const { host } = await startHost(realWorker, { home }, 2);
    const workers = (await readdir(join(home, 'processes'))).filter((name) => name.endsWith('.json'));
    const pids = await Promise.all(
      workers.map(
        async (name) =>
          (JSON.parse(await readFile(join(home, 'processes', name), 'utf8')) as { root?: { pid: number } }).root?.pid ??
          0,
      ),
    );
    expect(pids.filter(isRunning)).toHaveLength(2);
    await kill(host);
    await Promise.all(pids.map(gone));
  });
});
