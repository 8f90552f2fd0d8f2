import { describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import type { BackgroundTaskRunner, BackgroundTaskStart } from '../../../src/actors/task/task-runner.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import { setUp } from '../../support/task-setup.ts';
import { agentRequest, processRequest, scheduledRequest } from '../../support/task-requests.ts';

describe('a spawned task', () => {
  it('is running at once when a slot is free, and lives created, started, completed, closed', async () => {
    const { manager, runner, told } = setUp();
    const state = await manager.spawn(processRequest({ command: 'npm test' }));
    expect(state).toMatchObject({
      id: 'task_1',
      status: 'running',
      commandPreview: 'npm test',
      unread: false,
      startedAt: '2026-01-01T00:00:00.000Z',
    });
    runner.of('task_1').resolve({ output: 'ok', exitCode: 0 });
    await expect(manager.wait('task_1')).resolves.toEqual({ taskId: 'task_1', output: 'ok', exitCode: 0 });
    await manager.close('task_1');
    expect(told()).toEqual(['created(queued)', 'started(running)', 'completed(completed)', 'closed']);
    expect(manager.get('task_1')).toBeUndefined();
  });

  it('shows what the runner knows about itself right after it starts', async () => {
    const runner = createManualRunner('process', { pid: 42, logPath: 'task_1.log', transcriptPath: 'task_1.jsonl' });
    const { manager, told } = setUp({ runners: { process: runner } });
    expect(await manager.spawn(processRequest())).toMatchObject({ status: 'running', pid: 42, logPath: 'task_1.log' });
    expect(told()).toEqual(['created(queued)', 'started(running)', 'updated(running)']);
  });

  it('fills in what may be left out and keeps nothing that the caller can still change', async () => {
    const { manager, runner } = setUp();
    const metadata = { origin: { kind: 'command' } };
    await manager.spawn({ kind: 'process', label: 'tests', command: 'npm test', cwd: '/', metadata });
    metadata.origin.kind = 'changed';
    const { request } = runner.of('task_1').start;
    expect(request).toMatchObject({
      mode: 'background',
      parentSessionId: 'local',
      depth: 0,
      priority: 0,
      metadata: { origin: { kind: 'command' } },
    });
    expect(() => Object.assign(request.metadata ?? {}, { more: 1 })).toThrow(TypeError);
    expect(() => Object.assign(request, { cwd: '/tmp' })).toThrow(TypeError);
    expect(manager.get('task_1')?.metadata).toEqual({ origin: { kind: 'command' } });
  });

  it('previews no more than 120 characters and never half a character', async () => {
    const { manager } = setUp();
    const state = await manager.spawn(agentRequest({ prompt: `${'x'.repeat(119)}😀 and so on` }));
    expect(state.promptPreview).toBe('x'.repeat(119));
  });

  it('fails when its runner throws at the start, and when its runner is no runner', async () => {
    const broken = {
      kind: 'process',
      start: () => {
        throw new TypeError('boom');
      },
    } as const;
    const wrong = { kind: 'agent', start: () => ({ nothing: true }) } as const;
    const { manager, told } = setUp({ runners: { process: broken, agent: wrong as never } });
    expect(await manager.spawn(processRequest())).toMatchObject({
      status: 'failed',
      error: { category: 'runner', message: 'boom', recoverable: true },
    });
    expect(await manager.spawn(agentRequest())).toMatchObject({
      status: 'failed',
      error: { code: 'TASK_RUNNER_HANDLE' },
    });
    expect(told().slice(0, 3)).toEqual(['created(queued)', 'started(running)', 'failed(failed)']);
    await expect(manager.wait('task_1')).rejects.toMatchObject({ name: 'BackgroundTaskError', category: 'runner' });
  });

  it('keeps the category of the error its runner reports, and shows no vendor object', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    const waiting = manager.wait('task_1');
    const vendor = Object.assign(new Error('429'), { response: { secret: 'key' }, category: 'provider' });
    runner.of('task_1').reject(vendor);
    await expect(waiting).rejects.toMatchObject({ category: 'runner', cause: vendor });
    expect(JSON.stringify(manager.get('task_1'))).not.toContain('secret');
  });

  it('fails when its runner resolves with something that is no result', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    runner.of('task_1').resolve({ output: 7 as never });
    await expect(manager.wait('task_1')).rejects.toMatchObject({ code: 'TASK_RUNNER_RESULT' });
  });

  it('may get its handle later: it is running meanwhile and can be stopped', async () => {
    let hand!: (value: never) => void;
    const slow = {
      kind: 'process',
      start: () =>
        new Promise<never>((resolve) => {
          hand = resolve;
        }),
    } as const;
    const { manager } = setUp({ runners: { process: slow } });
    expect(await manager.spawn(processRequest())).toMatchObject({ status: 'running' });
    const cancelled = manager.cancel('task_1', 'changed my mind');
    const reasons: unknown[] = [];
    hand({
      taskId: 'task_1',
      result: new Promise(() => undefined),
      cancel: (reason: string) => void reasons.push(reason),
    } as never);
    await cancelled;
    expect(reasons).toEqual(['changed my mind']);
    expect(manager.get('task_1')?.status).toBe('cancelled');
  });
});

