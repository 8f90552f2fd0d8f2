/** The life of jobs as the manager's callers see it. */
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import type { RunnerOptions } from '../../../src/actors/subagent/subagent-manager-options.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { isUuidV7 } from '../../../src/machines/ids.ts';
import { SESSION_KEY } from '../../../src/machines/subagent/subagent-request.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import { createMemoryLog, createMemoryRecords, createScriptedRunner, jobRequest } from '../../support/scripted-subagents.ts';

const managers: SubagentManager[] = [];

function house(options: Partial<RunnerOptions> = {}) {
  const clock = createSimulatedClock();
  const runner = createScriptedRunner();
  const records = createMemoryRecords();
  const log = createMemoryLog();
  const reported: unknown[] = [];
  const manager = new SubagentManager({ runner, records, log, clock, onListenerError: (error) => reported.push(error), ...options });
  managers.push(manager);
  return { clock, runner, records, log, reported, manager };
}

afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.shutdown()));
});

describe('a job that is spawned', () => {
  it('is on record, and known to the log of its session, before anybody hears that it was accepted', async () => {
    const { manager, records, log, runner } = house();
    let seen: unknown;
    log.before = (call) => {
      if (call === 'started') seen = [records.stored.get('agent_1')?.stage, runner.works.length];
    };
    const job = await manager.spawn(jobRequest({ parentSessionId: 'session_9', label: 'the fixer', isolation: 'none' }));
    expect(seen).toEqual(['accepted', 0]);
    expect(job).toMatchObject({ id: 'agent_1', type: 'fixer', label: 'the fixer', status: 'running', promptPreview: 'Fix it.', parentSessionId: 'session_9', depth: 0, isolation: 'none' });
    expect(log.told).toEqual([['started', expect.objectContaining({ jobId: 'agent_1', agentType: 'fixer', prompt: 'Fix it.', parentSessionId: 'session_9' })]]);
  });

  it('has a session of its own from the start, or goes on with the one that was named', async () => {
    const { manager, runner, log } = house();
    const fresh = await manager.spawn(jobRequest({ metadata: { mine: { deep: [1] } } }));
    const sessionId = fresh.metadata?.[SESSION_KEY] as string;
    expect(isUuidV7(sessionId)).toBe(true);
    expect(fresh.metadata).toEqual({ mine: { deep: [1] }, [SESSION_KEY]: sessionId });
    expect(log.told[0]?.[1].sessionId).toBe(sessionId);
    const named = await manager.spawn(jobRequest({ sessionId }));
    expect(runner.of(named.id).start.request.metadata).toEqual({ [SESSION_KEY]: sessionId });
  });

  it('loses nothing of what was asked for, and is not changed by changes of the request', async () => {
    const { manager, runner } = house();
    const request = jobRequest({
      mode: 'foreground',
      permissionPolicy: 'deny',
      model: 'small',
      allowedTools: ['read'],
      disallowedTools: ['write'],
      providerProfile: { name: 'mine' },
      priority: 3,
      idleTimeoutMs: 5,
      maxRuntimeMs: 6,
      outputLimitBytes: 7,
      maxTextDeltas: 8,
      repetitionWindow: 9,
      repetitionThreshold: 10,
      timeoutMs: 11,
      metadata: { list: [1] },
    });
    const spawning = manager.spawn(request);
    (request.metadata?.['list'] as number[]).push(2);
    const { id } = await spawning;
    const { type, metadata, ...rest } = request;
    expect(runner.of(id).start.request).toMatchObject({ ...rest, agentType: type, kind: 'agent' });
    expect(runner.of(id).start.request.metadata?.['list']).toEqual([1]);
    expect(Object.isFrozen(runner.of(id).start.request)).toBe(true);
  });

  it('is refused when it makes no sense, with nothing written', async () => {
    const { manager, records } = house();
    await expect(manager.spawn({ type: '', prompt: 'x', cwd: '/' })).rejects.toMatchObject({ code: 'SUBAGENT_REQUEST_INVALID', category: 'validation' });
    await expect(manager.spawn({ ...jobRequest(), promt: 'x' } as never)).rejects.toMatchObject({ code: 'SUBAGENT_REQUEST_INVALID' });
    await expect(manager.spawn(jobRequest({ metadata: { run: () => undefined } }))).rejects.toMatchObject({ code: 'TASK_METADATA_NOT_DATA' });
    expect(records.calls).toEqual([]);
  });

  it('is not taken on when it cannot be stored', async () => {
    const { manager, records, runner, log } = house();
    records.before = () => Promise.reject(new Error('disk full'));
    await expect(manager.spawn(jobRequest())).rejects.toThrow('disk full');
    expect([runner.works, log.told, manager.list()]).toEqual([[], [], []]);
    records.before = () => undefined;
    await expect(manager.spawn(jobRequest())).resolves.toMatchObject({ status: 'running' });
  });

  it('is not taken on when the log of its session refuses it; what that may have heard is ended', async () => {
    const { manager, records, runner, log } = house();
    log.before = (call) => {
      if (call === 'started') throw new Error('session terminated');
    };
    await expect(manager.spawn(jobRequest())).rejects.toThrow('session terminated');
    expect([runner.works, manager.list(), [...records.stored]]).toEqual([[], [], []]);
    expect(log.told).toEqual([['ended', expect.objectContaining({ jobId: 'agent_1', status: 'failed' })]]);
  });

  it('waits for its turn when all slots are taken, and starts when one is free', async () => {
    const { manager, runner } = house({ maxConcurrent: 1 });
    const first = await manager.spawn(jobRequest());
    const second = await manager.spawn(jobRequest());
    expect([first.status, second.status]).toEqual(['running', 'queued']);
    runner.of(first.id).resolve();
    await manager.wait(first.id);
    expect(manager.get(second.id)?.status).toBe('running');
  });
});

