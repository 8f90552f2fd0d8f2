import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { MINUTE, START, commandTarget, openDurableStage, sessionsThat, until } from './durable-stage.ts';
import type { DurableStage, Worker } from './durable-stage.ts';

let stage: DurableStage;

beforeEach(async () => {
  stage = await openDurableStage();
});

afterEach(() => stage.close());

const state = async (id = 'nightly') => (await stage.registry.get(id)).state;

/** Lets the clock go on, slot by slot, until that many are decided. */
async function slots(count: number, id = 'nightly'): Promise<string[]> {
  const decided = async (): Promise<string[]> =>
    (await stage.outcomes(id)).filter((words) => !/ (?:claimed|queued)$/.test(words));
  for (let known = await decided(); known.length < count;) {
    await stage.clock.advance(MINUTE);
    await until(async () => (await decided()).length > known.length);
    // Whoever recorded the slot has a step to go before it is ready for the next.
    await new Promise((resolve) => setImmediate(resolve));
    known = await decided();
  }
  return stage.outcomes(id);
}

describe('a schedule of a session', () => {
  it('sends its message at each slot, and says how the last one went and when the next is', async () => {
    await stage.add();
    await stage.worker();
    expect(await slots(2)).toEqual(['00:01 fired', '00:02 fired']);
    expect(await stage.messages()).toEqual(['Check.', 'Check.']);
    expect(await stage.registry.get('nightly')).toMatchObject({
      state: { runs: 2, status: 'active', lastRun: { slot: '2026-01-01T00:02:00.000Z', outcome: 'completed' } },
      nextFireAt: '2026-01-01T00:03:00.000Z',
    });
  });

  it('keeps at it over a full queue: the slot is recorded, the next one is tried, and it is no failure', async () => {
    let isFull = true;
    const full = new RuntimeError('SESSION_QUEUE_FULL', 'the queue is full', { category: 'capacity' });
    await stage.add({ limits: { maxFailures: 1 } });
    await stage.worker({ sessions: sessionsThat(() => (isFull ? full : undefined), stage.sessions) });
    await slots(2);
    expect(await state()).toMatchObject({
      status: 'active',
      runs: 0,
      failuresInARow: 0,
      lastRun: { outcome: 'missed', note: 'the queue is full' },
    });
    isFull = false;
    expect(await slots(3)).toEqual([
      '00:01 refused (SESSION_QUEUE_FULL)',
      '00:02 refused (SESSION_QUEUE_FULL)',
      '00:03 fired',
    ]);
    expect(await stage.messages()).toEqual(['Check.']);
  });

  it('ends when its session is terminated, with that as the reason, and its task goes', async () => {
    await stage.add();
    const worker = await stage.worker();
    await stage.sessions.terminate(stage.sessionId);
    expect(await slots(1)).toEqual(['00:01 refused (SESSION_TERMINATED)']);
    await until(async () => (await state()).status === 'ended');
    expect((await state()).reason).toMatchObject({ code: 'SESSION_TERMINATED' });
    await until(
      () => worker.schedules.ids.length === 0 && worker.tasks.list({ status: ['sleeping', 'running'] }).length === 0,
    );
    await expect(stage.registry.resume('nightly')).rejects.toMatchObject({ code: 'SCHEDULE_ENDED' });
  });

  it('ends after as many runs as it may have', async () => {
    await stage.add({ limits: { maxRuns: 2 } });
    const worker = await stage.worker();
    await slots(2);
    await until(async () => (await state()).status === 'ended');
    await until(() => worker.schedules.ids.length === 0);
    await stage.clock.advance(5 * MINUTE);
    expect(await stage.messages()).toHaveLength(2);
    expect(await stage.registry.get('nightly')).toMatchObject({ state: { reason: { code: 'SCHEDULE_RUNS_DONE' } } });
  });

  it('that has ended begins anew when it is replaced', async () => {
    await stage.add({ limits: { maxRuns: 1 } });
    const worker = await stage.worker();
    await slots(1);
    await until(async () => (await state()).status === 'ended' && worker.schedules.ids.length === 0);
    await stage.registry.replace({
      id: 'nightly',
      cron: '* * * * *',
      timezone: 'UTC',
      target: { kind: 'session', sessionId: stage.sessionId, text: 'Again.' },
    });
    await worker.schedules.check();
    expect(await slots(1)).toEqual(['00:02 fired']);
    expect(await stage.messages()).toEqual(['Check.', 'Again.']);
    expect(await state()).toMatchObject({ status: 'active', runs: 1 });
  });

  it('fires nothing after its end', async () => {
    await stage.add({ limits: { until: new Date(START + 90_000).toISOString() } });
    await stage.worker();
    expect(await slots(2)).toEqual(['00:01 fired', '00:02 refused (SCHEDULE_TIME_OVER)']);
    expect(await state()).toMatchObject({ status: 'ended', reason: { code: 'SCHEDULE_TIME_OVER' } });
  });

  it('of one date ends once that has passed', async () => {
    await stage.add({ cron: '2026-01-01T00:05:00' });
    const worker = await stage.worker();
    await stage.clock.advance(6 * MINUTE);
    await until(async () => (await state()).status === 'ended');
    expect(await stage.messages()).toEqual(['Check.']);
    expect((await state()).reason?.code).toBe('SCHEDULE_EXHAUSTED');
    await until(() => worker.schedules.ids.length === 0);
  });
});

