/** What becomes of what sessions work in when they are copied to another store, or deleted. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ask } from '../../support/postgres-databases.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';
import { records } from './command-line.ts';
import { Stage, sleeps } from './stage.ts';
import type { StagedSession } from './stage.ts';

let stage: Stage;
const databases: FreshDatabase[] = [];
afterEach(async () => {
  await stage.close();
  for (const each of databases.splice(0)) await each.drop();
});

async function database(): Promise<string> {
  const fresh = await migratedDatabase();
  databases.push(fresh);
  return fresh.url;
}

/** A session in the database that has been woken once over a folder with a file, and whose folder here is gone. */
async function copiedOnly(url: string): Promise<StagedSession> {
  const session = await stage.sessionToWake(sleeps('Woken.'), sleeps('Again.'));
  await mkdir(join(session.workspace, 'deep'), { recursive: true });
  await writeFile(join(session.workspace, 'deep', 'work'), 'of one');
  const there = await stage.run('store', 'copy', '--from', 'files', '--to', url);
  expect(there).toMatchObject({ code: 0, stderr: expect.stringContaining(`session ${session.id} was copied without its folder, which is ${session.workspace}`) as string });
  expect(there.stdout).toContain('Folders of sessions: 0 copied, 1 left where they are');
  expect(await stage.run('wake', '--session', session.id, '--store', url)).toMatchObject({ code: 0 });
  return session;
}

it('goes along from one database to another, so that a machine that has nothing finds it, and is told of where it cannot', async () => {
  stage = await Stage.open();
  const [one, two] = [await database(), await database()];
  const { id, workspace } = await copiedOnly(one);
  const home = await stage.run('store', 'copy', '--from', one, '--to', join(stage.home, 'back'), '--json');
  expect(records(home.stdout).at(-1)).toMatchObject({ copied: 1, folders: { copied: 0, left: [{ sessionId: id, where: expect.stringMatching(/^on .+ and in postgres:/) as string }] } });
  for (const kind of ['copied', 'unchanged']) {
    const lines = records((await stage.run('store', 'copy', '--from', one, '--to', two, '--json')).stdout);
    expect(lines).toMatchObject([{ session: { kind } }, { folders: { copied: 1, left: [] } }]);
  }
  await rm(workspace, { recursive: true });
  for (const words of [['session', 'let-go', '--session', id, '--yes'], ['session', 'send', '--session', id, '--message', 'Go on.'], ['wake', '--session', id]]) {
    expect(await stage.run(...words, '--store', two)).toMatchObject({ code: 0 });
  }
  expect(await readFile(join(workspace, 'deep', 'work'), 'utf8')).toBe('of one');
});

it('is named and not made due where a piece of its copy is missing, and goes with a session that is deleted', async () => {
  stage = await Stage.open();
  const [one, two] = [await database(), await database()];
  const { id, workspace } = await copiedOnly(one);
  await stage.run('session', 'send', '--session', id, '--message', 'Go on.', '--store', one);
  await ask(one, 'DELETE FROM wakechart.hand_piece WHERE length(bytes) = 6');
  const broken = await stage.run('store', 'copy', '--from', one, '--to', two);
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/HAND_COPY_DAMAGED/) as string });
  expect(await ask(two, 'SELECT count(*)::int AS due FROM wakechart.activation')).toEqual([{ due: 0 }]);
  await stage.run('session', 'terminate', '--session', id, '--store', one);
  const prune = ['store', 'prune', '--ended-before', '0m', '--export-to', join(stage.home, 'archive'), '--store', one];
  expect((await stage.run(...prune)).stdout).toContain('With 1 session of them the copy of its folder goes, which no export holds');
  expect(await stage.run(...prune, '--yes')).toMatchObject({ code: 0 });
  expect(await readFile(join(workspace, 'deep', 'work'), 'utf8')).toBe('of one');
  expect(await ask(one, 'SELECT (SELECT count(*) FROM wakechart.hand)::int AS hands, (SELECT count(*) FROM wakechart.hand_piece)::int AS pieces, (SELECT count(*) FROM wakechart.hand_added)::int AS added')).toEqual([{ hands: 0, pieces: 0, added: 0 }]);
});