describe('a job that completes', () => {
  it('resolves with its output and what was said beside it, once its end is stored and told', async () => {
    const { manager, runner, records, log } = house();
    const { id } = await manager.spawn(jobRequest());
    const heard: string[] = [];
    manager.subscribe((event) => {
      if (event.type === 'background_task_completed') heard.push(`${records.stored.get(id)?.stage} ${log.told.length}`);
    });
    runner.of(id).resolve({ output: 'Fixed.', metadata: { usage: 3 } });
    await expect(manager.wait(id)).resolves.toEqual({ jobId: id, output: 'Fixed.', metadata: { usage: 3 } });
    expect(heard).toEqual(['ended 2']);
    expect(records.calls.slice(-2)).toEqual(['write ending', 'write ended']);
    expect(manager.get(id)).toMatchObject({ status: 'completed', result: 'Fixed.', resultMetadata: { usage: 3 } });
    expect(log.told[1]).toEqual(['ended', expect.objectContaining({ jobId: id, status: 'completed', output: 'Fixed.' })]);
  });

  it('hands a large answer around as its beginning, and keeps the whole of it in a file', async () => {
    const { manager, runner, records, log } = house();
    const { id } = await manager.spawn(jobRequest());
    const output = `First line.\n${'é'.repeat(40_000)}`;
    runner.of(id).resolve({ output });
    const result = await manager.wait(id);
    expect(records.outputs.get(id)).toBe(output);
    expect(result.output.length).toBeLessThan(20_000);
    expect(result.output.endsWith('\n[output truncated]\n')).toBe(true);
    expect(result.metadata).toMatchObject({ outputPath: `/kept/${id}`, outputBytes: 80_012, summary: expect.stringMatching(/^First line\. é/) });
    expect(log.told.at(-1)?.[1]).toMatchObject({ outputPath: `/kept/${id}` });
  });

  it('keeps a large answer whole when there is no file for it', async () => {
    const { manager, runner, records } = house();
    const { id } = await manager.spawn(jobRequest());
    records.before = (call) => {
      if (call === 'keepOutput') throw new Error('disk full');
    };
    const output = 'x'.repeat(70_000);
    runner.of(id).resolve({ output });
    await expect(manager.wait(id)).resolves.toEqual({ jobId: id, output, metadata: { outputNotKept: 'disk full' } });
  });

  it('has completed although its end could not be stored, and says so; reconciling does it again', async () => {
    const { manager, runner, records, log, reported } = house();
    const { id } = await manager.spawn(jobRequest());
    records.before = () => Promise.reject(new Error('disk full'));
    runner.of(id).resolve();
    await expect(manager.wait(id)).resolves.toMatchObject({ output: 'done', metadata: { settlementProblems: [expect.stringContaining('disk full')] } });
    expect([records.stored.get(id)?.stage, reported.length]).toEqual(['accepted', 1]);
    records.before = () => undefined;
    expect(await manager.reconcile()).toEqual([{ jobId: id, action: 'finished' }]);
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'completed' } });
    expect(log.told.filter(([what]) => what === 'ended').length).toBeGreaterThan(0);
  });

  it('stays completed when somebody cancels it while its end is being stored', async () => {
    const { manager, runner, records } = house();
    const { id } = await manager.spawn(jobRequest());
    const events: BackgroundTaskEvent[] = [];
    manager.events$().subscribe((event) => events.push(event));
    let goOn: () => void = () => undefined;
    records.before = (call) => (call === 'write ending' ? new Promise((resolve) => (goOn = resolve)) : undefined);
    runner.of(id).resolve({ output: 'Fixed.' });
    await settled();
    const cancelled = manager.cancel(id, 'too late');
    await settled();
    goOn();
    await cancelled;
    await expect(manager.wait(id)).resolves.toMatchObject({ output: 'Fixed.' });
    expect(manager.get(id)).toMatchObject({ status: 'completed', result: 'Fixed.' });
    expect(records.stored.get(id)?.task.status).toBe('completed');
    expect(events.at(-1)).toMatchObject({ type: 'background_task_completed', task: { id, status: 'completed' } });
    expect(runner.of(id).cancelReasons).toEqual([]);
  });
});