describe('bad input', () => {
  it.each([
    ['no label', { ...processRequest(), label: '' }, /label/],
    ['an unknown kind', { ...processRequest(), kind: 'magic' }, /kind/],
    ['a misspelt field', { ...processRequest(), timeout: 5 }, /timeout/],
    ['a negative timeout', processRequest({ timeoutMs: -1 }), /timeoutMs/],
    ['a timeout that is no number', processRequest({ timeoutMs: Number.NaN }), /timeoutMs/],
    ['a depth beyond the limit', processRequest({ depth: 2 }), /depth 2 is beyond the limit of 1/],
    ['a schedule with nothing to do', { ...scheduledRequest(), command: undefined }, /exactly one of them/],
    ['metadata that is no data', processRequest({ metadata: { call: () => undefined } }), /plain data/],
    ['nothing at all', undefined, /expected object/],
  ])('is refused before anything is recorded: %s', async (_name, request, message) => {
    const { manager, events } = setUp();
    await expect(manager.spawn(request as never)).rejects.toMatchObject({
      category: 'validation',
      message: expect.stringMatching(message) as string,
    });
    expect(manager.list()).toEqual([]);
    expect(events).toEqual([]);
  });

  it('is refused when nobody can run that kind, or the id is taken or unfit', async () => {
    await expect(setUp({ runners: {} }).manager.spawn(processRequest())).rejects.toMatchObject({
      code: 'TASK_NO_RUNNER',
    });
    const { manager } = setUp({ idFactory: () => 'same' });
    await manager.spawn(processRequest());
    await expect(manager.spawn(processRequest())).rejects.toMatchObject({
      code: 'TASK_ID_TAKEN',
      category: 'validation',
    });
    expect(manager.list()).toHaveLength(1);
    await expect(setUp({ idFactory: () => '../up' }).manager.spawn(processRequest())).rejects.toMatchObject({
      code: 'TASK_ID_INVALID',
    });
  });

  it.each([
    { maxConcurrent: 0 },
    { maxConcurrent: Number.NaN },
    { maxPending: -1 },
    { agentIdleTimeoutMs: Number.NaN },
    { cancelDeadlineMs: -5 },
    { repetitionThreshold: 1.5 },
  ])('is refused as an option: %j', (options) => {
    expect(() => new BackgroundTaskManager(options)).toThrow(
      expect.objectContaining({ category: 'validation', code: 'TASK_OPTIONS_INVALID' }) as Error,
    );
  });

  const runner = createManualRunner('process');
  it.each([
    ['null', null, /runners is null/],
    ['a function', () => runner, /runners is \(\) => runner/],
    ['a misspelt kind', { proces: runner }, /names the kind "proces"/],
    ['a map', new Map([['process', runner]]), /runners is an? (?:object|Map)/],
    ['a date', new Date(0), /runners is/],
    ['a runner under the kind of another', { agent: runner }, /runners\.agent is a runner for tasks of kind "process"/],
    ['a runner without start', { process: { kind: 'process' } }, /runners\.process has no start function/],
    ['no runner', { process: null }, /runners\.process is null/],
    ['a list with a hole', [runner, undefined], /runners\[1\] is undefined/],
    ['a list of factories', [() => runner], /runners\[0\] is \(\) => runner/],
    ['a list with one of no kind', [{ start: runner.start }], /runners\[0\] has the kind undefined/],
    ['a list with two of a kind', [runner, createManualRunner('process')], /two for tasks of kind "process"/],
  ])('is refused as runners when the manager is made: %s', (_name, runners, message) => {
    const refused = {
      category: 'validation',
      code: 'TASK_RUNNERS_INVALID',
      message: expect.stringMatching(message) as string,
    };
    expect(() => new BackgroundTaskManager({ runners: runners as never })).toThrow(
      expect.objectContaining(refused) as Error,
    );
  });

  it('names the task that does not exist', async () => {
    const { manager } = setUp();
    const missing = { category: 'validation', code: 'TASK_NOT_FOUND' };
    await expect(manager.wait('task_9')).rejects.toMatchObject(missing);
    await expect(manager.cancel('task_9')).rejects.toMatchObject(missing);
    await expect(manager.close('task_9')).rejects.toMatchObject(missing);
    await expect(manager.readLog('task_9')).rejects.toMatchObject(missing);
    await expect(manager.send('task_9', { prompt: 'hi' })).rejects.toMatchObject(missing);
    expect(manager.get('task_9')).toBeUndefined();
  });
});

