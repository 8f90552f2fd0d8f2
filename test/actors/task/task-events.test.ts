import { filter, map, take, toArray, lastValueFrom } from 'rxjs';
import type { InspectionEvent } from 'xstate';
import { describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import type { BackgroundTaskManagerOptions } from '../../../src/actors/task/task-manager-options.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import { agentRequest, processRequest } from '../../support/task-requests.ts';
import { unhandledDuring } from '../../support/unhandled.ts';

function setUp(options: BackgroundTaskManagerOptions = {}) {
  const errors: { readonly message: string; readonly source: string }[] = [];
  const agents = createManualRunner('agent');
  const processes = createManualRunner('process');
  const manager = new BackgroundTaskManager({
    clock: createSimulatedClock(),
    runners: { agent: agents, process: processes },
    onListenerError: (error, source) => errors.push({ message: (error as Error).message, source }),
    ...options,
  });
  return { manager, agents, processes, errors };
}

/** A whole life with every kind of event in it. */
async function liveOn({ manager, agents }: ReturnType<typeof setUp>): Promise<void> {
  const { id } = await manager.spawn(agentRequest());
  const work = agents.of(id);
  work.say({ type: 'background_task_tool_start', toolName: 'read', firstArg: 'a.ts' });
  work.say({ type: 'background_task_tool_end', toolName: 'read', success: true });
  work.say({ type: 'background_task_text_delta', delta: 'hello' });
  work.say({ type: 'background_task_permission_request', requestId: 'r', toolName: 'shell', toolArgs: {} });
  await manager.send(id, { permission: { requestId: 'r', allowed: true } });
  work.resolve({ output: 'done' });
  await settled();
  await manager.close(id);
}

const LIFE = [
  'created',
  'started',
  'updated',
  'tool_start',
  'updated',
  'tool_end',
  'text_delta',
  'updated',
  'permission_request',
  'updated',
  'completed',
  'closed',
];
const short = (event: BackgroundTaskEvent): string => event.type.replace('background_task_', '');

describe('events', () => {
  it('reach the sink, every listener and every stream in the same order, tool events after their update', async () => {
    const sink: string[] = [];
    const context = setUp({ eventSink: (event) => sink.push(short(event)) });
    const listened: string[] = [];
    const streamed: string[] = [];
    context.manager.subscribe((event) => listened.push(short(event)));
    context.manager.events$().subscribe((event) => streamed.push(short(event)));
    await liveOn(context);
    expect(sink).toEqual(LIFE);
    expect(listened).toEqual(LIFE);
    expect(streamed).toEqual(LIFE);
  });

  it('come in the same order to everybody, also when a listener makes new ones happen', async () => {
    const { manager, processes } = setUp({ maxConcurrent: 1 });
    const first: string[] = [];
    const second: string[] = [];
    manager.subscribe((event) => {
      first.push(short(event));
      if (event.type === 'background_task_started' && event.task.id === 'task_1') void manager.spawn(processRequest());
    });
    manager.subscribe((event) => second.push(short(event)));
    await manager.spawn(processRequest());
    processes.of('task_1').resolve({});
    await settled();
    expect(first).toEqual(['created', 'started', 'created', 'completed', 'started']);
    expect(second).toEqual(first);
  });

  it('show what the task does and when it last did something', async () => {
    const { manager, agents } = setUp();
    await manager.spawn(agentRequest());
    expect(manager.get('task_1')?.lastActivityAt).toBeUndefined();
    agents.of('task_1').say({ type: 'background_task_tool_start', toolName: 'read', firstArg: 'a.ts' });
    expect(manager.get('task_1')).toMatchObject({
      currentAction: 'read(a.ts)',
      lastActivityAt: '2026-01-01T00:00:00.000Z',
    });
    agents.of('task_1').say({ type: 'background_task_tool_end', toolName: 'read', success: false, error: 'gone' });
    expect(manager.get('task_1')?.currentAction).toBeUndefined();
  });

  it('stop for a listener that unsubscribes, and one function may listen twice', async () => {
    const { manager } = setUp();
    let heard = 0;
    const listener = (): void => {
      heard += 1;
    };
    const stop = manager.subscribe(listener);
    manager.subscribe(listener);
    stop();
    stop();
    await manager.spawn(processRequest());
    expect(heard).toBe(2);
  });

  it('of a task that has ended are ignored', async () => {
    const { manager, agents } = setUp();
    await manager.spawn(agentRequest());
    agents.of('task_1').resolve({});
    await settled();
    const heard: unknown[] = [];
    manager.subscribe((event) => heard.push(event));
    agents.of('task_1').say({ type: 'background_task_text_delta', delta: 'late' });
    agents
      .of('task_1')
      .say({ type: 'background_task_permission_request', requestId: 'r', toolName: 't', toolArgs: {} });
    expect(heard).toEqual([]);
  });
});

describe('event streams', () => {
  it('of one task carry only that task and complete when it is closed', async () => {
    const { manager, processes } = setUp();
    const all = lastValueFrom(manager.events$({ taskId: 'task_2' }).pipe(map(short), toArray()));
    await manager.spawn(processRequest());
    await manager.spawn(processRequest());
    for (const work of processes.works) work.resolve({});
    await settled();
    await manager.close('task_2');
    await expect(all).resolves.toEqual(['created', 'started', 'completed', 'closed']);
  });

  it('can be filtered by session, parent, kind and type', async () => {
    const { manager } = setUp();
    const heard: string[] = [];
    manager
      .events$({ parentSessionId: 'b', kind: 'process', types: ['background_task_started'] })
      .subscribe((event) => {
        if ('task' in event) heard.push(event.task.id);
      });
    await manager.spawn(processRequest({ parentSessionId: 'a' }));
    await manager.spawn(processRequest({ parentSessionId: 'b' }));
    await manager.spawn(agentRequest({ parentSessionId: 'b' }));
    expect(heard).toEqual(['task_2']);
  });

  it('complete when the manager has shut down', async () => {
    const { manager } = setUp();
    await manager.spawn(processRequest());
    const all = lastValueFrom(manager.events$().pipe(toArray()));
    await manager.shutdown();
    expect((await all).map(short)).toEqual(['cancelled']);
    await expect(lastValueFrom(manager.events$({ taskId: 'task_1' }).pipe(toArray()))).resolves.toEqual([]);
    await expect(lastValueFrom(manager.events$().pipe(toArray()))).resolves.toEqual([]);
  });

  it('leave nothing behind when their subscribers go', async () => {
    const { manager } = setUp();
    const subscriptions = Array.from({ length: 100 }, (_, index) =>
      manager.events$({ taskId: `task_${index % 10}` }).subscribe(),
    );
    for (const subscription of subscriptions) subscription.unsubscribe();
    const first = lastValueFrom(manager.events$({ taskId: 'task_1' }).pipe(take(1)));
    await manager.spawn(processRequest());
    await expect(first).resolves.toMatchObject({ type: 'background_task_created' });
  });
});

describe('listeners that throw at every event', () => {
  it('harm nobody: every event reaches the others, the task lives its life, and each throw is reported', async () => {
    const throwing = (who: string) => (): never => {
      throw new Error(who);
    };
    const sink = throwing('sink');
    const context = setUp({ eventSink: sink, inspect: throwing('inspector') });
    const heard: string[] = [];
    const unhandled = await unhandledDuring(async () => {
      context.manager.subscribe(throwing('listener'));
      context.manager.subscribe(() => Promise.reject(new Error('async listener')) as unknown as void);
      context.manager.events$().subscribe(throwing('stream'));
      context.manager
        .events$({ taskId: 'task_1' })
        .subscribe({ next: throwing('task stream'), complete: throwing('completion') });
      context.manager
        .events$()
        .pipe(filter(throwing('operator')))
        .subscribe();
      context.manager
        .events$()
        .pipe(map(throwing('handled operator')))
        .subscribe({ error: () => heard.push('own error handler') });
      context.manager.subscribe((event) => heard.push(short(event)));
      await liveOn(context);
      await settled();
    });
    expect(unhandled).toEqual([]);
    expect(heard.filter((line) => line !== 'own error handler')).toEqual(LIFE);
    expect(heard).toContain('own error handler');
    const count = (message: string): number => context.errors.filter((error) => error.message === message).length;
    for (const who of ['sink', 'listener', 'async listener', 'stream', 'task stream'])
      expect([who, count(who)]).toEqual([who, LIFE.length]);
    expect(count('completion')).toBe(1);
    expect(count('operator')).toBe(1);
    expect(count('inspector')).toBeGreaterThan(LIFE.length);
    expect(new Set(context.errors.map((error) => error.source))).toEqual(
      new Set(['event_sink', 'listener', 'stream', 'inspector']),
    );
  });

  it('harm nobody even when the reporter throws too', async () => {
    const context = setUp({
      onListenerError: () => {
        throw new Error('reporter');
      },
    });
    const unhandled = await unhandledDuring(async () => {
      context.manager.subscribe(() => {
        throw new Error('listener');
      });
      await liveOn(context);
    });
    expect(unhandled).toEqual([]);
  });
});

describe('a clock that is passed in', () => {
  it.each([
    ['milliseconds', () => 0],
    ['a date', () => new Date(0)],
    ['a string', () => '1970-01-01T00:00:00Z'],
  ])('stamps records from %s', async (_name, now) => {
    const { manager } = setUp({ now });
    expect(await manager.spawn(processRequest())).toMatchObject({ startedAt: '1970-01-01T00:00:00.000Z' });
  });

  it('that throws or returns no time is reported, and the task lives on the other clock', async () => {
    const { manager, processes, errors } = setUp({ now: () => Number.NaN });
    expect(await manager.spawn(processRequest())).toMatchObject({
      status: 'running',
      startedAt: '2026-01-01T00:00:00.000Z',
    });
    processes.of('task_1').resolve({});
    await expect(manager.wait('task_1')).resolves.toMatchObject({ taskId: 'task_1' });
    expect(new Set(errors.map((error) => error.source))).toEqual(new Set(['clock']));
  });
});

describe('a timer port that throws', () => {
  it('costs the task that needed it, not the manager', async () => {
    const clock = createSimulatedClock();
    const broken = {
      ...clock,
      now: clock.now,
      setTimeout: () => {
        throw new Error('no timers');
      },
    };
    const { manager, processes } = setUp({ clock: broken });
    expect(await manager.spawn(agentRequest())).toMatchObject({
      status: 'failed',
      error: { category: 'crash', message: 'no timers', recoverable: false },
    });
    await manager.spawn(processRequest());
    processes.of('task_2').resolve({ output: 'fine' });
    await expect(manager.wait('task_2')).resolves.toMatchObject({ output: 'fine' });
  });
});

describe('inspection', () => {
  it('sees the supervisor as root and every task as its child, with each transition', async () => {
    const seen: InspectionEvent[] = [];
    const { manager, processes } = setUp({ inspect: (event) => seen.push(event) });
    await manager.spawn(processRequest());
    processes.of('task_1').resolve({});
    await settled();
    const actors = seen
      .filter((event) => event.type === '@xstate.actor')
      .map((event) => (event.actorRef as { id?: string }).id);
    expect(actors).toEqual(['tasks', 'task_1']);
    const values = seen.flatMap((event) =>
      event.type === '@xstate.snapshot' && (event.actorRef as { id?: string }).id === 'task_1'
        ? [(event.snapshot as unknown as { value: unknown }).value]
        : [],
    );
    expect(values).toEqual(['queued', { running: 'starting' }, { running: 'active' }, 'completed']);
    const moves = seen.flatMap((event) =>
      event.type === '@xstate.microstep' ? event._transitions.map((transition) => transition.eventType) : [],
    );
    expect(moves).toEqual(['START', 'STARTED', 'COMPLETE']);
    expect(
      JSON.parse(JSON.stringify(seen.find((event) => event.type === '@xstate.event' && event.event.type === 'SUBMIT'))),
    ).toBeTypeOf('object');
  });

  it('can be attached to a manager that runs already', async () => {
    const { manager } = setUp();
    await manager.spawn(processRequest());
    const seen: string[] = [];
    manager.supervisor.system.inspect((event) => seen.push(event.type));
    await manager.cancel('task_1');
    expect(seen).toContain('@xstate.snapshot');
  });

  it('stops every task actor when the supervisor itself is stopped', async () => {
    const seen: InspectionEvent[] = [];
    const { manager } = setUp({ inspect: (event) => seen.push(event) });
    await manager.spawn(processRequest());
    manager.supervisor.stop();
    const last = seen
      .filter((event) => event.type === '@xstate.snapshot' && (event.actorRef as { id?: string }).id === 'task_1')
      .at(-1);
    expect(last).toMatchObject({ snapshot: { status: 'stopped' } });
  });
});