describe('a job that fails', () => {
  it.each([
    ['at once', 'sync'],
    ['while it is being started', 'async'],
    ['at its work', 'work'],
    ['with something that is no result', 'shape'],
  ] as const)('%s is stored with its own error', async (_name, how) => {
    const { manager, runner, records, log } = house();
    if (how === 'sync') {
      runner.onStart = () => {
        throw new Error('broken');
      };
    }
    if (how === 'async') runner.onStart = () => Promise.reject(new Error('broken'));
    const { id } = await manager.spawn(jobRequest());
    if (how === 'work') runner.of(id).reject(new Error('broken'));
    if (how === 'shape') runner.of(id).resolve({ output: 7 as never });
    const error = await manager.wait(id).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ category: 'runner', message: how === 'shape' ? expect.stringContaining('{ output: string }') : 'broken' });
    expect(manager.get(id)).toMatchObject({ status: 'failed', error: (error as Error).message, failure: { category: 'runner' } });
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'failed' } });
    expect(log.told.at(-1)).toEqual(['ended', expect.objectContaining({ status: 'failed' })]);
  });

  it('is stopped by a watchdog, and stored as stopped by it', async () => {
    const { manager, runner, records, clock } = house({ agentIdleTimeoutMs: 1_000 });
    const { id } = await manager.spawn(jobRequest());
    await clock.advance(1_001);
    await expect(manager.wait(id)).rejects.toMatchObject({ category: 'timeout', code: 'TASK_IDLE' });
    expect(runner.of(id).cancelReasons).toHaveLength(1);
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'failed', timeoutReason: 'idle', error: { code: 'TASK_IDLE', category: 'timeout' } } });
    expect(manager.get(id)).toMatchObject({ status: 'failed', timeoutReason: 'idle' });
  });
});