describe('runners', () => {
  it('may be a list: each says which kind it runs', async () => {
    const { manager, agents } = setUp();
    await manager.shutdown();
    const listed = new BackgroundTaskManager({ runners: [agents, createManualRunner('scheduled')] });
    expect(await listed.spawn(agentRequest())).toMatchObject({ kind: 'agent', status: 'running' });
    await expect(listed.spawn(processRequest())).rejects.toMatchObject({
      code: 'TASK_NO_RUNNER',
      message: 'no runner for tasks of kind "process"; there are runners for: agent, scheduled',
    });
    await listed.shutdown();
  });

  it('refuse by their check what they can never carry out, and nothing is recorded', async () => {
    const check = (): never => {
      throw new BackgroundTaskError('validation', 'not this one', { code: 'NOT_THIS' });
    };
    const { manager, events } = setUp({ runners: [{ ...createManualRunner('process'), check }] });
    await expect(manager.spawn(processRequest())).rejects.toMatchObject({ code: 'NOT_THIS' });
    expect([manager.list(), events]).toEqual([[], []]);
  });
});

describe('permission', () => {
  const ask = {
    type: 'background_task_permission_request',
    requestId: 'r1',
    toolName: 'shell',
    toolArgs: { command: 'rm' },
  } as const;

  it('is waited for, and the answer brings the task back to work', async () => {
    const { manager, agents, told } = setUp();
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    expect(manager.get('task_1')?.status).toBe('waiting_permission');
    await manager.send('task_1', { permission: { requestId: 'r1', allowed: true } });
    expect(manager.get('task_1')?.status).toBe('running');
    expect(agents.of('task_1').inputs).toEqual([{ permission: { requestId: 'r1', allowed: true } }]);
    expect(told()).toEqual([
      'created(queued)',
      'started(running)',
      'updated(waiting_permission)',
      'permission_request',
      'updated(running)',
    ]);
  });

  it('counts once, and a stale answer is refused', async () => {
    const { manager, agents } = setUp();
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    agents.of('task_1').say({ ...ask, requestId: 'r2' });
    await manager.send('task_1', { permission: { requestId: 'r1', allowed: true } });
    expect(manager.get('task_1')?.status).toBe('waiting_permission');
    await expect(manager.send('task_1', { permission: { requestId: 'r1', allowed: true } })).rejects.toMatchObject({
      code: 'TASK_PERMISSION_STALE',
    });
    await manager.send('task_1', { permission: { requestId: 'r2', allowed: true } });
    expect(manager.get('task_1')?.status).toBe('running');
  });

  it('denied stops the work and fails the task', async () => {
    const { manager, agents } = setUp();
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    await manager.send('task_1', { permission: { requestId: 'r1', allowed: false } });
    expect(agents.of('task_1').isCancelled).toBe(true);
    expect(manager.get('task_1')).toMatchObject({ status: 'failed', error: { category: 'permission' } });
    expect(agents.of('task_1').start.signal.reason).toMatchObject({ code: 'TASK_PERMISSION_DENIED' });
  });

  it('denied goes to a runner that takes denials, and the task goes on', async () => {
    const agent = createManualRunner('agent', { takesDenials: true });
    const { manager } = setUp({ runners: { agent } });
    await manager.spawn(agentRequest());
    agent.of('task_1').say(ask);
    const denial = { permission: { requestId: 'r1', allowed: false } };
    await manager.send('task_1', denial);
    expect([agent.of('task_1').inputs, agent.of('task_1').isCancelled]).toEqual([[denial], false]);
    expect(manager.get('task_1')?.status).toBe('running');
    await expect(manager.send('task_1', denial)).rejects.toMatchObject({ code: 'TASK_PERMISSION_STALE' });
  });

  it('is implied by other input, and by a result that comes without it', async () => {
    const { manager, agents } = setUp();
    await manager.spawn(agentRequest());
    await manager.spawn(agentRequest());
    for (const id of ['task_1', 'task_2']) agents.of(id).say(ask);
    await manager.send('task_1', { prompt: 'go on' });
    expect(manager.get('task_1')?.status).toBe('running');
    agents.of('task_2').resolve({ output: 'done anyway' });
    await expect(manager.wait('task_2')).resolves.toMatchObject({ output: 'done anyway' });
  });

  it('is never lost as a failure either, asleep or waiting', async () => {
    const { manager, agents, schedules, told } = setUp();
    await manager.spawn(agentRequest());
    await manager.spawn(scheduledRequest());
    agents.of('task_1').say(ask);
    schedules.of('task_2').say({ type: 'background_task_sleeping' });
    agents.of('task_1').reject(new Error('the model is gone'));
    schedules.of('task_2').resolve({ output: 'fired 3 times' });
    await expect(manager.wait('task_1')).rejects.toThrow('the model is gone');
    await expect(manager.wait('task_2')).resolves.toMatchObject({ output: 'fired 3 times' });
    expect(told().slice(-4)).toEqual([
      'updated(running)',
      'failed(failed)',
      'updated(running)',
      'completed(completed)',
    ]);
  });
});

