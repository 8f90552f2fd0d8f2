import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { createCronerPlan, createNodeRuntime, createScheduledTaskRunner } from '../../src/node.ts';
import type { NodeRuntimeOptions } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import { codeOf } from '../contracts/event-store.contract.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let home: TemporaryHome;
const opened: Runtime[] = [];
const open = async (options: NodeRuntimeOptions = {}): Promise<Runtime> => {
  const runtime = await createNodeRuntime({ home: home.path, ...options });
  opened.push(runtime);
  return runtime;
};
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.shutdown()));
  await home.remove();
});

async function play(runtime: Runtime, steps: readonly object[]): Promise<string> {
  await runtime.agents.create({
    agentId: 'player',
    source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
  });
  await writeFile(join(home.path, 'agents/player/play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  const { sessionId } = await runtime.sessions.create({ agentId: 'player' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return sessionId;
}

describe('a runtime over a home directory', () => {
  it('takes one message through the whole setup: a real command, a real log', async () => {
    const runtime = await open();
    const id = await play(runtime, [
      {
        text: 'Checking.',
        toolCalls: [
          { name: 'shell_run', input: { command: 'echo "hello $((20 + 3))" > made.txt; cat made.txt; exit 7' } },
        ],
      },
      { expect: { lastToolResultIncludes: ['hello 23', 'exitCode: 7'] }, text: 'Seen.' },
    ]);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Seen.', modelSteps: 2 });
    expect(await readFile(join(home.path, 'agents/player/sessions', id, 'workspace/made.txt'), 'utf8')).toBe(
      'hello 23\n',
    );
    const view = JSON.parse(await readFile(join(home.path, 'agents/player/sessions', id, 'session.json'), 'utf8')) as {
      state: object;
    };
    expect(view.state).toMatchObject({ sessionId: id, status: 'idle', summary: 'Seen.' });
  });

  it('tells the model that a command took too long', async () => {
    const runtime = await open();
    const id = await play(runtime, [
      { toolCalls: [{ name: 'shell_run', input: { command: 'sleep 60', timeoutMs: 50 } }] },
      { text: 'Too slow.', expect: { lastToolResultIncludes: 'timedOut: true' } },
    ]);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Too slow.' });
  });

  it('goes on in another runtime where the first one stopped', async () => {
    const first = await open();
    const id = await play(first, [{ text: 'One.' }, { text: 'Two.' }]);
    await first.wake(id);
    await first.shutdown();
    const second = await open();
    expect(await second.sessions.list()).toMatchObject([{ sessionId: id, modelSteps: 1 }]);
    await second.sessions.send(id, { type: 'user.message', text: 'More' });
    expect(await second.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Two.', epoch: 2 });
  });

  it('shares its home: messages sent through one are read by a wake of another, which only one of them runs', async () => {
    const [one, other] = [await open(), await open()];
    const id = await play(one, [
      { toolCalls: [{ name: 'shell_run', input: { command: 'until [ -e go ]; do sleep 0.02; done' } }] },
      { text: 'Both seen.', expect: { lastUserMessageIncludes: 'From the other' } },
    ]);
    const followed: string[] = [];
    const following = (async () => {
      for await (const event of other.sessions.events(id, { follow: true })) {
        followed.push(event.type);
        if (event.type === 'agent.tool_use') break;
      }
    })();
    const waking = one.wake(id);
    await following;
    expect(await codeOf(other.wake(id))).toBe('WAKE_CONFLICT');
    await other.sessions.send(id, { type: 'user.message', text: 'From the other' }, { delivery: 'steer' });
    await writeFile(join(home.path, 'agents/player/sessions', id, 'workspace/go'), '');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Both seen.' });
    expect(await other.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('stops the command of a wake that it is shut down under', async () => {
    const runtime = await open();
    const id = await play(runtime, [{ toolCalls: [{ name: 'shell_run', input: { command: 'sleep 300' } }] }]);
    const waking = runtime.wake(id);
    for await (const event of runtime.sessions.events(id, { follow: true })) if (event.type === 'agent.tool_use') break;
    await runtime.shutdown('closing time');
    expect(await waking).toMatchObject({ outcome: 'aborted', status: 'idle' });
  });

  it('belongs to its owner only, and takes its place from the environment when none is given', async () => {
    process.env['WAKECHART_HOME'] = join(home.path, 'deep/er');
    try {
      const runtime = await createNodeRuntime();
      opened.push(runtime);
    } finally {
      delete process.env['WAKECHART_HOME'];
    }
    for (const name of ['deep/er', 'deep/er/agents', 'deep/er/processes', 'deep/er/task-logs'])
      expect((await stat(join(home.path, name))).mode & 0o777).toBe(0o700);
  });

  it.each<[string, unknown, RegExp]>([
    ['an empty home', { home: '' }, /runtime options is not valid: home/],
    ['a home that is a number', { home: 5 }, /home: expected string, received number/],
    ['another durability', { durability: 'paper' }, /durability/],
    ['no tasks at all', { maxConcurrentTasks: 0 }, /maxConcurrentTasks/],
    ['options that are none', 'here', /expected object, received string/],
    [
      'an option that is misspelt',
      { maxConcurent: 1 },
      /unknown options: maxConcurent; the known ones are home, store, durability, leaseMs, maxConcurrentTasks, .*onListenerError$/,
    ],
    ['a clock that is none', { clock: 'now' }, /clock: expected an object/],
    ['tools that are no list', { tools: {} }, /tools: expected array, received object/],
    ['a backend that is none', { backends: [null] }, /expected a backend with an id and a run function, got null/],
    ['a tool that is none', { tools: [null] }, /tools\[0\].*expected object, received null/],
    ['a listener that cannot listen', { onListenerError: true }, /onListenerError: expected a function/],
  ])('cannot be opened with %s', async (_what, options, pattern) => {
    await expect(createNodeRuntime(options as NodeRuntimeOptions)).rejects.toThrow(pattern);
  });

  it('can be opened with every option there is, and with each of them left undefined', async () => {
    const every = {
      durability: 'os',
      leaseMs: 10_000,
      maxConcurrentTasks: 2,
      reconcileOnStart: false,
      readsOnly: false,
      environment: 'host',
      backends: [],
      tools: [],
      agents: [],
      config: undefined,
      environments: {},
      humans: 'none',
      prices: {},
      commandEnvironment: {},
      onToolServerNews: () => undefined,
      runConfig: {},
      runLimits: {},
      subagents: {},
      telemetry: { take: () => undefined, close: async () => undefined },
      clock: createSystemClock(),
      inspect: () => undefined,
      onListenerError: () => undefined,
      onStoreNews: () => undefined,
    } satisfies Required<Omit<NodeRuntimeOptions, 'home' | 'store'>>;
    const undefinedOnes = Object.fromEntries(Object.keys(every).map((name) => [name, undefined]));
    for (const options of [every, undefinedOnes]) expect(await (await open(options)).sessions.list()).toEqual([]);
  });

  it('cannot be opened where a file is, and says so', async () => {
    await mkdir(join(home.path, 'x'));
    await writeFile(join(home.path, 'x/file'), '');
    expect(await codeOf(createNodeRuntime({ home: join(home.path, 'x/file') }))).toBe('STORAGE_FAILED');
  });

  it('makes schedules of its own for a manager of the caller, which needs no clock and no reader of expressions', async () => {
    await using tasks = new BackgroundTaskManager({ runners: [createScheduledTaskRunner()] });
    const request = {
      kind: 'scheduled',
      label: 'later',
      cronExpression: '0 0 1 1 *',
      command: 'true',
      cwd: home.path,
    } as const;
    expect(await tasks.spawn(request)).toMatchObject({ status: expect.stringMatching(/running|sleeping/) as string });
    expect(await codeOf(tasks.spawn({ ...request, cronExpression: 'often' }))).toBe('SCHEDULE_EXPRESSION');
    expect(createCronerPlan().read({ cronExpression: '@daily', timezone: 'UTC' }).next(0)).toBe(86_400_000);
  });

  it('is disposed of by leaving its scope, once', async () => {
    const runtime = await open();
    await runtime[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
    expect(await codeOf(runtime.sessions.list())).toBe('STORE_CLOSED');
  });
});
