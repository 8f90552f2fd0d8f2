import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileScheduleDefinitions } from '../../../src/adapters/schedule-files/schedule-definitions.ts';
import { createFileScheduleStandings } from '../../../src/adapters/schedule-files/schedule-standings.ts';
import { newStanding } from '../../../src/machines/schedule/durable-standing.ts';
import { scheduleDefinition } from '../../../src/machines/schedule/schedule-definition.ts';
import type { ScheduleDefinition } from '../../../src/machines/schedule/schedule-definition.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'definitions-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const definition = (id = 'nightly', cron = '0 1 * * *'): ScheduleDefinition =>
  scheduleDefinition.parse({
    v: 1,
    id,
    cron,
    timezone: 'UTC',
    target: { kind: 'command', command: 'true', cwd: '/' },
    createdAt: '2026-01-01T00:00:00.000Z',
    series: '5c8d4dbd-dae5-4fe8-96e4-92fa2f4b61b1',
  });

const folder = (): string => join(directory, 'definitions');

describe('definitions in files', () => {
  it('are there for whoever looks next, private, and leave no drafts', async () => {
    await createFileScheduleDefinitions({ directory }).add(definition());
    const definitions = createFileScheduleDefinitions({ directory });
    expect(await definitions.list()).toEqual([{ id: 'nightly', definition: definition() }]);
    expect(await definitions.get('nightly')).toEqual(definition());
    expect((await stat(join(folder(), 'nightly.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect(await readdir(folder())).toEqual(['nightly.json']);
  });

  it('are none where nobody has added any, and looking makes no folder', async () => {
    const definitions = createFileScheduleDefinitions({ directory });
    expect(await definitions.list()).toEqual([]);
    await expect(definitions.get('nightly')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    await expect(definitions.remove('nightly')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    await definitions.ring('nightly');
    expect(await readdir(directory)).toEqual([]);
  });

  it('of one id are added once, by one of many at the same time', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 20 }, (_, minute) => createFileScheduleDefinitions({ directory }).add(definition('raced', `${minute} 1 * * *`))));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(tries.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : []))).toEqual(Array.from({ length: 19 }, () => 'SCHEDULE_EXISTS'));
  });

  it('are seen whole while they are replaced', async () => {
    const definitions = createFileScheduleDefinitions({ directory });
    await definitions.add(definition());
    let isDone = false;
    const writing = (async () => {
      for (let minute = 0; minute < 30; minute += 1) await definitions.replace(definition('nightly', `${minute} 1 * * *`));
      isDone = true;
    })();
    while (!isDone) expect((await definitions.list()).map((listing) => 'definition' in listing)).toEqual([true]);
    await writing;
  });

  it.each([
    ['half of it', '{"v":1,"id":"bad"'],
    ['nothing', ''],
    ['something else', '[1,2]'],
    ['a version that is not known', JSON.stringify({ ...definition('bad'), v: 2 })],
    ['a field too many', JSON.stringify({ ...definition('bad'), secret: 'x' })],
    ['another id', JSON.stringify(definition('good'))],
    ['no text', Buffer.from([0xff, 0xfe, 0x00])],
  ])('that hold %s are listed with what is wrong, and hide no other', async (_, content) => {
    const definitions = createFileScheduleDefinitions({ directory });
    await definitions.add(definition('good'));
    await writeFile(join(folder(), 'bad.json'), content);
    const [bad, good] = await definitions.list();
    expect(bad).toMatchObject({ id: 'bad', error: { code: 'SCHEDULE_DEFINITION_INVALID' } });
    expect(good).toEqual({ id: 'good', definition: definition('good') });
    await expect(definitions.get('bad')).rejects.toMatchObject({ code: 'SCHEDULE_DEFINITION_INVALID' });
    await definitions.replace(definition('bad'));
    expect(await definitions.get('bad')).toEqual(definition('bad'));
  });

  it('that are no files are listed with what is wrong, and what is none of ours is passed over', async () => {
    const definitions = createFileScheduleDefinitions({ directory });
    await definitions.add(definition('good'));
    await mkdir(join(folder(), 'folder.json'));
    await symlink(join(folder(), 'loop.json'), join(folder(), 'loop.json'));
    await writeFile(join(folder(), 'notes.txt'), 'hello');
    await writeFile(join(folder(), '.good.json.5c8d.draft'), '{');
    expect((await definitions.list()).map((listing) => [listing.id, 'error' in listing])).toEqual([
      ['folder', true],
      ['good', false],
      ['loop', true],
    ]);
  });

  it.each(['../definitions/good', 'a/b', '', '.', 'UPPER'])('are never looked for outside of their folder, as under %j', async (id) => {
    const definitions = createFileScheduleDefinitions({ directory });
    await definitions.add(definition('good'));
    await expect(definitions.get(id)).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    await expect(definitions.remove(id)).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
  });

  it('tell those who watch of what is added, rung for and removed, by anybody', async () => {
    const [mine, theirs] = [createFileScheduleDefinitions({ directory }), createFileScheduleDefinitions({ directory })];
    let heard = 0;
    const heardMore = async (work: () => Promise<void>): Promise<void> => {
      const before = heard;
      await work();
      while (heard === before) await new Promise((resolve) => setImmediate(resolve));
    };
    let end: () => void = () => undefined;
    await heardMore(async () => {
      end = mine.watch(() => (heard += 1));
    });
    await heardMore(() => theirs.add(definition()));
    await heardMore(() => theirs.ring('nightly'));
    await heardMore(() => theirs.remove('nightly'));
    end();
    expect(heard).toBeGreaterThanOrEqual(4);
  });

  it('say so when a file is in the way of the folder', async () => {
    await writeFile(folder(), '');
    const definitions = createFileScheduleDefinitions({ directory });
    await expect(definitions.add(definition())).rejects.toMatchObject({ code: 'SCHEDULE_STORE' });
    await expect(definitions.list()).rejects.toMatchObject({ code: 'SCHEDULE_STORE' });
  });
});