describe('input', () => {
  it('reaches the runner, and is refused with a reason where it cannot', async () => {
    const { manager, runner } = setUp({ maxConcurrent: 1 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    await manager.send('task_1', { stdin: 'yes\n', end: false });
    expect(runner.of('task_1').inputs).toEqual([{ stdin: 'yes\n', end: false }]);
    await expect(manager.send('task_2', { stdin: 'x' })).rejects.toMatchObject({ code: 'TASK_NOT_STARTED' });
    await expect(manager.send('task_1', {})).rejects.toMatchObject({ code: 'TASK_INPUT_INVALID' });
    runner.of('task_1').resolve({});
    await settled();
    await expect(manager.send('task_1', { stdin: 'x' })).rejects.toMatchObject({
      category: 'runner',
      code: 'TASK_ENDED',
    });
  });

  it('is refused by a runner that takes none, and operations by one that has none', async () => {
    const { manager } = setUp({ runners: { process: createManualRunner('process', { send: undefined as never }) } });
    await manager.spawn(processRequest());
    await expect(manager.send('task_1', { stdin: 'x' })).rejects.toMatchObject({ code: 'TASK_INPUT_UNSUPPORTED' });
    await expect(manager.pause('task_1')).rejects.toMatchObject({ code: 'TASK_OPERATION_UNSUPPORTED' });
    await expect(manager.readLog('task_1')).rejects.toMatchObject({ code: 'TASK_LOG_UNSUPPORTED' });
  });
});

describe('records', () => {
  it('stay until they are closed, and a living one cannot be closed', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    await expect(manager.close('task_1')).rejects.toMatchObject({ code: 'TASK_NOT_ENDED' });
    runner.of('task_1').resolve({ output: 'x' });
    await settled();
    expect(manager.list()).toHaveLength(1);
    await manager.close('task_1');
    expect(manager.list()).toEqual([]);
  });

  it('are unread until the outcome or the log is read', async () => {
    const readLog = () => ({ taskId: 'x', lines: ['[stdout] hi'] });
    const runner = createManualRunner('process', { readLog });
    const { manager } = setUp({ runners: { process: runner } });
    for (let index = 0; index < 3; index += 1) await manager.spawn(processRequest());
    const waited = manager.wait('task_1');
    for (const work of runner.works) work.resolve({});
    await waited;
    expect(manager.list().map((task) => task.unread)).toEqual([false, true, true]);
    await manager.wait('task_2');
    expect((await manager.readLog('task_3')).lines).toEqual(['[stdout] hi']);
    expect(manager.list().map((task) => task.unread)).toEqual([false, false, false]);
  });

  it('are listed oldest first and can be filtered', async () => {
    const { manager, runner } = setUp({ maxConcurrent: 2 });
    await manager.spawn(processRequest({ parentSessionId: 'a' }));
    await manager.spawn(agentRequest({ parentSessionId: 'a', mode: 'foreground' }));
    await manager.spawn(processRequest({ parentSessionId: 'b', parentTaskId: 'task_1' }));
    runner.of('task_1').resolve({});
    await settled();
    const ids = (filter: Parameters<typeof manager.list>[0]): string[] => manager.list(filter).map((task) => task.id);
    expect(ids({})).toEqual(['task_1', 'task_2', 'task_3']);
    expect(ids({ parentSessionId: 'a' })).toEqual(['task_1', 'task_2']);
    expect(ids({ status: ['completed', 'queued'] })).toEqual(['task_1']);
    expect(ids({ kind: 'agent', mode: 'foreground' })).toEqual(['task_2']);
    expect(ids({ parentTaskId: 'task_1' })).toEqual(['task_3']);
  });

  it('are values: nobody outside can change the manager through them, and they survive JSON', async () => {
    const { manager, events } = setUp();
    const state = await manager.spawn(processRequest());
    expect(() => Object.assign(state, { status: 'failed' })).toThrow(TypeError);
    for (const event of events) {
      expect(() => Object.assign(event, { type: 'x' })).toThrow(TypeError);
      if ('task' in event) expect(() => Object.assign(event.task, { status: 'failed' })).toThrow(TypeError);
    }
    expect(JSON.parse(JSON.stringify(state))).toMatchObject({ id: 'task_1', status: 'running' });
    expect(structuredClone(state)).toEqual(state);
  });
});

describe('children of a runner', () => {
  it('are tasks with it as parent, in the same session', async () => {
    const { manager, schedules, runner } = setUp();
    await manager.spawn(scheduledRequest({ parentSessionId: 'weekly' }));
    const { children } = schedules.of('task_1').start;
    const { parentSessionId: _, ...request } = processRequest();
    const child = await children.spawn(request);
    expect(child).toMatchObject({ parentTaskId: 'task_1', parentSessionId: 'weekly', status: 'running' });
    runner.of(child.id).resolve({ output: 'ran' });
    await expect(children.wait(child.id)).resolves.toMatchObject({ output: 'ran' });
  });
});

/** Work that is over as soon as it has begun. */

const instant = {
  kind: 'process',
  start: ({ taskId }) => ({ taskId, result: Promise.resolve({ taskId, output: '' }), cancel: () => undefined }),
} as const satisfies BackgroundTaskRunner;

describe('what a short task costs', () => {
  it('is four checks the clock: when it is spawned, started, taken on by its runner, and over', async () => {
    let checks = 0;
    const { manager } = setUp({ now: () => (checks += 1), runners: { process: instant } });
    await Promise.all(Array.from({ length: 10 }, async () => manager.wait((await manager.spawn(processRequest())).id)));
    expect(checks).toBe(40);
  });

  it('is three events and three views, and none of them is kept when it has ended', async () => {
    const { manager, events } = setUp({ runners: { process: instant } });
    const { id } = await manager.spawn(processRequest());
    await manager.wait(id);
    expect(events.map(({ type }) => type)).toEqual([
      'background_task_created',
      'background_task_started',
      'background_task_completed',
    ]);
    const told = events.at(-1);
    expect(manager.get(id)).not.toBe(told !== undefined && 'task' in told ? told.task : undefined);
    expect(manager.get(id)).toMatchObject({ id, status: 'completed', unread: false });
  });

  it('changes nothing of what the runner was given when the record releases it', async () => {
    const starts: BackgroundTaskStart[] = [];
    const noting: BackgroundTaskRunner = {
      kind: 'process',
      start: (start) => {
        starts.push(start);
        return instant.start(start);
      },
    };
    const { manager } = setUp({ runners: [noting] as never });
    const { id } = await manager.spawn(processRequest({ env: { LARGE: 'x' }, stdin: 'much' }));
    await manager.wait(id);
    // What the runner was given stays what it was.
    expect(starts[0]?.request).toMatchObject({ env: { LARGE: 'x' }, stdin: 'much' });
    expect(manager.get(id)).toMatchObject({ commandPreview: processRequest().command, status: 'completed' });
  });
});
