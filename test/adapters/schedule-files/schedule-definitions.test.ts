import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileScheduleDefinitions } from '../../../src/adapters/schedule-files/schedule-definitions.ts';
import { createFileScheduleStates } from '../../../src/adapters/schedule-files/schedule-states.ts';
import {
  definitionOf as definition,
  describeScheduleDefinitions,
  describeScheduleStates,
  stateAfter as state,
} from '../../contracts/schedule-places.contract.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'definitions-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const folder = (): string => join(directory, 'definitions');

describeScheduleDefinitions('in files', () => createFileScheduleDefinitions({ directory }));
describeScheduleStates('in files', () => createFileScheduleStates({ directory }));

describe('definitions in files', () => {
  it('are private, and leave no drafts', async () => {
    await createFileScheduleDefinitions({ directory }).add(definition());
    expect((await stat(join(folder(), 'nightly.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect(await readdir(folder())).toEqual(['nightly.json']);
  });

  it('make no folder for those who only check', async () => {
    const definitions = createFileScheduleDefinitions({ directory });
    expect(await definitions.list()).toEqual([]);
    await definitions.ring('nightly');
    expect(await readdir(directory)).toEqual([]);
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

  it('say so when a file is in the way of the folder', async () => {
    await writeFile(folder(), '');
    const definitions = createFileScheduleDefinitions({ directory });
    await expect(definitions.add(definition())).rejects.toMatchObject({ code: 'SCHEDULE_STORE' });
    await expect(definitions.list()).rejects.toMatchObject({ code: 'SCHEDULE_STORE' });
  });
});

describe('states in files', () => {
  it('are kept by the newest, and of the older ones only the last', async () => {
    const store = createFileScheduleStates({ directory });
    for (let revision = 0; revision < 100; revision += 1)
      await store.record(definition(), revision, state(revision + 1));
    const [name = ''] = await readdir(join(directory, 'standings'));
    expect((await readdir(join(directory, 'standings', name))).length).toBe(64);
    expect(await store.load(definition())).toEqual({ revision: 100, state: state(100) });
    // A writer that slept since revision 10.
    expect(await store.record(definition(), 10, state(999))).toBe(false);
    expect(await store.load(definition())).toEqual({ revision: 100, state: state(100) });
  });

  it('that cannot be read are an error, not a fresh start', async () => {
    const store = createFileScheduleStates({ directory });
    await store.record(definition(), 0, state(1));
    const [name = ''] = await readdir(join(directory, 'standings'));
    await writeFile(join(directory, 'standings', name, '000000000001.json'), '{"v":1');
    await expect(store.load(definition())).rejects.toMatchObject({ category: 'storage' });
  });

  it('make no folder for those who only check', async () => {
    expect(await createFileScheduleStates({ directory }).load(definition())).toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });
});
