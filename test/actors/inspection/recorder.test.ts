/** What a recorder tells of the real runtime: replayed, its records give the states that the actors have. */
import { createActor, setup } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { afterEach, describe, expect, it } from 'vitest';
import { createRecorder } from '../../../src/actors/inspection/recorder.ts';
import type { Recorder, RecorderOptions } from '../../../src/actors/inspection/recorder.ts';
import { liveActorsOf } from '../../../src/actors/xstate-system.ts';
import { readRecord } from '../../../src/machines/inspection-log/read-record.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { settled } from '../../support/manual-runner.ts';
import { closeManagers, managerSetup } from '../../support/manager-setup.ts';
import { jobRequest } from '../../support/scripted-subagents.ts';
import { setUp } from '../../support/task-setup.ts';
import type { TaskSetup } from '../../support/task-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { historyOf, replayed } from './replay.ts';

const recorders: Recorder[] = [];
const reported: unknown[] = [];
const record = (root: RecorderOptions['root'], options: Partial<RecorderOptions> = {}): Recorder => {
  const recorder = createRecorder({
    root,
    clock: createSimulatedClock(),
    boot: 'b',
    onListenerError: (error) => reported.push(error),
    ...options,
  });
  recorders.push(recorder);
  return recorder;
};
const shell = { kind: 'process', label: 'tests', parentSessionId: 's', cwd: '/', command: 'true' } as const;
const spawn = async (stage: TaskSetup): Promise<string> => (await stage.manager.spawn(shell)).id;

afterEach(async () => {
  for (const recorder of recorders.splice(0)) recorder.detach();
  await closeManagers();
  expect(reported.splice(0)).toEqual([]);
});

async function labelOf(context: object): Promise<string | undefined> {
  const root = createActor(setup({}).createMachine({ context: context as never })).start();
  const recorder = record(root, { redact: (text) => text.replaceAll('hunter2hunter2', '[redacted]') });
  const told = (await historyOf(recorder)).find((each) => each.k === 'actor');
  root.stop();
  return told?.k === 'actor' ? told.facts?.['label'] : 'nothing was told';
}

/** What is told of every living actor, against what it is. */
async function expectSameAsActors(recorder: Recorder, root: AnyActorRef): Promise<void> {
  const world = replayed(await historyOf(recorder));
  const living = liveActorsOf(root).map((actor) => [
    `b:${actor.sessionId}`,
    (actor.getSnapshot() as { value?: unknown }).value,
  ]);
  expect(living.map(([key]) => [key, world.get(String(key))?.value])).toEqual(living);
  expect([...world.values()].filter(({ status }) => status === 'active')).toHaveLength(living.length);
  expect(recorder.statistics).toMatchObject({ faults: 0, actors: living.length });
}