describe('waiting for a job', () => {
  it('is given up without harm to the job', async () => {
    const { manager, runner, clock } = house();
    const { id } = await manager.spawn(jobRequest());
    const abort = new AbortController();
    const aborted = expect(manager.wait(id, { signal: abort.signal })).rejects.toMatchObject({ code: 'SUBAGENT_WAIT_ABORTED', details: { status: 'running' } });
    const timedOut = expect(manager.wait(id, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'SUBAGENT_WAIT_TIMEOUT', category: 'timeout', details: { jobId: id, status: 'running' } });
    abort.abort();
    await clock.advance(50);
    await Promise.all([aborted, timedOut]);
    expect(manager.get(id)?.status).toBe('running');
    runner.of(id).resolve();
    await expect(manager.wait(id, { timeoutMs: Infinity })).resolves.toMatchObject({ output: 'done' });
    await expect(manager.wait(id, { timeoutMs: Number.NaN })).rejects.toMatchObject({ code: 'SUBAGENT_WAIT_INVALID' });
    await expect(manager.wait('agent_99')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
  });

  it('that was given up leaves no rejection behind when the job fails', async () => {
    const { manager, runner } = house();
    const { id } = await manager.spawn(jobRequest());
    await expect(manager.wait(id, { timeoutMs: 0, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'SUBAGENT_WAIT_ABORTED' });
    runner.of(id).reject(new Error('broken'));
    await settled();
    expect(manager.get(id)?.status).toBe('failed');
  });
});

describe('stopping jobs', () => {
  it('resolves when the work is gone and its end is stored', async () => {
    const { manager, runner, records, log } = house();
    const { id } = await manager.spawn(jobRequest());
    let gone: () => void = () => undefined;
    runner.of(id).onCancel = () => new Promise((resolve) => (gone = resolve));
    let isOver = false;
    const cancelled = manager.cancel(id, 'not wanted').then(() => (isOver = true));
    await settled();
    expect([isOver, runner.of(id).cancelReasons, runner.of(id).start.signal.aborted]).toEqual([false, ['not wanted'], true]);
    gone();
    await cancelled;
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'cancelled', error: { code: 'TASK_CANCELLED', details: { reason: 'not wanted' } } } });
    expect(log.told.at(-1)).toEqual(['ended', expect.objectContaining({ status: 'cancelled' })]);
    await expect(manager.wait(id)).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
  });

  it('while it is being started waits for the start, and stops what comes of it', async () => {
    const { manager, runner } = house();
    let started: () => void = () => undefined;
    runner.onStart = () => new Promise((resolve) => (started = resolve));
    const { id } = await manager.spawn(jobRequest());
    const cancelled = manager.cancel(id);
    await settled();
    expect(runner.of(id).start.signal.aborted).toBe(true);
    started();
    await cancelled;
    expect(runner.of(id).cancelReasons).toEqual(['cancelled by the caller']);
    expect(manager.get(id)?.status).toBe('cancelled');
  });

  it('that wait for their turn stores their end too', async () => {
    const { manager, records, log } = house({ maxConcurrent: 1 });
    await manager.spawn(jobRequest());
    const { id } = await manager.spawn(jobRequest());
    await manager.cancel(id, 'not wanted');
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'cancelled' } });
    expect(log.told.at(-1)?.[1]).toMatchObject({ jobId: id, status: 'cancelled' });
  });

  it('says what is left when the work cannot be proven gone, and keeps its slot', async () => {
    const { manager, runner, records } = house({ maxConcurrent: 1 });
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).onCancel = () => Promise.reject(new Error('pid 7 lives'));
    await manager.cancel(id);
    expect(manager.get(id)).toMatchObject({ status: 'cancelled', error: expect.stringContaining('pid 7 lives') });
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'cancelled', error: { details: { leftOver: 'pid 7 lives' } } } });
    const next = await manager.spawn(jobRequest());
    expect(next.status).toBe('queued');
    runner.of(id).resolve();
    await settled();
    expect(manager.get(next.id)?.status).toBe('running');
    expect(manager.get(id)?.status).toBe('cancelled');
  });

  it('stops every job below, and none beside', async () => {
    const { manager, runner } = house({ maxConcurrent: 2 });
    const top = await manager.spawn(jobRequest());
    const child = await manager.spawn(jobRequest({ parentJobId: top.id }));
    const grandchild = await manager.spawn(jobRequest({ parentSessionId: child.metadata?.[SESSION_KEY] as string }));
    const other = await manager.spawn(jobRequest());
    expect([child.depth, grandchild.status]).toEqual([1, 'queued']);
    await manager.cancel(top.id, 'enough');
    expect([top, child, grandchild, other].map(({ id }) => manager.get(id)?.status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'running']);
    expect(runner.of(child.id).cancelReasons).toEqual([`its parent job ${top.id} was cancelled: enough`]);
  });

  it('of a session stops them all, those included that are just being spawned', async () => {
    const { manager, records, runner } = house();
    const first = await manager.spawn(jobRequest({ parentSessionId: 's' }));
    const below = await manager.spawn(jobRequest({ parentJobId: first.id }));
    let store: () => void = () => undefined;
    records.before = (call) => (call === 'create' ? new Promise((resolve) => (store = resolve)) : undefined);
    const late = expect(manager.spawn(jobRequest({ parentSessionId: 's' }))).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED' });
    await settled();
    let isOver = false;
    const cancelled = manager.cancelOf('s', 'stopped').then(() => (isOver = true));
    await settled();
    expect(isOver).toBe(false);
    store();
    await Promise.all([late, cancelled]);
    expect([first, below].map(({ id }) => manager.get(id)?.status)).toEqual(['cancelled', 'cancelled']);
    expect([runner.works.length, records.stored.size]).toEqual([2, 2]);
    records.before = () => undefined;
    await expect(manager.spawn(jobRequest({ parentSessionId: 's' }))).resolves.toMatchObject({ status: 'running' });
  });

  it('ends the jobs below one that completes, before its own end', async () => {
    const { manager, runner, log } = house();
    const parent = await manager.spawn(jobRequest());
    const child = await manager.spawn(jobRequest({ parentJobId: parent.id }));
    runner.of(parent.id).resolve();
    await manager.wait(parent.id);
    expect(manager.get(child.id)?.status).toBe('cancelled');
    expect(log.told.filter(([what]) => what === 'ended').map(([, { jobId }]) => jobId)).toEqual([child.id, parent.id]);
    await expect(manager.spawn(jobRequest({ parentJobId: parent.id }))).rejects.toMatchObject({ code: 'SUBAGENT_PARENT_ENDED' });
  });

  it('lets no job in under one that is being stopped', async () => {
    const { manager, runner } = house();
    const parent = await manager.spawn(jobRequest());
    let gone: () => void = () => undefined;
    runner.of(parent.id).onCancel = () => new Promise((resolve) => (gone = resolve));
    const cancelled = manager.cancel(parent.id);
    await expect(manager.spawn(jobRequest({ parentJobId: parent.id }))).rejects.toMatchObject({ code: 'SUBAGENT_PARENT_ENDED' });
    gone();
    await cancelled;
  });

  it('by a shutdown ends all jobs, stores their ends, and refuses new ones', async () => {
    const { manager, runner, records } = house({ maxConcurrent: 1 });
    const running = await manager.spawn(jobRequest());
    const waiting = await manager.spawn(jobRequest());
    let store: () => void = () => undefined;
    records.before = (call) => (call === 'create' ? new Promise((resolve) => (store = resolve)) : undefined);
    const late = expect(manager.spawn(jobRequest())).rejects.toMatchObject({ code: 'SUBAGENT_MANAGER_SHUT_DOWN' });
    await settled();
    const down = manager.shutdown('bye');
    expect(manager.shutdown()).toBe(down);
    await expect(manager.spawn(jobRequest())).rejects.toMatchObject({ code: 'SUBAGENT_MANAGER_SHUT_DOWN' });
    store();
    await Promise.all([down, late]);
    expect([...records.stored.values()].map(({ jobId, stage, task }) => [jobId, stage, task.status])).toEqual([
      [running.id, 'ended', 'cancelled'],
      [waiting.id, 'ended', 'cancelled'],
    ]);
    expect(runner.works).toHaveLength(1);
    expect(manager.list().map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });
});

