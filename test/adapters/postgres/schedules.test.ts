/**
 * Schedules in PostgreSQL do what those in files do, for workers on many machines and over a network that loses
 * answers.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { PostgresDatabase } from '../../../src/adapters/postgres/postgres-database.ts';
import { createPostgresScheduleDefinitions } from '../../../src/adapters/postgres/schedule-definitions.ts';
import { createPostgresScheduleStates } from '../../../src/adapters/postgres/schedule-states.ts';
import { createPostgresScheduleStore } from '../../../src/adapters/postgres/schedule-store.ts';
import {
  claimed,
  describeScheduleStore,
  fired,
  minute,
  planned,
  recordsOf,
} from '../../actors/schedule/schedule-store-contract.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import {
  definitionOf,
  describeScheduleDefinitions,
  describeScheduleStates,
  stateAfter,
} from '../../contracts/schedule-places.contract.ts';
import { ask } from '../../support/postgres-databases.ts';
import { unreliableProxy } from '../../support/postgres-proxy.ts';
import { cutConnections } from '../../support/postgres-server.ts';
import { losingAnswers, openSharedTables } from '../../support/shared-tables.ts';
import type { SharedTables } from '../../support/shared-tables.ts';

let tables: SharedTables;
beforeAll(async () => void (tables = await openSharedTables()));
beforeEach(() => tables.clear());
afterAll(() => tables.drop());

/** One worker after another. */
let turns = 0;
const anyWorker = (): PostgresDatabase => ((turns += 1) % 2 === 0 ? tables.one : tables.other);
const store = (database: PostgresDatabase, foldEvery?: number): ScheduleStore =>
  createPostgresScheduleStore({ database, foldEvery });
const definitions = (database: PostgresDatabase) =>
  createPostgresScheduleDefinitions({ database, clock: createSystemClock(), pollMs: 5 });

describeScheduleStore('a database', (beside) => store(beside === undefined ? tables.one : tables.other));
describeScheduleStore('a database in which records are soon added up', () => store(anyWorker(), 2));
describeScheduleStore('a database whose answers are lost', () => store(losingAnswers(anyWorker())));
describeScheduleDefinitions('in a database', () => definitions(anyWorker()));
describeScheduleDefinitions('in a database whose answers are lost', () => definitions(losingAnswers(anyWorker())));
describeScheduleStates('in a database', () => createPostgresScheduleStates({ database: anyWorker() }));
describeScheduleStates('in a database whose answers are lost', () =>
  createPostgresScheduleStates({ database: losingAnswers(anyWorker()) }),
);

