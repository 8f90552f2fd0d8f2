/** The life of jobs as the callers of their manager see it. */
import { afterEach, describe, expect, it } from 'vitest';
import { isUuidV7 } from '../../../src/machines/ids.ts';
import { SESSION_KEY } from '../../../src/machines/subagent/subagent-request.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { closeManagers, managerSetup } from '../../support/manager-setup.ts';
import { settled } from '../../support/manual-runner.ts';
import { jobRequest } from '../../support/scripted-subagents.ts';

afterEach(closeManagers);

describe('a job that is spawned', () => {
  it('is on record, and known to the log of its session, before anybody hears that it was accepted', async () => {
    const { manager, records, log, runner } = managerSetup();
    let seen: unknown;
    log.before = (call) => {
      if (call === 'started') seen = [records.stored.get('agent_1')?.stage, runner.works.length];
    };
    const job = await manager.spawn(
      jobRequest({ parentSessionId: 'session_9', label: 'the fixer', isolation: 'none' }),
    );
    expect(seen).toEqual(['accepted', 0]);
    expect(job).toMatchObject({
      id: 'agent_1',
      type: 'fixer',
      label: 'the fixer',
      status: 'running',
      promptPreview: 'Fix it.',
      parentSessionId: 'session_9',
      depth: 0,
      isolation: 'none',
    });
    expect(log.told).toEqual([
      [
        'started',
        expect.objectContaining({
          jobId: 'agent_1',
          agentType: 'fixer',
          prompt: 'Fix it.',
          parentSessionId: 'session_9',
        }),
      ],
    ]);
  });

  it('has a session of its own from the start, or goes on with the one that was named', async () => {
    const { manager, runner, log } = managerSetup();
    const fresh = await manager.spawn(jobRequest({ metadata: { mine: { deep: [1] } } }));
    const sessionId = fresh.metadata?.[SESSION_KEY] as string;
    expect(isUuidV7(sessionId)).toBe(true);
    expect(fresh.metadata).toEqual({ mine: { deep: [1] }, [SESSION_KEY]: sessionId });
    expect(log.told[0]?.[1].sessionId).toBe(sessionId);
    const named = await manager.spawn(jobRequest({ sessionId }));
    expect(runner.of(named.id).start.request.metadata).toEqual({
      [SESSION_KEY]: sessionId,
      'wakechart.continues': true,
    });
  });

  it('works for the session of the job that it works for', async () => {
    const { manager, runner } = managerSetup();
    const parent = await manager.spawn(jobRequest());
    const child = await manager.spawn(jobRequest({ parentJobId: parent.id }));
    expect(runner.of(child.id).start.request.parentSessionId).toBe(parent.metadata?.[SESSION_KEY]);
  });

  it('is not taken on when whoever is asked before has something against it, and nothing is recorded', async () => {
    const { manager, records, log } = managerSetup({ admit: () => Promise.reject(new Error('not here')) });
    await expect(manager.spawn(jobRequest())).rejects.toThrow('not here');
    expect([records.stored.size, log.told]).toEqual([0, []]);
  });

  it('loses nothing of what was asked for, and is not changed by changes of the request', async () => {
    const { manager, runner } = managerSetup();
    const list = [1];
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
      metadata: { list },
    });
    const spawning = manager.spawn(request);
    list.push(2);
    const { id } = await spawning;
    const { type, metadata: _metadata, ...rest } = request;
    expect(runner.of(id).start.request).toMatchObject({ ...rest, agentType: type, kind: 'agent' });
    expect(runner.of(id).start.request.metadata?.['list']).toEqual([1]);
    expect(Object.isFrozen(runner.of(id).start.request)).toBe(true);
  });

  it('is refused when it makes no sense, with nothing written', async () => {
    const { manager, records } = managerSetup();
    await expect(manager.spawn({ type: '', prompt: 'x', cwd: '/' })).rejects.toMatchObject({
      code: 'SUBAGENT_REQUEST_INVALID',
      category: 'validation',
    });
    await expect(manager.spawn({ ...jobRequest(), promt: 'x' } as never)).rejects.toMatchObject({
      code: 'SUBAGENT_REQUEST_INVALID',
    });
    await expect(manager.spawn(jobRequest({ metadata: { run: () => undefined } }))).rejects.toMatchObject({
      code: 'TASK_METADATA_NOT_DATA',
    });
    expect(records.calls).toEqual([]);
  });

  it('is not taken on when it cannot be stored', async () => {
    const { manager, records, runner, log } = managerSetup();
    records.before = () => Promise.reject(new Error('disk full'));
    await expect(manager.spawn(jobRequest())).rejects.toThrow('disk full');
    expect([runner.works, log.told, manager.list()]).toEqual([[], [], []]);
    records.before = () => undefined;
    await expect(manager.spawn(jobRequest())).resolves.toMatchObject({ status: 'running' });
  });

  it('is not taken on when the log of its session refuses it; what that may have heard is ended', async () => {
    const { manager, records, runner, log } = managerSetup();
    log.before = (call) => {
      if (call === 'started') throw new Error('session terminated');
    };
    await expect(manager.spawn(jobRequest())).rejects.toThrow('session terminated');
    expect([runner.works, manager.list(), [...records.stored]]).toEqual([[], [], []]);
    expect(log.told).toEqual([['ended', expect.objectContaining({ jobId: 'agent_1', status: 'failed' })]]);
  });

  it('waits for its turn when all slots are taken, and starts when one is free', async () => {
    const { manager, runner } = managerSetup({ maxConcurrent: 1 });
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
    const { manager, runner, records, log } = managerSetup();
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
    expect(log.told[1]).toEqual([
      'ended',
      expect.objectContaining({ jobId: id, status: 'completed', output: 'Fixed.' }),
    ]);
  });

  it('hands a large answer around as its beginning, and keeps the whole of it in a file', async () => {
    const { manager, runner, records, log } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    const output = `First line.\n${'é'.repeat(40_000)}`;
    runner.of(id).resolve({ output });
    const result = await manager.wait(id);
    expect(records.outputs.get(id)).toBe(output);
    expect(result.output.length).toBeLessThan(20_000);
    expect(result.output.endsWith('\n[output truncated]\n')).toBe(true);
    expect(result.metadata).toMatchObject({
      outputPath: `/kept/${id}`,
      outputBytes: 80_012,
      summary: expect.stringMatching(/^First line\. é/),
    });
    expect(log.told.at(-1)?.[1]).toMatchObject({ outputPath: `/kept/${id}` });
  });

  it('keeps a large answer whole when there is no file for it', async () => {
    const { manager, runner, records } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    records.before = (call) => {
      if (call === 'keepOutput') throw new Error('disk full');
    };
    const output = 'x'.repeat(70_000);
    runner.of(id).resolve({ output });
    await expect(manager.wait(id)).resolves.toEqual({ jobId: id, output, metadata: { outputNotKept: 'disk full' } });
  });

  it('has completed although its end could not be stored, and says so; reconciling does it again', async () => {
    const { manager, runner, records, log, reported } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    records.before = () => Promise.reject(new Error('disk full'));
    runner.of(id).resolve();
    await expect(manager.wait(id)).resolves.toMatchObject({
      output: 'done',
      metadata: { settlementProblems: [expect.stringContaining('disk full')] },
    });
    expect([records.stored.get(id)?.stage, reported.length]).toEqual(['accepted', 1]);
    records.before = () => undefined;
    expect(await manager.reconcile()).toEqual([{ jobId: id, action: 'finished' }]);
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'completed' } });
    expect(log.told.filter(([what]) => what === 'ended').length).toBeGreaterThan(0);
  });

  it('stays completed when somebody cancels it while its end is being stored', async () => {
    const { manager, runner, records } = managerSetup();
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
    const { manager, runner, records, log } = managerSetup();
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
    expect(error).toMatchObject({
      category: 'runner',
      message: how === 'shape' ? expect.stringContaining('{ output: string }') : 'broken',
    });
    expect(manager.get(id)).toMatchObject({
      status: 'failed',
      error: (error as Error).message,
      failure: { category: 'runner' },
    });
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'failed' } });
    expect(log.told.at(-1)).toEqual(['ended', expect.objectContaining({ status: 'failed' })]);
  });

  it('is stopped by a watchdog, and stored as stopped by it', async () => {
    const { manager, runner, records, clock } = managerSetup({ agentIdleTimeoutMs: 1_000 });
    const { id } = await manager.spawn(jobRequest());
    await clock.advance(1_001);
    await expect(manager.wait(id)).rejects.toMatchObject({ category: 'timeout', code: 'TASK_IDLE' });
    expect(runner.of(id).cancelReasons).toHaveLength(1);
    expect(records.stored.get(id)).toMatchObject({
      stage: 'ended',
      task: { status: 'failed', timeoutReason: 'idle', error: { code: 'TASK_IDLE', category: 'timeout' } },
    });
    expect(manager.get(id)).toMatchObject({ status: 'failed', timeoutReason: 'idle' });
  });
});

