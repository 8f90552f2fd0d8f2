import { describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import type { BackgroundTaskManagerOptions } from '../../../src/actors/task/task-manager-options.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { BackgroundTaskRequestInput } from '../../../src/machines/task/task-request.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import type { ManualWork } from '../../support/manual-runner.ts';
import { agentRequest, processRequest } from '../../support/task-requests.ts';

async function spawned(request: BackgroundTaskRequestInput, options: BackgroundTaskManagerOptions = {}) {
  const clock = createSimulatedClock();
  const agent = createManualRunner('agent');
  const process = createManualRunner('process');
  const manager = new BackgroundTaskManager({ clock, runners: { agent, process }, ...options });
  const { id } = await manager.spawn(request);
  const work = [...agent.works, ...process.works][0] as ManualWork;
  const state = () => manager.get(id);
  return {
    clock,
    manager,
    work,
    state,
    say: (delta: string) => work.say({ type: 'background_task_text_delta', delta }),
  };
}

describe('the idle watchdog', () => {
  it('stops a task that makes no progress, and fails it as a timeout with the reason', async () => {
    const { clock, work, state, manager } = await spawned(agentRequest({ idleTimeoutMs: 1_000 }));
    const waiting = manager.wait('task_1').catch((error: unknown) => error);
    await clock.advance(999);
    expect(state()?.status).toBe('running');
    await clock.advance(1);
    expect(work.isCancelled).toBe(true);
    expect(state()).toMatchObject({
      status: 'failed',
      timeoutReason: 'idle',
      error: { category: 'timeout', code: 'TASK_IDLE', recoverable: true },
    });
    expect(await waiting).toMatchObject({ category: 'timeout' });
  });

  it('is put off by text, tools and permission requests', async () => {
    const { clock, work, state, say } = await spawned(agentRequest({ idleTimeoutMs: 1_000 }));
    const signs = [
      () => say('a'),
      () => work.say({ type: 'background_task_tool_start', toolName: 't' }),
      () => work.say({ type: 'background_task_tool_end', toolName: 't', success: true }),
      () => work.say({ type: 'background_task_progress', progress: { currentAction: 'thinking' } }),
    ];
    for (const sign of signs) {
      await clock.advance(900);
      sign();
    }
    await clock.advance(999);
    expect(state()?.status).toBe('running');
    await clock.advance(1);
    expect(state()?.timeoutReason).toBe('idle');
  });

  it('is off while a person is asked, and starts anew with the answer', async () => {
    const { clock, work, state, manager } = await spawned(agentRequest({ idleTimeoutMs: 1_000 }));
    work.say({ type: 'background_task_permission_request', requestId: 'r', toolName: 't', toolArgs: {} });
    await clock.advance(1_000_000);
    expect(state()?.status).toBe('waiting_permission');
    await manager.send('task_1', { permission: { requestId: 'r', allowed: true } });
    await clock.advance(999);
    expect(state()?.status).toBe('running');
    await clock.advance(1);
    expect(state()?.timeoutReason).toBe('idle');
  });

  it.each([
    ['a longer limit', 5_000, 5_999, true],
    ['no limit', 0, 1e9, true],
    ['no word about it', undefined, 1_000, false],
  ])('grants a running tool the time it declared: %s', async (_name, toolTimeoutMs, quietMs, survives) => {
    const { clock, work, state } = await spawned(agentRequest({ idleTimeoutMs: 1_000 }));
    work.say({
      type: 'background_task_tool_start',
      toolName: 'build',
      ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
    });
    await clock.advance(quietMs);
    expect(state()?.status).toBe(survives ? 'running' : 'failed');
    if (!survives) return;
    work.say({ type: 'background_task_tool_end', toolName: 'build', success: true });
    await clock.advance(1_000);
    expect(state()?.timeoutReason).toBe('idle');
  });

  it('does not notice that the wall clock jumps', async () => {
    const { clock, state } = await spawned(agentRequest({ idleTimeoutMs: 1_000 }));
    clock.jumpWallClock(1e9);
    await clock.advance(500);
    expect(state()?.status).toBe('running');
  });

  it('holds by default for agents, by their legacy timeoutMs, and never for processes', async () => {
    const byDefault = await spawned(agentRequest());
    await byDefault.clock.advance(240_000);
    expect(byDefault.state()?.timeoutReason).toBe('idle');
    const legacy = await spawned(agentRequest({ timeoutMs: 10 }));
    await legacy.clock.advance(10);
    expect(legacy.state()?.timeoutReason).toBe('idle');
    const process = await spawned(processRequest({ timeoutMs: 10 }));
    await process.clock.advance(1e9);
    expect(process.state()?.status).toBe('running');
    const off = await spawned(agentRequest({ idleTimeoutMs: 0 }));
    await off.clock.advance(1e12);
    expect(off.state()?.status).toBe('running');
  });
});

describe('the other watchdogs', () => {
  it('cap the run time on the wall, also beyond what a native timer holds', async () => {
    const longMs = 2 ** 31 + 1_000;
    const { clock, state, say } = await spawned(agentRequest({ idleTimeoutMs: 0, maxRuntimeMs: longMs }));
    await clock.advance(longMs - 1);
    say('still here');
    expect(state()?.status).toBe('running');
    await clock.advance(1);
    expect(state()).toMatchObject({ status: 'failed', timeoutReason: 'max_runtime' });
  });

  it('cap the run time of a process whose request says so', async () => {
    const { clock, state } = await spawned(processRequest({ maxRuntimeMs: 20 }));
    await clock.advance(20);
    expect(state()?.timeoutReason).toBe('max_runtime');
  });

  it('cap the output in bytes, not in characters', async () => {
    const { state, say } = await spawned(agentRequest({ outputLimitBytes: 10 }));
    say('ééééé');
    expect(state()?.status).toBe('running');
    say('x');
    await settled();
    expect(state()).toMatchObject({
      status: 'failed',
      timeoutReason: 'output_limit',
      error: { message: expect.stringContaining('10 bytes') as string },
    });
  });

  it('cap the number of deltas', async () => {
    const { state, say } = await spawned(agentRequest({ maxTextDeltas: 3, repetitionThreshold: 0 }));
    for (let index = 0; index < 3; index += 1) say('a');
    expect(state()?.status).toBe('running');
    say('a');
    await settled();
    expect(state()?.timeoutReason).toBe('output_limit');
  });

  it('end a stream that repeats itself, with the unit in the message', async () => {
    const { state, say } = await spawned(agentRequest({ repetitionWindow: 100, repetitionThreshold: 5 }));
    for (let index = 0; index < 5; index += 1) say('again ');
    await settled();
    expect(state()).toMatchObject({
      timeoutReason: 'repetition',
      error: { message: expect.stringContaining('again') as string },
    });
  });

  it('trip also while a permission is waited for', async () => {
    const { clock, work, state } = await spawned(agentRequest({ idleTimeoutMs: 0, maxRuntimeMs: 100 }));
    work.say({ type: 'background_task_permission_request', requestId: 'r', toolName: 't', toolArgs: {} });
    await clock.advance(100);
    expect(state()).toMatchObject({ status: 'failed', timeoutReason: 'max_runtime' });
  });

  it('take the reason that a runner gives: its own timeout, a lost worker', async () => {
    const { BackgroundTaskError } = await import('../../../src/machines/task/task-error.ts');
    const { work, state } = await spawned(processRequest());
    work.reject(
      new BackgroundTaskError('timeout', 'the worker is gone', { details: { timeoutReason: 'stale_worker' } }),
    );
    await settled();
    expect(state()).toMatchObject({ status: 'failed', timeoutReason: 'stale_worker', error: { category: 'timeout' } });
  });

  it('leave no timer behind, however the task ends', async () => {
    for (const end of ['complete', 'fail', 'cancel', 'trip'] as const) {
      const { clock, work, manager } = await spawned(agentRequest({ maxRuntimeMs: 100 }));
      if (end === 'complete') work.resolve({});
      if (end === 'fail') work.reject(new Error('no'));
      if (end === 'cancel') await manager.cancel('task_1');
      if (end === 'trip') await clock.advance(100);
      await settled();
      expect([end, clock.pendingTimers]).toEqual([end, 0]);
    }
  });
});

describe('the idle deadlines of many agents', () => {
  function crowd(options: BackgroundTaskManagerOptions = {}) {
    const clock = createSimulatedClock();
    const agent = createManualRunner('agent');
    const manager = new BackgroundTaskManager({
      clock,
      runners: { agent },
      maxConcurrent: Infinity,
      agentIdleTimeoutMs: 1_000,
      ...options,
    });
    const idle = () =>
      manager
        .list()
        .filter(({ timeoutReason }) => timeoutReason === 'idle')
        .map(({ id }) => id);
    return { clock, agent, manager, idle };
  }

  it('need one timer, which is gone with the last of them', async () => {
    const { clock, agent, manager } = crowd();
    for (let count = 0; count < 100; count += 1) void manager.spawn(agentRequest());
    expect([agent.works.length, clock.pendingTimers]).toEqual([100, 1]);
    for (const work of agent.works) work.resolve({});
    await settled();
    expect([manager.list({ status: 'completed' }).length, clock.pendingTimers]).toEqual([100, 0]);
  });

  it('come due one by one in the order of their starts, whichever ended or went on before', async () => {
    const { clock, agent, manager, idle } = crowd();
    for (let count = 0; count < 5; count += 1) {
      await manager.spawn(agentRequest());
      await clock.advance(100);
    }
    agent.of('task_1').resolve({});
    agent.of('task_4').resolve({});
    await clock.advance(400);
    agent.of('task_3').say({ type: 'background_task_text_delta', delta: 'on' });
    await clock.advance(199);
    expect(idle()).toEqual([]);
    await clock.advance(1);
    expect(idle()).toEqual(['task_2']);
    await clock.advance(300);
    expect(idle()).toEqual(['task_2', 'task_5']);
    await clock.advance(499);
    expect(idle()).toEqual(['task_2', 'task_5']);
    await clock.advance(1);
    expect(idle()).toEqual(['task_2', 'task_3', 'task_5']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are each their own where a request names its own limit', async () => {
    const { clock, manager, idle } = crowd();
    await manager.spawn(agentRequest());
    await manager.spawn(agentRequest({ idleTimeoutMs: 400 }));
    expect(clock.pendingTimers).toBe(2);
    await clock.advance(400);
    expect(idle()).toEqual(['task_2']);
    await clock.advance(600);
    expect(idle()).toEqual(['task_1', 'task_2']);
  });
});