describe('a schedule of a command', () => {
  const begun = (worker: Worker, count: number): Promise<void> => until(() => worker.commands.works.length === count);

  it('runs it as a process task, and records how it ended', async () => {
    await stage.add({ target: { ...commandTarget, timeoutMs: 5_000, env: ['TOKEN'] } });
    const worker = await stage.worker({ environment: (name) => `value of ${name}` });
    await stage.clock.advance(MINUTE);
    await begun(worker, 1);
    const [work] = worker.commands.works;
    expect(work?.start.request).toMatchObject({
      kind: 'process',
      command: 'true',
      cwd: '/',
      timeoutMs: 5_000,
      mode: 'foreground',
      env: { TOKEN: 'value of TOKEN' },
    });
    expect((await state()).lastRun?.outcome).toBe('running');
    work?.resolve({ exitCode: 3, output: 'one\nno such thing\n' });
    await until(async () => (await state()).lastRun?.outcome === 'failed');
    expect(await state()).toMatchObject({ runs: 1, failuresInARow: 1, lastRun: { note: 'exit 3: no such thing' } });
  });

  it('that fails waits for its next slot, is parked after so many failures in a row, and fires again once it is resumed', async () => {
    await stage.add({ target: commandTarget, limits: { maxFailures: 3 } });
    const worker = await stage.worker();
    for (const count of [1, 2, 3]) {
      // The run before it may have a step to go: then it takes a slot more.
      await until(async () => {
        if (worker.commands.works.length < count) await stage.clock.advance(MINUTE);
        return worker.commands.works.length === count;
      });
      worker.commands.works[count - 1]?.resolve({ exitCode: 1 });
      await until(async () => (await state()).failuresInARow === count);
    }
    expect(await state()).toMatchObject({
      status: 'parked',
      reason: { code: 'SCHEDULE_FAILS', message: '3 runs in a row have failed, the last one: exit 1' },
    });
    await until(() => worker.tasks.get(worker.schedules.taskIdOf('nightly') ?? '')?.currentAction === 'paused');
    const known = (await stage.outcomes()).length;
    expect((await slots(known + 2)).slice(known, known + 2).map((words) => words.slice(6))).toEqual([
      'missed (paused)',
      'missed (paused)',
    ]);
    await stage.registry.resume('nightly');
    await worker.schedules.check();
    await stage.clock.advance(MINUTE);
    await begun(worker, 4);
    expect(await state()).toMatchObject({ status: 'active', failuresInARow: 0 });
  });

  it('is refused, and counts as failed, where the worker lacks a variable that it names', async () => {
    await stage.add({ target: { ...commandTarget, env: ['HOME_OF_NOBODY'] } });
    await stage.worker();
    expect(await slots(1)).toEqual(['00:01 refused (SCHEDULE_ENVIRONMENT)']);
    expect(await state()).toMatchObject({
      failuresInARow: 1,
      lastRun: { note: 'the worker has no variable HOME_OF_NOBODY' },
    });
  });

  it('runs on at once where the worker that ran it is known to be dead, and what that left running is ended before', async () => {
    await stage.add({ target: commandTarget });
    const dead = new Set<string>();
    const ended: number[] = [];
    const ownersOf = (name: string) => ({ newOwner: () => name, isAlive: async (owner: string) => !dead.has(owner) });
    const killed = await stage.worker({ owners: ownersOf('killed') });
    await stage.clock.advance(MINUTE);
    await begun(killed, 1);
    const other: Worker = await stage.worker({
      owners: ownersOf('other'),
      endLeft: async () => ended.push(other.commands.works.length),
    });
    dead.add('killed');
    await until(async () => {
      if (other.commands.works.length === 0) await stage.clock.advance(MINUTE);
      return other.commands.works.length === 1;
    });
    expect(ended).toEqual([0]);
    expect(await stage.outcomes()).not.toContainEqual(expect.stringContaining('SCHEDULE_OVERLAP'));
    expect((await state()).lastRun).toMatchObject({ owner: 'other', outcome: 'running' });
  });

  it('does not run a slot again whose records are gone from the end of its file', async () => {
    await stage.add({ target: commandTarget });
    const worker = await stage.worker();
    await stage.clock.advance(MINUTE);
    await begun(worker, 1);
    worker.commands.works[0]?.resolve({ exitCode: 0 });
    await until(async () => (await state()).lastRun?.outcome === 'completed');
    await worker.stop();
    const slotFiles = (await readdir(stage.directory, { recursive: true }))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(stage.directory, name));
    expect(slotFiles).toHaveLength(1);
    const path = slotFiles[0] ?? '';
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      `${text
        .split('\n')
        .filter((line) => !line.includes('"slot.'))
        .join('\n')}\n`,
    );
    const other = await stage.worker();
    await until(async () => (await stage.outcomes()).some((words) => words.includes('SCHEDULE_SLOT_DONE')));
    expect(other.commands.works).toHaveLength(0);
    expect((await state()).runs).toBe(1);
  });

  it('does not overlap itself: not here, and not in another worker', async () => {
    await stage.add({ target: commandTarget });
    const [one, other] = [await stage.worker(), await stage.worker()];
    const works = () => [...one.commands.works, ...other.commands.works];
    // One for the next slot and one for the next check, in each worker.
    const timers = 4;
    await until(() => stage.clock.pendingTimers === timers);
    await stage.clock.advance(MINUTE);
    await until(() => works().length === 1);
    for (let quarter = 0; quarter < 12; quarter += 1) {
      // Signs of life are files, and time must not run away from them: the next one is armed once the last one is
      // written.
      await until(() => stage.clock.pendingTimers === timers + 1);
      await stage.clock.advance(MINUTE / 4);
    }
    await until(async () => (await stage.outcomes()).filter((words) => !words.endsWith('claimed')).length === 4);
    expect(works()).toHaveLength(1);
    expect(
      (await stage.outcomes())
        .slice(1)
        .filter((words) => !/skipped \(overlap\)|refused \(SCHEDULE_OVERLAP\)/.test(words)),
    ).toEqual([]);
    works()[0]?.resolve({ exitCode: 0 });
    await until(async () => {
      if (works().length < 2) await stage.clock.advance(MINUTE);
      return works().length === 2;
    });
  });

  it('lets its last run finish when its runs are done', async () => {
    await stage.add({ target: commandTarget, limits: { maxRuns: 1 }, overlap: 'queue' });
    const worker = await stage.worker();
    await stage.clock.advance(MINUTE);
    await begun(worker, 1);
    await slots(1);
    await stage.clock.advance(2 * MINUTE);
    await worker.schedules.check();
    expect(worker.commands.works[0]?.isCancelled).toBe(false);
    worker.commands.works[0]?.resolve({ exitCode: 0 });
    await until(async () => (await state()).status === 'ended');
    await until(() => worker.schedules.ids.length === 0);
    expect(worker.commands.works).toHaveLength(1);
    expect((await state()).lastRun).toMatchObject({ outcome: 'completed' });
  });

  it('is cancelled with its worker, and that is no failure', async () => {
    await stage.add({ target: commandTarget });
    const worker = await stage.worker();
    await stage.clock.advance(MINUTE);
    await begun(worker, 1);
    const [work] = worker.commands.works;
    if (work !== undefined) work.onCancel = () => work.reject(new Error('gone'));
    await worker.stop();
    expect(work?.isCancelled).toBe(true);
    expect(await state()).toMatchObject({ failuresInARow: 0, lastRun: { outcome: 'cancelled' } });
    expect(stage.clock.pendingTimers).toBe(0);
  });
});

