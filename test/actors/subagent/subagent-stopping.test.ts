/** How jobs are stopped, with all that stands below them, and what is said to them while they run. */
import { afterEach, describe, expect, it } from 'vitest';
import { SESSION_KEY } from '../../../src/machines/subagent/subagent-request.ts';
import { closeManagers, managerSetup } from '../../support/manager-setup.ts';
import { settled } from '../../support/manual-runner.ts';
import { createScriptedRunner, jobRequest } from '../../support/scripted-subagents.ts';

afterEach(closeManagers);

const codeOf = (refused: Promise<unknown>): Promise<unknown> =>
  refused.then(
    () => 'none',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );

describe('stopping jobs', () => {
  it('resolves when the work is gone and its end is stored', async () => {
    const { manager, runner, records, log } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    let gone: () => void = () => undefined;
    runner.of(id).onCancel = () => new Promise((resolve) => (gone = resolve));
    let isOver = false;
    const cancelled = manager.cancel(id, 'not wanted').then(() => (isOver = true));
    await settled();
    expect([isOver, runner.of(id).cancelReasons, runner.of(id).start.signal.aborted]).toEqual([
      false,
      ['not wanted'],
      true,
    ]);
    gone();
    await cancelled;
    expect(records.stored.get(id)).toMatchObject({
      stage: 'ended',
      task: { status: 'cancelled', error: { code: 'TASK_CANCELLED', details: { reason: 'not wanted' } } },
    });
    expect(log.told.at(-1)).toEqual(['ended', expect.objectContaining({ status: 'cancelled' })]);
    await expect(manager.wait(id)).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
  });

  it('while it is being started waits for the start, and stops what comes of it', async () => {
    const { manager, runner } = managerSetup();
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
    const { manager, records, log } = managerSetup({ maxConcurrent: 1 });
    await manager.spawn(jobRequest());
    const { id } = await manager.spawn(jobRequest());
    await manager.cancel(id, 'not wanted');
    expect(records.stored.get(id)).toMatchObject({ stage: 'ended', task: { status: 'cancelled' } });
    expect(log.told.at(-1)?.[1]).toMatchObject({ jobId: id, status: 'cancelled' });
  });

  it('says what is left when the work cannot be proven gone, and keeps its slot', async () => {
    const { manager, runner, records } = managerSetup({ maxConcurrent: 1 });
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).onCancel = () => Promise.reject(new Error('pid 7 lives'));
    await manager.cancel(id);
    expect(manager.get(id)).toMatchObject({ status: 'cancelled', error: expect.stringContaining('pid 7 lives') });
    expect(records.stored.get(id)).toMatchObject({
      stage: 'ended',
      task: { status: 'cancelled', error: { details: { leftOver: 'pid 7 lives' } } },
    });
    const next = await manager.spawn(jobRequest());
    expect(next.status).toBe('queued');
    runner.of(id).resolve();
    await settled();
    expect(manager.get(next.id)?.status).toBe('running');
    expect(manager.get(id)?.status).toBe('cancelled');
  });

  it('stops every job below, and none beside', async () => {
    const { manager, runner } = managerSetup({ maxConcurrent: 2 });
    const top = await manager.spawn(jobRequest());
    const child = await manager.spawn(jobRequest({ parentJobId: top.id }));
    const grandchild = await manager.spawn(jobRequest({ parentSessionId: child.metadata?.[SESSION_KEY] as string }));
    const other = await manager.spawn(jobRequest());
    expect([child.depth, grandchild.status]).toEqual([1, 'queued']);
    await manager.cancel(top.id, 'enough');
    expect([top, child, grandchild, other].map(({ id }) => manager.get(id)?.status)).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
      'running',
    ]);
    expect(runner.of(child.id).cancelReasons).toEqual([`its parent job ${top.id} was cancelled: enough`]);
  });

  it('of a session stops them all, those included that are just being spawned', async () => {
    const { manager, records, runner } = managerSetup();
    const first = await manager.spawn(jobRequest({ parentSessionId: 's' }));
    const below = await manager.spawn(jobRequest({ parentJobId: first.id }));
    let store: () => void = () => undefined;
    records.before = (call) => (call === 'create' ? new Promise((resolve) => (store = resolve)) : undefined);
    const late = codeOf(manager.spawn(jobRequest({ parentSessionId: 's' })));
    await settled();
    let isOver = false;
    const cancelled = manager.cancelOf('s', 'stopped').then(() => (isOver = true));
    await settled();
    expect(isOver).toBe(false);
    store();
    await cancelled;
    expect(await late).toBe('SUBAGENT_CANCELLED');
    expect([first, below].map(({ id }) => manager.get(id)?.status)).toEqual(['cancelled', 'cancelled']);
    expect([runner.works.length, records.stored.size]).toEqual([2, 2]);
    records.before = () => undefined;
    await expect(manager.spawn(jobRequest({ parentSessionId: 's' }))).resolves.toMatchObject({ status: 'running' });
  });

  it('ends the jobs below one that completes, before its own end', async () => {
    const { manager, runner, log } = managerSetup();
    const parent = await manager.spawn(jobRequest());
    const child = await manager.spawn(jobRequest({ parentJobId: parent.id }));
    runner.of(parent.id).resolve();
    await manager.wait(parent.id);
    expect(manager.get(child.id)?.status).toBe('cancelled');
    expect(log.told.filter(([what]) => what === 'ended').map(([, { jobId }]) => jobId)).toEqual([child.id, parent.id]);
    await expect(manager.spawn(jobRequest({ parentJobId: parent.id }))).rejects.toMatchObject({
      code: 'SUBAGENT_PARENT_ENDED',
    });
  });

  it('lets no job in under one that is being stopped', async () => {
    const { manager, runner } = managerSetup();
    const parent = await manager.spawn(jobRequest());
    let gone: () => void = () => undefined;
    runner.of(parent.id).onCancel = () => new Promise((resolve) => (gone = resolve));
    const cancelled = manager.cancel(parent.id);
    await expect(manager.spawn(jobRequest({ parentJobId: parent.id }))).rejects.toMatchObject({
      code: 'SUBAGENT_PARENT_ENDED',
    });
    gone();
    await cancelled;
  });

  it('by a shutdown ends all jobs, stores their ends, and refuses new ones', async () => {
    const { manager, runner, records } = managerSetup({ maxConcurrent: 1 });
    const running = await manager.spawn(jobRequest());
    const waiting = await manager.spawn(jobRequest());
    let store: () => void = () => undefined;
    records.before = (call) => (call === 'create' ? new Promise((resolve) => (store = resolve)) : undefined);
    const late = codeOf(manager.spawn(jobRequest()));
    await settled();
    const down = manager.shutdown('bye');
    expect(manager.shutdown()).toBe(down);
    await expect(manager.spawn(jobRequest())).rejects.toMatchObject({ code: 'SUBAGENT_MANAGER_SHUT_DOWN' });
    store();
    await down;
    expect(await late).toBe('SUBAGENT_MANAGER_SHUT_DOWN');
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
    const { manager, runner } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    await manager.send(id, 'And then?');
    await manager.send(id, { prompt: 'More.' });
    runner.of(id).say({ type: 'background_task_permission_request', requestId: 'q', toolName: 'write', toolArgs: {} });
    expect(manager.get(id)?.status).toBe('waiting_permission');
    await manager.answerPermission(id, 'q', false);
    expect([runner.of(id).prompts, runner.of(id).answers]).toEqual([
      ['And then?', 'More.'],
      [{ requestId: 'q', allowed: false }],
    ]);
    expect(manager.get(id)?.status).toBe('running');
    await expect(manager.answerPermission(id, 'q', true)).rejects.toMatchObject({ code: 'TASK_PERMISSION_STALE' });
  });

  it('that denies ends a job whose runner takes no answers', async () => {
    const runner = createScriptedRunner({ answerPermission: undefined as never });
    const { manager, records } = managerSetup({ runner });
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).say({ type: 'background_task_permission_request', requestId: 'q', toolName: 'write', toolArgs: {} });
    await manager.answerPermission(id, 'q', false);
    expect(manager.get(id)).toMatchObject({
      status: 'failed',
      failure: { category: 'permission', code: 'TASK_PERMISSION_DENIED' },
    });
    expect(records.stored.get(id)).toMatchObject({
      stage: 'ended',
      task: { status: 'failed', error: { code: 'TASK_PERMISSION_DENIED' } },
    });
  });

  it('that allows beside a prompt is refused whole by a runner that takes no answers', async () => {
    const runner = createScriptedRunner({ answerPermission: undefined as never });
    const { manager } = managerSetup({ runner });
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).say({ type: 'background_task_permission_request', requestId: 'q', toolName: 'write', toolArgs: {} });
    const both = { prompt: 'And then?', permission: { requestId: 'q', allowed: true } };
    await expect(manager.send(id, both)).rejects.toMatchObject({ code: 'TASK_INPUT_UNSUPPORTED' });
    expect([runner.of(id).prompts, manager.get(id)?.status]).toEqual([[], 'waiting_permission']);
  });

  it('is refused by jobs that are not there or have ended', async () => {
    const { manager, runner } = managerSetup();
    const { id } = await manager.spawn(jobRequest());
    runner.of(id).resolve();
    await manager.wait(id);
    await expect(manager.send(id, 'x')).rejects.toMatchObject({ code: 'TASK_ENDED' });
    await expect(manager.answerPermission(id, 'q', true)).rejects.toMatchObject({ code: 'TASK_ENDED' });
    await expect(manager.send('agent_9', 'x')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
    await expect(manager.cancel('agent_9')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_FOUND' });
  });
});
