/** What a recorder keeps, what it says of the rest, and who hears of it when. */
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createRecorder } from '../../../src/actors/inspection/recorder.ts';
import type { Recorder, RecorderOptions } from '../../../src/actors/inspection/recorder.ts';
import type { BackgroundTaskManagerOptions } from '../../../src/actors/task/task-manager-options.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { settled } from '../../support/manual-runner.ts';
import { setUp } from '../../support/task-setup.ts';
import type { TaskSetup } from '../../support/task-setup.ts';
import { historyOf, replayed } from './replay.ts';

const made: { readonly recorder: Recorder; readonly setup: TaskSetup }[] = [];
function open(
  limits: RecorderOptions['limits'] = {},
  options: BackgroundTaskManagerOptions = {},
): { readonly recorder: Recorder; readonly setup: TaskSetup; run(): Promise<string> } {
  const setup = setUp(options);
  const recorder = createRecorder({ root: setup.manager.supervisor, clock: createSimulatedClock(), limits });
  made.push({ recorder, setup });
  const run = async (): Promise<string> => {
    const { id } = await setup.manager.spawn({
      kind: 'process',
      label: 'x',
      parentSessionId: 's',
      cwd: '/',
      command: 'true',
    });
    setup.runner.of(id).resolve({});
    await setup.manager.wait(id);
    return id;
  };
  return { recorder, setup, run };
}
afterEach(async () => {
  for (const { recorder, setup } of made.splice(0)) {
    recorder.detach();
    await setup.manager.shutdown();
  }
});

describe('a recorder with space for few records', () => {
  it.each([{ records: 25 }, { characters: 5_000 }])(
    'keeps the newest within %j, and tells before them who was there: the end is the same',
    async (limits) => {
      const small = open(limits);
      const { id } = await small.setup.manager.spawn({
        kind: 'process',
        label: 'long',
        parentSessionId: 's',
        cwd: '/',
        command: 'true',
      });
      for (let count = 0; count < 20; count += 1) await small.run();
      const { keptRecords, keptCharacters, records } = small.recorder.statistics;
      expect(keptRecords).toBeLessThanOrEqual(limits.records ?? 40);
      expect(keptCharacters).toBeLessThanOrEqual(limits.characters ?? 5_000);
      const history = await historyOf(small.recorder);
      expect(history.map(({ s }) => s)).toEqual(history.map((_, index) => records - history.length + 1 + index));
      expect(small.recorder.range()).toEqual({ first: history[0]?.s, last: records });
      expect(history.slice(0, 2).map(({ k }) => k)).toEqual(['machine', 'machine']);
      const active = [...replayed(history).values()].filter(({ status }) => status === 'active');
      expect(active).toEqual([
        { id: 'tasks', value: 'accepting', status: 'active' },
        { id, value: { running: 'active' }, status: 'active' },
      ]);
      expect(small.recorder.chart('task')?.id).toBe('task');
    },
  );

  it('gives from a number on exactly what is left from there', async () => {
    const { recorder, run } = open({ records: 25 });
    for (let count = 0; count < 5; count += 1) await run();
    const { last } = recorder.range();
    expect((await historyOf(recorder, last - 3)).map(({ s }) => s)).toEqual([last - 3, last - 2, last - 1, last]);
    expect(await historyOf(recorder, last + 1)).toEqual([]);
  });
});

describe('a recorder that has lost the beginning of many actors', () => {
  it('tells how they stand in pages, and leaves those out who end while it is read', async () => {
    const { recorder, setup } = open({ records: 100 }, { maxConcurrent: 3_000 });
    const ids: string[] = [];
    for (let count = 0; count < 2_500; count += 1)
      ids.push(
        (await setup.manager.spawn({ kind: 'process', label: 'x', parentSessionId: 's', cwd: '/', command: 'true' }))
          .id,
      );
    const whole = await historyOf(recorder);
    expect(whole.map(({ s }) => s)).toEqual(whole.map((_, index) => recorder.range().first + index));
    expect([...replayed(whole).values()].filter(({ status }) => status === 'active').map(({ id }) => id)).toEqual([
      'tasks',
      ...ids,
    ]);
    const pages: (readonly InspectionRecord[])[] = [];
    for await (const page of recorder.records(1)) {
      if (pages.length === 0) for (const id of ids.slice(2_000, 2_200)) await setup.manager.cancel(id, 'enough');
      pages.push(page);
    }
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(1_000);
    const told = pages.flat();
    expect(told.map(({ s }) => s)).toEqual(told.map(({ s }) => s).toSorted((one, other) => one - other));
    const known = new Set(told.flatMap((each) => (each.k === 'actor' ? [each.id] : [])));
    expect(ids.slice(2_000, 2_100).filter((id) => known.has(id))).toEqual([]);
    expect(ids.slice(0, 2_000).filter((id) => !known.has(id))).toEqual([]);
  });
});

describe('a follower', () => {
  it('is told once for each turn, and finds there what the turn has brought', async () => {
    const { recorder, run } = open();
    await settled();
    const { last } = recorder.range();
    const found: number[] = [];
    const leave = recorder.follow(() => found.push(recorder.range().last));
    await run();
    await settled();
    await run();
    await settled();
    expect(found.at(-1)).toBe(recorder.range().last);
    expect(found).toEqual([...new Set(found)]);
    expect(found.length).toBeLessThan((recorder.range().last - last) / 4);
    leave();
    leave();
    await run();
    await settled();
    expect(found.at(-1)).toBeLessThan(recorder.range().last);
  });

  it('is not told of turns in which nothing was recorded', async () => {
    const { recorder, run } = open();
    await settled();
    let told = 0;
    recorder.follow(() => (told += 1));
    await settled();
    expect(told).toBe(0);
    await run();
    await settled();
    expect(told).toBeGreaterThan(0);
  });

  it('of a turn with very many records reads all of them, whole and in order', async () => {
    const { recorder, run } = open({}, { maxConcurrent: 2_000 });
    await settled();
    const first = recorder.range().last + 1;
    const heard: number[] = [];
    let reading = Promise.resolve();
    recorder.follow(() => {
      reading = reading.then(async () => {
        for await (const page of recorder.records((heard.at(-1) ?? first - 1) + 1))
          heard.push(...page.map(({ s }) => s));
      });
    });
    await Promise.all(Array.from({ length: 2_000 }, () => run()));
    await settled();
    await reading;
    expect(heard).toEqual(heard.map((_, index) => first + index));
    expect(heard.at(-1)).toBe(recorder.range().last);
  });
});