describe('input for a job', () => {
  it('reaches its work: follow-ups, and answers that count once', async () => {
    const { manager, runner } = house();
    const { id } = await manager.spawn(jobRequest());
    await manager.send(id, 'And then?');
    await manager.send(id, { prompt: 'More.' });
    runner.of(id).say({ type: 'background_task_permission_request', requestId: 'q', toolName: 'write', toolArgs: {} });
    expect(manager.get(id)?.status).toBe('waiting_permission');
    await manager.answerPermission(id, 'q', false);
    expect([runner.of(id).prompts, runner.of(id).answers]).toEqual([['And then?', 'More.'], [{ requestId: 'q', allowed: false }]]);
    expect(manager.get(id)?.status).toBe('running');
    await expect(manager.answerPermission(id, 'q', true)).rejects.toMatchObject({ code: 'TASK_PERMISSION_STALE' });
  });

  it('that denies ends a job whose runner takes no answers', async () => {
    const runner = createScriptedRunner({ answerPermission: undefined as never });
    const { manager, records } = house({ runner });
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).say({ type: 'background_task_permission_request', requestId: 'q', toolName: 'write', toolArgs: {} });
    await manager.answerPermission(id, 'q', false);
    expect(manager.get(id)).toMatchObject({ status: 'failed', failure: { category: 'permission', code: 'TASK_PERMISSION_DENIED' } });
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'failed', error: { code: 'TASK_PERMISSION_DENIED' } } });
  });

  it('is refused by jobs that are not there or have ended', async () => {
    const { manager, runner } = house();
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).resolve();
    await manager.wait(id);
    await expect(manager.send(id, 'x')).rejects.toMatchObject({ code: 'TASK_ENDED' });
    await expect(manager.answerPermission(id, 'q', true)).rejects.toMatchObject({ code: 'TASK_ENDED' });
    await expect(manager.send('agent_9', 'x')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
    await expect(manager.cancel('agent_9')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
  });
});