describe('a recorder', () => {
  it('tells the life of a task: its chart, its actor, each event and the step that it led to', async () => {
    const stage = setUp();
    const recorder = record(stage.manager.supervisor, {
      factsOf: ({ id }) => ({ label: id.startsWith('task') ? 'tests' : '' }),
    });
    const id = await spawn(stage);
    stage.runner.of(id).resolve({ output: 'ok' });
    await stage.manager.wait(id);
    const all = await historyOf(recorder);
    const { a: key } = all.find((each) => each.k === 'actor' && each.id === id) ?? { a: '' };
    const own = all.filter((each) => each.a === key);
    expect(own[0]).toMatchObject({ k: 'machine', id: 'task' });
    expect(own[1]).toMatchObject({
      k: 'actor',
      id,
      kind: 'task',
      chart: 'task',
      value: 'queued',
      facts: { taskId: id },
    });
    const steps = own.flatMap((each) => (each.k === 'step' ? [each] : []));
    expect(steps.map(({ type, taken, value }) => [type, taken.length, value])).toEqual([
      ['START', 1, { running: 'starting' }],
      ['STARTED', 1, { running: 'active' }],
      ['COMPLETE', 1, 'completed'],
    ]);
    const events = own.flatMap((each) => (each.k === 'event' ? [each.e] : []));
    expect(steps.map(({ e }) => e)).toEqual(events);
    expect(steps.flatMap(({ taken }) => taken)).toEqual(expect.arrayContaining(['queued|START|0']));
    expect(all.map(({ s }) => s)).toEqual(all.map((_, index) => index + 1));
    await expectSameAsActors(recorder, stage.manager.supervisor);
    await stage.manager.shutdown();
  });

  it('writes records that the format takes, chart and all', async () => {
    const stage = setUp();
    const recorder = record(stage.manager.supervisor);
    const id = await spawn(stage);
    await stage.manager.cancel(id, 'enough');
    const refused = (await historyOf(recorder))
      .map((each) => readRecord(JSON.parse(JSON.stringify(each))))
      .filter((read) => !('record' in read) || read.unknownFields.length > 0);
    expect(refused).toEqual([]);
    await stage.manager.shutdown();
  });

  it('tells a task that is cancelled', async () => {
    const stage = setUp();
    const recorder = record(stage.manager.supervisor);
    const id = await spawn(stage);
    stage.runner.of(id).result.catch(() => undefined);
    await stage.manager.cancel(id, 'enough');
    expect([...replayed(await historyOf(recorder)).values()]).toContainEqual({
      id,
      value: 'cancelled',
      status: 'done',
    });
    await expectSameAsActors(recorder, stage.manager.supervisor);
    await stage.manager.shutdown();
  });

  it('tells actors that were there before it, and those that stop with their parent', async () => {
    const stage = setUp();
    const ids = [await spawn(stage), await spawn(stage)];
    const recorder = record(stage.manager.supervisor);
    await expectSameAsActors(recorder, stage.manager.supervisor);
    const records = await historyOf(recorder);
    expect(records.filter((each) => each.k === 'snap')).toHaveLength(3);
    expect(records.flatMap((each) => (each.k === 'actor' ? [each.id] : []))).toEqual(['tasks', ...ids]);
    await stage.manager.shutdown();
    stage.manager.supervisor.stop();
    expect([...replayed(await historyOf(recorder)).values()].filter(({ status }) => status === 'active')).toEqual([]);
    expect(recorder.statistics.actors).toBe(0);
  });

  it('meets a system of many a few at a time, and tells of what moves before it is met', async () => {
    const stage = setUp({ maxConcurrent: 5_000, maxPending: 5_000 });
    const ids = await Promise.all(Array.from({ length: 2_500 }, () => spawn(stage)));
    const recorder = record(stage.manager.supervisor);
    expect(recorder.statistics.untoldActors).toBeGreaterThan(1_000);
    stage.runner
      .of(ids.at(-1) ?? '')
      .say({ type: 'background_task_progress', progress: { currentAction: 'on the way' } });
    stage.runner.of(ids.at(-1) ?? '').resolve({});
    while (recorder.statistics.untoldActors > 0) await settled();
    await expectSameAsActors(recorder, stage.manager.supervisor);
    await stage.manager.shutdown();
  });

  it('tells a wake with its steps, a tool call under it, and the permission that it waits for', async () => {
    const tools = noteTools();
    const stage = await openTurnSetup({ tools: [tools.tool('launch', { permissionPolicy: 'always_ask' })] });
    const { supervisor } = stage.runtime.tasks;
    const recorder = record(supervisor);
    await stage.agent('worker', [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]);
    const session = await stage.start('worker');
    await stage.settle();
    await stage.confirm(session);
    await stage.settle();
    expect(tools.ran).toEqual(['launch']);
    const records = await historyOf(recorder);
    const actors = records.flatMap((each) => (each.k === 'actor' ? [each] : []));
    const wakes = actors.filter(({ kind }) => kind === 'wake');
    expect(wakes).toHaveLength(2);
    expect(wakes[0]).toMatchObject({
      chart: 'wake',
      parent: `b:${supervisor.sessionId}`,
      facts: { sessionId: session },
    });
    const call = actors.find(({ kind }) => kind === 'toolCall');
    expect(wakes.map(({ a }) => a)).toContain(call?.parent);
    expect(actors.filter(({ chart }) => chart === undefined).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['claim', 'fold', 'step', 'callTools', 'commit', 'execute']),
    );
    const taken = records.flatMap((each) => (each.k === 'step' ? each.taken : []));
    expect(taken.filter((id) => id.startsWith('claiming|done(claim)'))).toHaveLength(2);
    expect(taken).not.toContain('(unknown)');
    await expectSameAsActors(recorder, supervisor);
    expect(
      records.map((each) => readRecord(JSON.parse(JSON.stringify(each)))).filter((read) => !('record' in read)),
    ).toEqual([]);
    await stage[Symbol.asyncDispose]();
  });

  it('records several systems at once: a subagent has a supervisor of its own', async () => {
    const stage = managerSetup();
    const tasks = setUp();
    const jobs = stage.manager.getBackgroundTaskManager().supervisor;
    const recorder = record([tasks.manager.supervisor, jobs]);
    const { id } = await stage.manager.spawn(jobRequest());
    await settled();
    const found = [...replayed(await historyOf(recorder)).values()].filter((each) => each.id === id);
    expect(found).toEqual([{ id, value: { running: 'active' }, status: 'active' }]);
    stage.runner.of(id).resolve();
    await stage.manager.wait(id);
    expect([...replayed(await historyOf(recorder)).values()].find((each) => each.id === id)).toMatchObject({
      value: 'completed',
      status: 'done',
    });
    await tasks.manager.shutdown();
  });

  it('sees compiled lifecycles as it sees interpreted ones', async () => {
    const root = createActor(taskMachine, { id: 'interpreted' }).start();
    const recorder = record(root);
    const stage = setUp();
    const compiled = record(stage.manager.supervisor);
    const id = await spawn(stage);
    for (const type of ['START', 'STARTED', 'COMPLETE'] as const) root.send({ type });
    stage.runner.of(id).resolve({});
    await stage.manager.wait(id);
    const stepsOf = async (one: Recorder): Promise<unknown[]> =>
      (await historyOf(one)).flatMap((each) =>
        each.k === 'step' && each.taken.some((taken) => taken.includes('|'))
          ? [{ type: each.type, taken: each.taken, value: each.value, status: each.status }]
          : [],
      );
    expect(await stepsOf(compiled)).toEqual(await stepsOf(recorder));
    await stage.manager.shutdown();
  });

  it('does not call ignored what the logic around a chart handles itself', async () => {
    const stage = setUp();
    const recorder = record(stage.manager.supervisor);
    await spawn(stage);
    const steps = (await historyOf(recorder)).flatMap((each) =>
      each.k === 'step' && each.type === 'SUBMIT' ? [each.taken] : [],
    );
    expect(steps).toEqual([['(own logic)']]);
    await stage.manager.shutdown();
  });

  it.each([
    [
      'login --as me --key [redacted]',
      { name: 'shell_run', input: { command: 'login --as me\n  --key hunter2hunter2' } },
    ],
    [`${'x'.repeat(70)}[redacted]`, { name: 'shell_run', input: { command: `${'x'.repeat(70)}hunter2hunter2` } }],
    ['read src/cart.mjs', { name: 'read', input: { path: 'src/cart.mjs' } }],
    ['its own', { name: 'read', input: { path: 'x' }, label: 'its own' }],
  ])('calls a living call what it is about: %s', async (label, context) => {
    expect(await labelOf({ callId: 'c1', ...context })).toBe(label);
  });

  it('gives no label to what is no call, and calls no getter of an input', async () => {
    expect(await labelOf({ name: 'no call', input: { command: 'make' } })).toBeUndefined();
    const input = Object.defineProperty({}, 'path', { enumerable: true, get: () => 'from a getter' });
    expect(await labelOf({ callId: 'c1', name: 'read', input })).toBe('read');
  });

  it('records nothing more once it is detached, and keeps what it has', async () => {
    const stage = setUp();
    const recorder = record(stage.manager.supervisor);
    await spawn(stage);
    const before = await historyOf(recorder);
    recorder.detach();
    recorder.detach();
    await spawn(stage);
    expect(recorder.isAttached).toBe(false);
    expect(await historyOf(recorder)).toEqual(before);
    await stage.manager.shutdown();
  });

  it('refuses limits that make no sense', () => {
    const root = createActor(setup({}).createMachine({})).start();
    expect(() => record(root, { limits: { records: 0 } })).toThrow(/records/);
    expect(() => record(root, { limits: { many: 1 } as never })).toThrow(/many/);
  });
});