describe('a worker that runs', () => {
  it.each([
    ['hears of changes', 60 * MINUTE],
    ['finds changes that went unheard by checking now and then', 1_000],
  ])('%s: a schedule that is added, edited, paused, resumed and removed', async (_, checkIntervalMs) => {
    const worker = await stage.worker({ checkIntervalMs });
    // Where changes must be heard the clock never reaches the next check.
    const soon = (isTrue: () => boolean): Promise<void> =>
      until(async () => {
        if (checkIntervalMs < MINUTE) await stage.clock.advance(10);
        return isTrue();
      });
    const task = () => worker.tasks.get(worker.schedules.taskIdOf('nightly') ?? '');
    await stage.add({ cron: '0 5 * * *' });
    await soon(() => task()?.nextFireAt === '2026-01-01T05:00:00.000Z');
    await stage.registry.replace({
      id: 'nightly',
      cron: '30 6 * * *',
      timezone: 'Europe/Berlin',
      target: { kind: 'session', sessionId: stage.sessionId, text: 'Now.' },
    });
    await soon(() => task()?.nextFireAt === '2026-01-01T05:30:00.000Z');
    await stage.registry.pause('nightly');
    await soon(() => task()?.currentAction === 'paused');
    await stage.registry.resume('nightly');
    await soon(() => task()?.nextFireAt === '2026-01-01T05:30:00.000Z');
    await stage.registry.remove('nightly');
    await soon(() => worker.schedules.ids.length === 0 && worker.tasks.list({ status: 'sleeping' }).length === 0);
    expect(worker.troubles).toEqual([]);
  });

  it('sends what the definition says when the slot comes, not what it said at the start', async () => {
    await stage.add();
    await stage.worker();
    await stage.registry.replace({
      id: 'nightly',
      cron: '* * * * *',
      timezone: 'UTC',
      target: { kind: 'session', sessionId: stage.sessionId, text: 'Changed.' },
    });
    await slots(1);
    expect(await stage.messages()).toEqual(['Changed.']);
  });

  it('fires nothing of a schedule that was paused or removed a moment ago, though it has not heard of it', async () => {
    await stage.add();
    await stage.add({ id: 'other' });
    await stage.worker({ checkIntervalMs: 24 * 60 * MINUTE });
    const { definition: removed } = await stage.registry.get('other');
    await rm(stage.file('other'));
    await stage.registry.change((await stage.registry.get('nightly')).definition, (before) => ({
      ...before,
      status: 'paused',
    }));
    await stage.clock.advance(MINUTE);
    await until(async () =>
      (await stage.outcomes()).some((words) => /00:01 (refused \(SCHEDULE_INACTIVE\)|missed \(paused\))/.test(words)),
    );
    await until(async () =>
      ['', '00:01 refused (SCHEDULE_NOT_FOUND)'].includes((await stage.outcomesOf(removed)).at(-1) ?? ''),
    );
    expect(await stage.messages()).toEqual([]);
  });

  it('takes a schedule that was removed and added again for a new one: slots of the old one are not made up for', async () => {
    await stage.add();
    const worker = await stage.worker();
    await slots(1);
    await worker.stop();
    await stage.registry.remove('nightly');
    await stage.clock.advance(10 * MINUTE);
    await stage.add();
    const next = await stage.worker();
    await until(() => next.tasks.get(next.schedules.taskIdOf('nightly') ?? '')?.nextFireAt !== undefined);
    expect(await stage.messages()).toHaveLength(1);
    expect(await stage.outcomes()).toEqual([]);
    expect(await state()).toMatchObject({ runs: 0 });
  });

  it('runs the others when one definition is broken, tells of it once, and runs that too once it is mended', async () => {
    await stage.add();
    const good = await stage.registry.get('nightly');
    await stage.corrupt('broken', '{"v":1,');
    await stage.corrupt('strange', JSON.stringify({ ...good.definition, id: 'strange', cron: '99 * * * *' }));
    const worker = await stage.worker();
    await worker.schedules.check();
    await worker.schedules.check();
    expect(worker.schedules.ids).toEqual(['nightly']);
    expect(worker.troubles.map(({ scheduleId, error }) => [scheduleId, error.code])).toEqual([
      ['broken', 'SCHEDULE_DEFINITION_INVALID'],
      ['strange', 'SCHEDULE_EXPRESSION'],
    ]);
    await stage.corrupt('broken', JSON.stringify({ ...good.definition, id: 'broken' }));
    await worker.schedules.check();
    expect(worker.schedules.ids).toEqual(['broken', 'nightly']);
  });

  it('refuses slots of a definition that has become unreadable, and fires again once it is mended', async () => {
    await stage.add();
    const { definition } = await stage.registry.get('nightly');
    await stage.worker();
    await slots(1);
    await stage.corrupt('nightly', 'oops');
    await stage.clock.advance(MINUTE);
    const outcomes = () => stage.outcomesOf(definition);
    await until(async () => (await outcomes()).at(-1) === '00:02 refused (SCHEDULE_DEFINITION_INVALID)');
    await stage.corrupt('nightly', JSON.stringify(definition));
    expect((await slots(3)).at(-1)).toBe('00:03 fired');
    expect(await state()).toMatchObject({ failuresInARow: 0 });
  });
});