describe('standings in files', () => {
  const standing = (runs: number) => ({ ...newStanding('2026-01-01T00:00:00.000Z'), runs });

  it('are replaced by one of many who have seen the same', async () => {
    const stores = Array.from({ length: 8 }, () => createFileScheduleStandings({ directory }));
    const add = async (store: (typeof stores)[number]): Promise<void> => {
      for (let count = 0; count < 10; ) {
        const { revision, standing: before } = (await store.load(definition())) ?? { revision: 0, standing: standing(0) };
        if (await store.record(definition(), revision, standing(before.runs + 1))) count += 1;
      }
    };
    await Promise.all(stores.map(add));
    expect(await createFileScheduleStandings({ directory }).load(definition())).toEqual({ revision: 80, standing: standing(80) });
  });

  it('are kept by the newest, and of the older ones only the last', async () => {
    const store = createFileScheduleStandings({ directory });
    for (let revision = 0; revision < 100; revision += 1) await store.record(definition(), revision, standing(revision + 1));
    const [name = ''] = await readdir(join(directory, 'standings'));
    expect((await readdir(join(directory, 'standings', name))).length).toBe(64);
    expect(await store.load(definition())).toEqual({ revision: 100, standing: standing(100) });
    // A writer that slept since revision 10.
    expect(await store.record(definition(), 10, standing(999))).toBe(false);
    expect(await store.load(definition())).toEqual({ revision: 100, standing: standing(100) });
  });

  it('that cannot be read are an error, not a fresh start', async () => {
    const store = createFileScheduleStandings({ directory });
    await store.record(definition(), 0, standing(1));
    const [name = ''] = await readdir(join(directory, 'standings'));
    await writeFile(join(directory, 'standings', name, '000000000001.json'), '{"v":1');
    await expect(store.load(definition())).rejects.toMatchObject({ category: 'storage' });
  });

  it('are none of a schedule that nobody has recorded', async () => {
    expect(await createFileScheduleStandings({ directory }).load(definition())).toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });
});