describe('waiting for a job', () => {
  it('is given up without harm to the job', async () => {
    const { manager, runner, clock } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    const abort = new AbortController();
    const waiting = Promise.allSettled([
      manager.wait(id, { signal: abort.signal }),
      manager.wait(id, { timeoutMs: 50 }),
    ]);
    abort.abort();
    await clock.advance(50);
    expect(await waiting).toMatchObject([
      { reason: { code: 'SUBAGENT_WAIT_ABORTED', details: { status: 'running' } } },
      { reason: { code: 'SUBAGENT_WAIT_TIMEOUT', category: 'timeout', details: { jobId: id, status: 'running' } } },
    ]);
    expect(manager.get(id)?.status).toBe('running');
    runner.of(id).resolve();
    await expect(manager.wait(id, { timeoutMs: Infinity })).resolves.toMatchObject({ output: 'done' });
    await expect(manager.wait(id, { timeoutMs: Number.NaN })).rejects.toMatchObject({ code: 'SUBAGENT_WAIT_INVALID' });
    await expect(manager.wait('agent_99')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
  });

  it('that was given up leaves no rejection behind when the job fails', async () => {
    const { manager, runner } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    await expect(manager.wait(id, { timeoutMs: 0, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'SUBAGENT_WAIT_ABORTED',
    });
    runner.of(id).reject(new Error('broken'));
    await settled();
    expect(manager.get(id)?.status).toBe('failed');
  });
});