describe('workers over the same schedules', () => {
  it('send each slot once', async () => {
    await stage.add({ catchUp: { all: 100 } });
    await Promise.all([stage.worker(), stage.worker(), stage.worker()]);
    const outcomes = await slots(10);
    expect(outcomes.map((words) => words.slice(6))).toEqual(Array.from({ length: 10 }, () => 'fired'));
    expect(await stage.messages()).toHaveLength(10);
    expect(await state()).toMatchObject({ runs: 10 });
  });

  it('never run it more often than it may', async () => {
    await stage.add({ limits: { maxRuns: 3 }, catchUp: { all: 10 } });
    await stage.clock.advance(10 * MINUTE);
    await Promise.all([stage.worker(), stage.worker(), stage.worker()]);
    await until(async () => (await state()).status === 'ended');
    expect(await stage.messages()).toHaveLength(3);
  });

  it('take a run without a sign of life for dead, count it as failed and go on', async () => {
    await stage.add({ target: commandTarget });
    const { definition } = await stage.registry.get('nightly');
    const dead = {
      slot: '2026-01-01T00:01:00.000Z',
      startedAt: '2026-01-01T00:01:00.000Z',
      outcome: 'running',
      owner: 'dead',
      seenAt: '2026-01-01T00:01:00.000Z',
    } as const;
    await stage.registry.change(definition, (before) => ({ ...before, runs: 1, lastRun: dead }));
    await stage.clock.advance(150_000);
    const worker = await stage.worker();
    await until(() => worker.commands.works.length === 1);
    expect(await state()).toMatchObject({ runs: 2, failuresInARow: 1, lastRun: { outcome: 'running' } });
  });

  it('are told that a long run goes on', async () => {
    await stage.add({ target: commandTarget });
    await stage.worker();
    await stage.clock.advance(MINUTE);
    await until(async () => (await state()).lastRun?.outcome === 'running');
    await until(async () => {
      await stage.clock.advance(1_000);
      return (await state()).lastRun?.seenAt !== '2026-01-01T00:01:00.000Z';
    });
    expect(await state()).toMatchObject({
      runs: 1,
      lastRun: { outcome: 'running', startedAt: '2026-01-01T00:01:00.000Z' },
    });
  });
});

