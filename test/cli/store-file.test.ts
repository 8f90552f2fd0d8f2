/** The URL of a store in a file: neither the command line nor the environment of a worker holds its password. */
import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chosenStore, storeWords } from '../../src/cli/open/chosen-store.ts';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { run } from './command-line.ts';
import { runInProcess } from './in-process.ts';

const URL_WITH_PASSWORD = 'postgres://worker:geheim@127.0.0.1:1/none';

let folder: TemporaryHome;
let database: FreshDatabase | undefined;
beforeAll(async () => {
  folder = await temporaryHome();
});
afterEach(async () => {
  await database?.drop();
  database = undefined;
});
afterAll(() => folder.remove());

async function written(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

const fromFile = (file: string): ReturnType<typeof chosenStore> =>
  chosenStore({ given: undefined, file, environment: {} });

describe('a store whose URL is in a file', () => {
  it('is named by the first line, with its schema, and by the file where it is named again', async () => {
    const file = await written('store', `${URL_WITH_PASSWORD}?schema=team_a\r\n# the workers of machine 1\n`);
    const store = await fromFile(file);
    expect(store).toMatchObject({
      url: URL_WITH_PASSWORD,
      schema: 'team_a',
      shown: 'postgres://127.0.0.1:1/none?schema=team_a',
      isGiven: true,
    });
    expect(store === undefined ? [] : storeWords(store)).toEqual(['--store-file', file]);
    expect(await chosenStore({ given: undefined, environment: { WAKECHART_STORE_FILE: file } })).toMatchObject({
      url: URL_WITH_PASSWORD,
      isGiven: false,
    });
    expect(await fromFile(await written('home', 'files\n'))).toBeUndefined();
  });

  it('is what a command names rather than what a variable says, and one of them alone', async () => {
    const file = await written('store', URL_WITH_PASSWORD);
    const environment = { WAKECHART_STORE_FILE: file, WAKECHART_STORE: URL_WITH_PASSWORD };
    expect(await chosenStore({ given: 'files', environment })).toBeUndefined();
    expect(await chosenStore({ given: undefined, file, environment })).toMatchObject({ isGiven: true });
    await expect(chosenStore({ given: undefined, environment })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('both are set') as string,
    });
    await expect(chosenStore({ given: 'files', file, environment })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('received both') as string,
    });
  });

  it('is refused where others may read the file, where it is a link, and where it is not there', async () => {
    const open = await written('open', URL_WITH_PASSWORD, 0o640);
    const link = join(folder.path, 'link');
    await symlink(await written('store', URL_WITH_PASSWORD), link);
    await expect(fromFile(open)).rejects.toMatchObject({
      message: expect.stringContaining('can be read or changed by others (mode 640)') as string,
      hint: expect.stringContaining(`chmod 600 ${open}`) as string,
    });
    await expect(fromFile(link)).rejects.toMatchObject({ message: expect.stringContaining('is a link') as string });
    await expect(fromFile(join(folder.path, 'nowhere'))).rejects.toMatchObject({
      message: expect.stringContaining('is not there') as string,
    });
  });

  it('is never repeated in an error', async () => {
    const file = await written('wrong', 'mysql://root:geheim@host/db\n');
    const { code, stdout, stderr } = await runInProcess(['session', 'list', '--store-file', file]);
    expect([code, stdout, stderr.includes(`the first line of ${file}`), stderr.includes('geheim')]).toEqual([
      2,
      '',
      true,
      false,
    ]);
  });

  it('is worked on by a command', async () => {
    database = await migratedDatabase();
    const file = await written('real', `${database.url}\n`);
    const checked = await runInProcess(['store', 'check', '--store-file', file]);
    expect(checked).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Healthy: postgres://') as string,
    });
    expect(checked.stdout).not.toContain(new URL(database.url).password);
  });
});

describe('the command of a task', () => {
  it('is not given the URL of the store, and what else it is given is as it was', async () => {
    const env = { WAKECHART_STORE: URL_WITH_PASSWORD, OF_MINE: 'kept' };
    const { code, stdout } = await run(
      ['task', 'run', '--home', join(folder.path, 'home-of-tasks'), '--', 'echo "[$WAKECHART_STORE] [$OF_MINE]"'],
      { env },
    );
    expect([code, stdout]).toEqual([0, '[] [kept]\n']);
  });
});