describe('the limits', () => {
  const refused = async (options: Partial<RunnerOptions>, lastRequest: Parameters<typeof jobRequest>[0], before: Parameters<typeof jobRequest>[0][], code: string) => {
    const { manager, records } = house(options);
    for (const changes of before) await manager.spawn(jobRequest(changes));
    const calls = records.calls.length;
    await expect(manager.spawn(jobRequest(lastRequest))).rejects.toMatchObject({ category: 'capacity', code, details: expect.any(Object) });
    expect(records.calls).toHaveLength(calls);
    return manager;
  };

  it('bound how deep jobs nest', () => refused({}, { depth: 4 }, [], 'SUBAGENT_TOO_DEEP'));
  it('bound how deep jobs nest below each other, whatever they say', () => refused({ maxDepth: 1 }, { parentJobId: 'agent_2', depth: 0 }, [{}, { parentJobId: 'agent_1' }], 'SUBAGENT_TOO_DEEP'));
  it('bound how many one session has', () => refused({ limits: { maxJobsPerParent: 2 } }, { parentSessionId: 's' }, [{ parentSessionId: 's' }, { parentSessionId: 's' }, { parentSessionId: 't' }], 'SUBAGENT_FAN_OUT'));
  it('bound how many one job has', () => refused({ limits: { maxJobsPerParent: 1 } }, { parentJobId: 'agent_1' }, [{}, { parentJobId: 'agent_1' }], 'SUBAGENT_FAN_OUT'));
  it('bound how many there are in all', () => refused({ limits: { maxJobs: 2 } }, {}, [{}, {}], 'SUBAGENT_TOO_MANY'));
  it('bound how many wait', () => refused({ maxConcurrent: 1, limits: { maxPending: 1 } }, {}, [{}, {}], 'SUBAGENT_QUEUE_FULL'));

  it('count living jobs only, spawns included that are under way', async () => {
    const { manager, runner } = house({ limits: { maxJobs: 2 } });
    const [first] = await Promise.all([manager.spawn(jobRequest()), manager.spawn(jobRequest()), expect(manager.spawn(jobRequest())).rejects.toMatchObject({ code: 'SUBAGENT_TOO_MANY' })]);
    runner.of(first.id).resolve();
    await manager.wait(first.id);
    await expect(manager.spawn(jobRequest())).resolves.toMatchObject({ status: 'running' });
  });

  it('are checked, and so are all options', () => {
    const runner = createScriptedRunner();
    for (const options of [
      { limits: { maxJobs: 0 } },
      { limits: { maxJob: 1 } },
      { limits: { maxDepth: Number.NaN } },
      { maxDepth: 1.5 },
      { maxConcurrent: 2, limits: { maxConcurrent: 3 } },
      { cancelDeadlineMs: -1 },
      { misspelt: 1 },
      { backgroundTaskManager: new BackgroundTaskManager() },
    ]) {
      expect(() => new SubagentManager({ runner, ...options } as never), JSON.stringify(options)).toThrow(expect.objectContaining({ category: 'validation' }));
    }
    expect(() => new SubagentManager({} as never)).toThrow(expect.objectContaining({ code: 'SUBAGENT_OPTIONS_INVALID' }));
    expect(() => new SubagentManager({ backgroundTaskManager: new BackgroundTaskManager(), maxConcurrent: 1 } as never)).toThrow(expect.objectContaining({ code: 'SUBAGENT_OPTIONS_INVALID' }));
    expect(() => new SubagentManager({ runner, limits: { maxJobs: Infinity, maxJobsPerParent: Infinity } })).not.toThrow();
  });
});