describe('a worker that starts after downtime', () => {
  it.each([
    ['latest', ['00:01 missed (down)', '00:02 missed (down)', '00:03 fired']],
    ['none', ['00:01 missed (down)', '00:02 missed (down)', '00:03 missed (down)']],
    [{ all: 2 }, ['00:01 missed (down)', '00:02 fired', '00:03 fired']],
  ] as const)(
    'makes up for the slots that passed as the policy %j says, also before any worker ran',
    async (catchUp, expected) => {
      await stage.add({ catchUp });
      await stage.clock.advance(3 * MINUTE);
      await stage.worker();
      await until(async () => JSON.stringify(await stage.outcomes()) === JSON.stringify(expected));
      expect(await stage.messages()).toHaveLength(expected.filter((words) => words.endsWith('fired')).length);
    },
  );

  it('makes up for no slot that passed while it was paused, though it was resumed with no worker there', async () => {
    await stage.add();
    await stage.registry.pause('nightly');
    await stage.clock.advance(3 * MINUTE);
    await stage.registry.resume('nightly');
    await stage.worker();
    expect(await slots(2)).toEqual(['up to 00:03 missed (paused)', '00:04 fired']);
  });

  it('puts right what a crash between two records of a change has left', async () => {
    await stage.add();
    await stage.registry.pause('nightly');
    const { definition } = await stage.registry.get('nightly');
    await stage.registry.change(definition, (before) => ({ ...before, status: 'active' }));
    await stage.worker();
    expect(await slots(1)).toEqual(['00:01 fired']);
  });
});
