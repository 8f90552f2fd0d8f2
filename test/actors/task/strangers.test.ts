/** Listeners, runners and callers that do the unexpected at the worst moment. */
import { describe, expect, it, vi } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import { setUp } from '../../support/task-setup.ts';
import { agentRequest, processRequest, scheduledRequest } from '../../support/task-requests.ts';

const MOMENTS: BackgroundTaskEvent['type'][] = [
  'background_task_created',
  'background_task_started',
  'background_task_updated',
  'background_task_text_delta',
  'background_task_tool_start',
  'background_task_completed',
];

/** A life that passes every one of those moments. */
async function live({ manager, agents }: ReturnType<typeof setUp>): Promise<void> {
  const { id } = await manager.spawn(agentRequest());
  const work = agents.works[0];
  work?.say({ type: 'background_task_tool_start', toolName: 'read' });
  work?.say({ type: 'background_task_text_delta', delta: 'hi' });
  await settled();
  work?.resolve({ output: 'done' });
  await settled();
  if (manager.get(id)?.status === 'running') throw new Error('still running');
}

describe.each(MOMENTS)('a listener that hears %s', (moment) => {
  it('can shut the manager down: every task ends and nothing starts any more', async () => {
    const setup = setUp({ maxConcurrent: 1 });
    let done: Promise<void> | undefined;
    setup.manager.subscribe((event) => {
      if (event.type === moment) done ??= setup.manager.shutdown('just then');
    });
    await live(setup);
    await done;
    expect(setup.manager.list({ status: ['queued', 'running'] })).toEqual([]);
    expect(setup.manager.supervisor.getSnapshot()).toMatchObject({ value: 'stopped' });
    const started = setup.agents.works.length;
    if (moment === 'background_task_created' || moment === 'background_task_started') expect(started).toBe(0);
  });

  it('can cancel the task: it ends, and work that had not begun never begins', async () => {
    const setup = setUp();
    let done: Promise<void> | undefined;
    setup.manager.subscribe((event) => {
      if (event.type === moment) done ??= setup.manager.cancel('task_1', 'veto');
    });
    await live(setup);
    await done;
    expect(setup.manager.get('task_1')?.status).toBe(
      moment === 'background_task_completed' ? 'completed' : 'cancelled',
    );
    if (moment === 'background_task_created' || moment === 'background_task_started')
      expect(setup.agents.works).toEqual([]);
  });

  it('can spawn more: what it spawns lives, and no limit is passed', async () => {
    const setup = setUp({ maxConcurrent: 1, maxPending: 2 });
    const spawned: Promise<unknown>[] = [];
    setup.manager.subscribe((event) => {
      if (event.type === moment && spawned.length === 0)
        for (let index = 0; index < 10; index += 1)
          spawned.push(setup.manager.spawn(processRequest()).catch((error: unknown) => error));
    });
    await live(setup);
    const refused = (await Promise.all(spawned)).filter(
      (answer) => (answer as { code?: string }).code === 'TASK_QUEUE_FULL',
    );
    expect(refused.length).toBeGreaterThanOrEqual(7);
    expect(setup.manager.list({ kind: 'process' }).length).toBe(10 - refused.length);
  });
});