describe('records of jobs', () => {
  it('stay until the job is closed', async () => {
    const { manager, runner, records } = house();
    const { id } = await manager.spawn(jobRequest());
    await expect(manager.close(id)).rejects.toMatchObject({ code: 'TASK_NOT_ENDED' });
    runner.of(id).resolve();
    await manager.wait(id);
    expect(manager.list({ status: 'completed' })).toHaveLength(1);
    await manager.close(id);
    expect([manager.get(id), manager.list(), records.stored.size]).toEqual([undefined, [], 0]);
    await expect(manager.close(id)).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
    expect((await manager.spawn(jobRequest())).id).toBe('agent_2');
  });

  it('are not given up before the session has heard of the end', async () => {
    const { manager, runner, records, log } = house();
    const { id } = await manager.spawn(jobRequest());
    log.before = (call) => {
      if (call === 'ended') throw new Error('log broken');
    };
    runner.of(id).resolve();
    await manager.wait(id);
    expect(records.stored.get(id)?.stage).toBe('ending');
    await expect(manager.close(id)).rejects.toThrow('log broken');
    expect(manager.get(id)?.status).toBe('completed');
    log.before = () => undefined;
    await manager.close(id);
    expect(log.told.at(-1)).toEqual(['ended', expect.objectContaining({ jobId: id })]);
    expect(records.stored.size).toBe(0);
  });

  it('are looked through by what is asked for', async () => {
    const { manager } = house();
    const parent = await manager.spawn(jobRequest({ parentSessionId: 's' }));
    await manager.spawn(jobRequest({ parentJobId: parent.id, mode: 'foreground' }));
    expect(manager.list({ parentSessionId: 's' }).map(({ id }) => id)).toEqual(['agent_1']);
    expect(manager.list({ parentJobId: 'agent_1' }).map(({ id, parentJobId }) => [id, parentJobId])).toEqual([['agent_2', 'agent_1']]);
    expect(manager.list({ mode: 'foreground', status: ['running', 'queued'] })).toHaveLength(1);
  });
});

describe('a manager over a task manager that is there', () => {
  it('runs its jobs as tasks of that, stores their ends, and leaves it running when it is shut down', async () => {
    const agent = createManualRunner('agent');
    const tasks = new BackgroundTaskManager({ runners: { agent: agent as never }, maxDepth: 5 });
    const records = createMemoryRecords();
    const manager = new SubagentManager({ backgroundTaskManager: tasks, records });
    const one = await manager.spawn(jobRequest());
    const two = await manager.spawn(jobRequest());
    expect(manager.getBackgroundTaskManager()).toBe(tasks);
    agent.of(one.id).resolve({ output: 'x' });
    await expect(manager.wait(one.id)).resolves.toMatchObject({ output: 'x' });
    expect(records.stored.get(one.id)).toMatchObject({ stage: 'ended', task: { status: 'completed' } });
    await manager.shutdown();
    expect([manager.get(two.id)?.status, records.stored.get(two.id)?.stage]).toEqual(['cancelled', 'ended']);
    await expect(tasks.spawn({ kind: 'agent', label: 'x', agentType: 'x', prompt: '', cwd: '/' })).resolves.toMatchObject({ id: 'task_1' });
    await tasks.shutdown();
  });
});

describe('a manager without records', () => {
  it('counts its ids by itself and works all the same', async () => {
    const runner = createScriptedRunner();
    await using manager = new SubagentManager({ runner });
    const [one, two] = await Promise.all([manager.spawn(jobRequest()), manager.spawn(jobRequest())]);
    runner.of(one.id).resolve();
    await manager.wait(one.id);
    await manager.close(one.id);
    expect([one.id, two.id, manager.list().length, await manager.reconcile()]).toEqual(['agent_1', 'agent_2', 1, []]);
  });
});