describe('the slots of schedules in a database', () => {
  it('are each had by exactly one of several workers who want all of them at the same time', async () => {
    const workers = [
      store(tables.one, 7),
      store(tables.other, 7),
      store(losingAnswers(tables.one)),
      store(losingAnswers(tables.other)),
    ];
    const held = await Promise.all(
      workers.map(async (worker, owner) => {
        const slots: number[] = [];
        for (let slot = 1; slot <= 25; slot += 1)
          if (
            (await worker.append('nightly', [claimed(slot, `run_${owner}`), fired(slot, `run_${owner}`)]))[0] === true
          )
            slots.push(slot);
        return slots;
      }),
    );
    expect(held.flat().toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
    expect(await recordsOf(store(tables.one), 'nightly')).toHaveLength(200);
    expect((await store(tables.other).load('nightly')).claims).toEqual([]);
  });

  it('are stored once and truly answered when others have added them up before the answer came', async () => {
    const late = store({
      ...tables.one,
      schema: tables.one.schema,
      async run<Row>(statement: string, values?: readonly unknown[]): Promise<readonly Row[]> {
        const first = await tables.one.run<Row>(statement, values);
        if (!statement.includes('append_schedule_records_1')) return first;
        for (let slot = 10; slot <= 14; slot += 1) await store(tables.other, 2).append('nightly', [claimed(slot, 'b')]);
        return tables.one.run<Row>(statement, values);
      },
    });
    await store(tables.other).append('nightly', [planned(), claimed(1, 'b')]);
    expect(await late.append('nightly', [claimed(1, 'a'), claimed(2, 'a')])).toEqual([false, true]);
    expect(await recordsOf(store(tables.one), 'nightly')).toHaveLength(9);
  });

  it('survive connections that are cut while they are claimed', async () => {
    const workers = [store(tables.one), store(tables.other)];
    let isDone = false;
    const cutting = (async () => {
      while (!isDone) await cutConnections(tables.url);
    })();
    const held: boolean[] = [];
    for (let slot = 1; slot <= 15; slot += 1)
      held.push(
        ...(
          await Promise.all(workers.map((worker, owner) => worker.append('nightly', [claimed(slot, `run_${owner}`)])))
        ).flat(),
      );
    isDone = true;
    await cutting;
    expect(held.filter((answer) => answer)).toHaveLength(15);
    expect(await recordsOf(store(tables.one), 'nightly')).toHaveLength(30);
  });

  it('are claimed once although the network loses the answer', async () => {
    const proxy = await unreliableProxy({ to: tables.url });
    try {
      const far = store(await tables.connect(proxy.url));
      await far.append('nightly', [planned()]);
      proxy.loseAnswerOf(1);
      expect(await far.append('nightly', [claimed(1)])).toEqual([true]);
      expect(await recordsOf(store(tables.one), 'nightly')).toEqual([planned(), claimed(1)]);
    } finally {
      await proxy.stop();
    }
  });

  it('are left to whoever comes after a worker that died between claim and fire, as with files', async () => {
    await store(tables.one).append('nightly', [planned(), claimed(1, 'died')]);
    const next = store(tables.other);
    expect((await next.load('nightly')).claims).toEqual([{ slot: minute(1), owner: 'died', interrupted: false }]);
    expect(
      await next.append('nightly', [{ v: 1, type: 'slot.interrupted', at: minute(2), slot: minute(1), owner: 'next' }]),
    ).toEqual([true]);
    expect(await store(tables.one).append('nightly', [claimed(1, 'zombie'), claimed(2, 'zombie')])).toEqual([
      false,
      true,
    ]);
  });

  it('cost the same to read, however long their history is', async () => {
    const long = store(tables.one, 16);
    for (let slot = 1; slot <= 40; slot += 1) await long.append('nightly', [claimed(slot), fired(slot)]);
    const [row] = await ask<{ readonly open: string }>(
      tables.url,
      'SELECT head - folded_through AS open FROM wakechart.schedule_log',
    );
    expect(Number(row?.open)).toBeLessThan(16);
    expect((await store(tables.other).load('nightly')).through).toBe(minute(40));
    expect(await recordsOf(store(tables.other), 'nightly')).toHaveLength(80);
  });

  it('are not guessed where a newer version has recorded something else: that could fire one twice', async () => {
    await store(tables.one).append('nightly', [claimed(1)]);
    await ask(tables.url, `UPDATE wakechart.schedule_record SET body = replace(body, '"v":1', '"v":2')`);
    const older = store(tables.other);
    for (const work of [
      () => older.load('nightly'),
      () => older.append('nightly', [claimed(1, 'b')]),
      () => recordsOf(older, 'nightly'),
    ]) {
      await expect(work()).rejects.toMatchObject({ category: 'storage', code: 'SCHEDULE_STORE_VERSION' });
    }
  });
});

describe('definitions in a database', () => {
  it('are removed by exactly one of many', async () => {
    await definitions(tables.one).add(definitionOf());
    const tries = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(definitions(losingAnswers(anyWorker())).remove('nightly'))),
    );
    expect(tries.filter((code) => code === 'SCHEDULE_NOT_FOUND')).toHaveLength(7);
  });

  it.each([
    ['half of it', '{"v":1,"id":"bad"'],
    ['something else', '[1,2]'],
    ['a version that is not known', JSON.stringify({ ...definitionOf('bad'), v: 2 })],
    ['another id', JSON.stringify(definitionOf('good'))],
  ])('that hold %s are listed with what is wrong, and hide no other', async (_, body) => {
    await definitions(tables.one).add(definitionOf('bad'));
    await definitions(tables.one).add(definitionOf('good'));
    await ask(tables.url, `UPDATE wakechart.schedule_definition SET body = $1 WHERE key = 'bad'`, [body]);
    const [bad, good] = await definitions(tables.other).list();
    expect(bad).toMatchObject({ id: 'bad', error: { code: 'SCHEDULE_DEFINITION_INVALID' } });
    expect(good).toEqual({ id: 'good', definition: definitionOf('good') });
    expect(await codeOf(definitions(tables.other).get('bad'))).toBe('SCHEDULE_DEFINITION_INVALID');
  });

  it('are watched through the absence of the database', async () => {
    const proxy = await unreliableProxy({ to: tables.url });
    let heard = 0;
    const heardMore = async (before: number): Promise<void> => {
      while (heard === before) await new Promise((resolve) => setImmediate(resolve));
    };
    const end = definitions(await tables.connect(proxy.url)).watch(() => (heard += 1));
    try {
      await heardMore(0);
      proxy.refuse(true);
      proxy.cut();
      const before = heard;
      await definitions(tables.one).add(definitionOf());
      proxy.refuse(false);
      await heardMore(before);
      expect(heard).toBe(before + 1);
    } finally {
      end();
      await proxy.stop();
    }
  });
});

describe('states of schedules in a database', () => {
  it('that cannot be read are an error, not a fresh start', async () => {
    await createPostgresScheduleStates({ database: tables.one }).record(definitionOf(), 0, stateAfter(1));
    await ask(tables.url, `UPDATE wakechart.schedule_standing SET body = '{"v":1'`);
    await expect(createPostgresScheduleStates({ database: tables.other }).load(definitionOf())).rejects.toMatchObject({
      category: 'storage',
      code: 'SCHEDULE_STORE',
    });
  });

  it('are not replaced by who slept while others replaced them', async () => {
    const states = createPostgresScheduleStates({ database: tables.one });
    for (let revision = 0; revision < 40; revision += 1)
      await states.record(definitionOf(), revision, stateAfter(revision + 1));
    expect(await states.record(definitionOf(), 10, stateAfter(999))).toBe(false);
    expect(await states.load(definitionOf())).toEqual({ revision: 40, state: stateAfter(40) });
  });
});