describe('a permission', () => {
  const ask = {
    type: 'background_task_permission_request',
    requestId: 'q',
    toolName: 'shell',
    toolArgs: { command: 'ls' },
  } as const;

  it('asked for while asleep wakes the task, and its denial ends it', async () => {
    const { manager, schedules } = setUp();
    await manager.spawn(scheduledRequest());
    schedules.of('task_1').say({ type: 'background_task_sleeping' });
    schedules.of('task_1').say(ask);
    expect(manager.get('task_1')?.status).toBe('waiting_permission');
    await manager.send('task_1', { permission: { requestId: 'q', allowed: false } });
    expect(manager.get('task_1')).toMatchObject({ status: 'failed', error: { category: 'permission' } });
  });

  it('that could not be delivered is still open', async () => {
    const failing = vi.fn().mockRejectedValueOnce(new Error('ipc closed')).mockResolvedValue(undefined);
    const agents = createManualRunner('agent', { send: failing });
    const { manager } = setUp({ runners: { agent: agents } });
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    const answer = { permission: { requestId: 'q', allowed: true } };
    await expect(manager.send('task_1', answer)).rejects.toThrow('ipc closed');
    expect(manager.get('task_1')?.status).toBe('waiting_permission');
    await manager.send('task_1', answer);
    expect(manager.get('task_1')?.status).toBe('running');
  });

  it('counts once, also when it is answered twice at the same time', async () => {
    let deliver!: () => void;
    const agents = createManualRunner('agent', {
      send: () =>
        new Promise<void>((resolve) => {
          deliver = resolve;
        }),
    });
    const { manager } = setUp({ runners: { agent: agents } });
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    const first = manager.send('task_1', { permission: { requestId: 'q', allowed: true } });
    await expect(manager.send('task_1', { permission: { requestId: 'q', allowed: false } })).rejects.toMatchObject({
      code: 'TASK_PERMISSION_STALE',
    });
    deliver();
    await first;
    expect(manager.get('task_1')?.status).toBe('running');
  });

  it('is refused where nobody can be told, instead of being taken for told', async () => {
    const agents = createManualRunner('agent', { send: undefined as never });
    const { manager } = setUp({ runners: { agent: agents } });
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    await expect(manager.send('task_1', { permission: { requestId: 'q', allowed: true } })).rejects.toMatchObject({
      code: 'TASK_INPUT_UNSUPPORTED',
    });
    expect(manager.get('task_1')?.status).toBe('waiting_permission');
  });

  it('can still be denied after a prompt brought the task back to work', async () => {
    const { manager, agents } = setUp();
    await manager.spawn(agentRequest());
    agents.of('task_1').say(ask);
    await manager.send('task_1', { prompt: 'wait, what is that?' });
    expect(manager.get('task_1')?.status).toBe('running');
    await manager.send('task_1', { permission: { requestId: 'q', allowed: false } });
    expect(manager.get('task_1')).toMatchObject({ status: 'failed', error: { category: 'permission' } });
  });

  it('shows everybody what was asked, whoever writes into what they heard', async () => {
    const { manager, agents, events } = setUp({ onListenerError: () => undefined });
    const toolArgs = { command: 'ls' };
    manager.subscribe((event) => {
      if (event.type === 'background_task_permission_request')
        Object.assign(event.toolArgs as object, { command: 'rm -rf /' });
    });
    await manager.spawn(agentRequest());
    agents.of('task_1').say({ ...ask, toolArgs });
    expect(events.at(-1)).toMatchObject({ toolArgs: { command: 'ls' } });
    expect(toolArgs).toEqual({ command: 'ls' });
  });
});

describe('a runner', () => {
  it('that fails to start answers those who already sent input', async () => {
    let fail!: (error: Error) => void;
    const slow = {
      kind: 'process',
      start: () =>
        new Promise<never>((_resolve, reject) => {
          fail = reject;
        }),
    } as const;
    const { manager } = setUp({ runners: { process: slow } });
    await manager.spawn(processRequest());
    const sent = manager.send('task_1', { stdin: 'x' });
    fail(new Error('no such folder'));
    await expect(sent).rejects.toThrow('no such folder');
  });

  it('that is cancelled while it starts answers them too', async () => {
    const clock = createSimulatedClock();
    const slow = { kind: 'process', start: () => new Promise<never>(() => undefined) } as const;
    const { manager } = setUp({ clock, runners: { process: slow }, cancelDeadlineMs: 10 });
    await manager.spawn(processRequest());
    const sent = manager.send('task_1', { stdin: 'x' }).catch((error: unknown) => error);
    const cancelled = manager.cancel('task_1');
    await clock.advance(10);
    await cancelled;
    expect(await sent).toMatchObject({ code: 'TASK_CANCELLED' });
  });

  it('whose result settles has nothing left, even when its cancel never answers', async () => {
    const { manager, runner, clock } = setUp({ maxConcurrent: 1, cancelDeadlineMs: 100 });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    runner.of('task_1').onCancel = () => {
      runner.of('task_1').resolve({ output: 'gone' });
      return new Promise(() => undefined);
    };
    const cancelled = manager.cancel('task_1');
    await clock.advance(100);
    await cancelled;
    expect(manager.get('task_1')).toMatchObject({
      status: 'cancelled',
      error: { message: 'Background task cancelled: cancelled by the caller' },
    });
    expect(manager.get('task_2')?.status).toBe('running');
  });

  it('that hands over half a handle has what runs behind it cancelled', async () => {
    const cancel = vi.fn();
    const { manager } = setUp({ runners: { process: { kind: 'process', start: () => ({ cancel }) as never } } });
    expect(await manager.spawn(processRequest())).toMatchObject({
      status: 'failed',
      error: { code: 'TASK_RUNNER_HANDLE' },
    });
    await settled();
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('keeps its own objects: results and events are copies', async () => {
    const { manager, runner, events } = setUp();
    await manager.spawn(processRequest());
    const metadata = { list: [1] };
    runner.of('task_1').start.emit({ type: 'background_task_text_delta', taskId: 'another', delta: 'x' });
    runner.of('task_1').resolve({ output: '', metadata });
    const result = await manager.wait('task_1');
    metadata.list.push(2);
    expect(result.metadata).toEqual({ list: [1] });
    expect(() => (result.metadata as { list: number[] }).list.push(3)).toThrow(TypeError);
    expect(events).toContainEqual({ type: 'background_task_text_delta', taskId: 'task_1', delta: 'x' });
  });

  it('may put into its result what is no data, and loses only that', async () => {
    const { manager, runner } = setUp();
    await manager.spawn(processRequest());
    runner.of('task_1').resolve({ output: 'kept', metadata: { call: () => undefined } });
    await expect(manager.wait('task_1')).resolves.toMatchObject({
      output: 'kept',
      metadata: { notPlainData: expect.any(String) as string },
    });
  });

  it('that starts tasks of its own meets the depth limit', async () => {
    const { manager, agents } = setUp({ maxDepth: 1 });
    await manager.spawn(agentRequest({ depth: 1 }));
    const { depth: _, ...request } = agentRequest();
    await expect(agents.of('task_1').start.children.spawn(request)).rejects.toMatchObject({ code: 'TASK_TOO_DEEP' });
  });
});

describe('a caller', () => {
  it('reads an empty log before there is one', async () => {
    const { manager } = setUp({
      maxConcurrent: 1,
      runners: { process: { kind: 'process', start: () => new Promise<never>(() => undefined) } },
    });
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    for (const id of ['task_1', 'task_2'])
      await expect(manager.readLog(id)).resolves.toEqual({ taskId: id, lines: [] });
    await manager.cancel('task_2');
    await expect(manager.readLog('task_2')).resolves.toMatchObject({ lines: [] });
  });

  it('hears that a queued schedule cannot be paused yet, and waits for one that is starting', async () => {
    let hand!: (handle: never) => void;
    const slow = {
      kind: 'scheduled',
      start: () =>
        new Promise<never>((resolve) => {
          hand = resolve;
        }),
    } as const;
    const { manager } = setUp({ maxConcurrent: 1, runners: { scheduled: slow } });
    await manager.spawn(scheduledRequest());
    await manager.spawn(scheduledRequest());
    await expect(manager.pause('task_2')).rejects.toMatchObject({ code: 'TASK_NOT_STARTED' });
    const pause = vi.fn();
    const paused = manager.pause('task_1');
    hand({ taskId: 'task_1', result: new Promise(() => undefined), cancel: () => undefined, pause } as never);
    await paused;
    expect(pause).toHaveBeenCalledTimes(1);
  });

  it('may give any number as a log cursor, and nothing else', async () => {
    const readLog = vi.fn(() => ({ taskId: '', lines: [] }));
    const { manager } = setUp({ runners: { process: createManualRunner('process', { readLog }) } });
    await manager.spawn(processRequest());
    for (const offset of [Infinity, Number.NaN, -1, 0.5]) await manager.readLog('task_1', { offset });
    expect(readLog).toHaveBeenCalledTimes(4);
    await expect(manager.readLog('task_1', { offset: '1' } as never)).rejects.toMatchObject({
      code: 'TASK_LOG_CURSOR',
    });
  });

  it.each([
    { types: new Set(['background_task_created']) },
    { types: ['created'] },
    { taskID: 'task_1' },
    { kind: 'magic' },
  ])('is told when an event filter makes no sense: %j', (filter) => {
    expect(() => setUp().manager.events$(filter as never)).toThrow(
      expect.objectContaining({ code: 'TASK_EVENT_FILTER_INVALID' }) as Error,
    );
  });

  it('is told when an option is misspelt', () => {
    expect(() => new BackgroundTaskManager({ maxConcurent: 1 } as never)).toThrow(/maxConcurent/);
  });

  it('may subscribe and leave twenty thousand times', async () => {
    const { manager } = setUp();
    const leave = Array.from({ length: 20_000 }, () => manager.subscribe(() => undefined));
    const streams = Array.from({ length: 20_000 }, () => manager.events$({ kind: 'process' }).subscribe());
    for (const stop of leave) stop();
    for (const stream of streams) stream.unsubscribe();
    expect(await manager.spawn(processRequest())).toMatchObject({ status: 'running' });
  });
});

describe('the idle watchdog', () => {
  it('forgets what one tool was granted when the next one runs', async () => {
    const { manager, agents, clock } = setUp();
    await manager.spawn(agentRequest({ idleTimeoutMs: 1_000 }));
    const work = agents.of('task_1');
    work.say({ type: 'background_task_tool_start', toolName: 'build', toolTimeoutMs: 0 });
    work.say({ type: 'background_task_tool_end', toolName: 'build', success: true });
    work.say({ type: 'background_task_tool_start', toolName: 'read', toolTimeoutMs: Number.NaN });
    await clock.advance(1_000);
    expect(manager.get('task_1')?.timeoutReason).toBe('idle');
  });
});
