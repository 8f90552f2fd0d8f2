/** What becomes of what sessions work in when they are copied to another store, or deleted. */
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { FileEnvironmentCatalog } from '../../src/adapters/environment-files/file-environment-catalog.ts';
import { ask } from '../support/postgres-databases.ts';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { records } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { Stage, sleeps } from './stage.ts';
import type { StagedSession } from './stage.ts';

let stage: Stage;
const databases: FreshDatabase[] = [];
const homes: TemporaryHome[] = [];
afterEach(async () => {
  await stage.close();
  for (const each of homes.splice(0)) await each.remove();
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
  expect(there).toMatchObject({ code: 0, stderr: '' });
  expect(there.stdout).toContain('Folders of sessions: 1 copied, 0 left where they are');
  expect(await stage.run('wake', '--session', session.id, '--store', url)).toMatchObject({ code: 0 });
  return session;
}

/** Another machine with the same agents and none of the sessions. */
async function machine(): Promise<{ readonly home: string; run(...words: readonly string[]): Promise<Ended> }> {
  const folder = await temporaryHome();
  homes.push(folder);
  await cp(join(stage.home, 'agents'), join(folder.path, 'agents'), {
    recursive: true,
    filter: (path) => !path.endsWith('/sessions'),
  });
  await new FileEnvironmentCatalog({ home: folder.path }).create('bound', 'sandbox: off\nhostBound: true\n');
  return { home: folder.path, run: (...words) => runInProcess([...words, '--home', folder.path]) };
}

/**
 * All that lies in a folder, without what every wake lays out again: modes, where links lead, and the SHA-256 of what
 * is in files.
 */
async function filesOf(directory: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(directory.length + 1);
    if (name.startsWith('.wakechart-runtime') && !name.includes('attachments')) continue;
    if (entry.isSymbolicLink()) found[name] = `-> ${await readlink(path)}`;
    else if (entry.isDirectory()) found[name] = 'folder';
    else
      found[name] = `${((await stat(path)).mode & 0o777).toString(8)} ${createHash('sha256')
        .update(await readFile(path))
        .digest('hex')}`;
  }
  return found;
}

/** One that has worked in its folder, in a home alone, and came to a file with a message. */
async function worked(): Promise<StagedSession> {
  const session = await stage.sessionToWake(
    sleeps('Woken.'),
    sleeps('Again.'),
    sleeps('Once more.'),
    sleeps('And again.'),
  );
  const sent = join(stage.home, 'sent.bin');
  await writeFile(sent, Buffer.from([0, 255, 10, 13, 128]));
  expect(
    await stage.run('session', 'send', '--session', session.id, '--message', 'See this.', '--attach', sent),
  ).toMatchObject({ code: 0 });
  expect(await stage.run('wake', '--session', session.id)).toMatchObject({ code: 0 });
  await mkdir(join(session.workspace, 'out', 'empty'), { recursive: true });
  await writeFile(join(session.workspace, 'out', 'large.bin'), Buffer.alloc(2_500_000, 'wakechart'));
  await writeFile(join(session.workspace, 'out', 'run.sh'), '#!/bin/sh\n');
  await chmod(join(session.workspace, 'out', 'run.sh'), 0o755);
  await symlink('run.sh', join(session.workspace, 'out', 'link'));
  return session;
}

it('comes from a home to a database, is laid out where the session is woken first, and comes back to the home with what was done there', async () => {
  stage = await Stage.open();
  const url = await database();
  const { id, workspace } = await worked();
  const before = await filesOf(workspace);
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      'out/empty',
      'out/large.bin',
      'out/link',
      expect.stringMatching(/attachments\/.*\.bin$/) as string,
    ]),
  );
  for (const kind of ['copied', 'unchanged']) {
    const there = records((await stage.run('store', 'copy', '--from', 'files', '--to', url, '--json')).stdout);
    expect(there).toMatchObject([{ session: { kind } }, { folders: { copied: 1, left: [], aside: [] } }]);
  }
  expect(await filesOf(workspace)).toEqual(before);
  const other = await machine();
  const elsewhere = workspace.replace(stage.home, other.home);
  for (const words of [
    ['session', 'send', '--session', id, '--message', 'Go on.'],
    ['wake', '--session', id],
  ])
    expect(await other.run(...words, '--store', url)).toMatchObject({ code: 0 });
  expect(await filesOf(elsewhere)).toEqual(before);
  const restored = records(
    (await other.run('session', 'events', '--session', id, '--store', url, '--json')).stdout,
  ).filter((record) => (record as { readonly type: string }).type === 'workspace.restored');
  expect(restored).toMatchObject([{ data: { copyEpoch: 1, mayHaveLost: false } }]);
  await appendFile(join(elsewhere, 'out', 'run.sh'), 'exit 3\n');
  await rm(join(elsewhere, 'out', 'link'));
  for (const words of [
    ['session', 'send', '--session', id, '--message', 'Go on.'],
    ['wake', '--session', id],
  ])
    expect(await other.run(...words, '--store', url)).toMatchObject({ code: 0 });
  const back = records((await stage.run('store', 'copy', '--from', url, '--to', 'files', '--json')).stdout);
  expect(back).toMatchObject([{ session: { kind: 'completed' } }, { folders: { copied: 1, left: [], aside: [] } }]);
  expect(await filesOf(workspace)).toEqual(await filesOf(elsewhere));
  expect(await filesOf(workspace)).not.toEqual(before);
  await stage.run('session', 'send', '--session', id, '--message', 'Go on.');
  expect(await stage.run('wake', '--session', id)).toMatchObject({ code: 0 });
});

it('lays nothing over what somebody has changed in the home, and leaves what another machine has done in the database', async () => {
  stage = await Stage.open();
  const url = await database();
  const { id, workspace } = await worked();
  await stage.run('store', 'copy', '--from', 'files', '--to', url);
  const other = await machine();
  await other.run('wake', '--session', id, '--store', url);
  await writeFile(join(workspace, 'out', 'unsaved'), 'of a person');
  await other.run('session', 'send', '--session', id, '--message', 'Go on.', '--store', url);
  await other.run('wake', '--session', id, '--store', url);
  const back = await stage.run('store', 'copy', '--from', url, '--to', 'files');
  const [, aside = ''] = /was in no copy is (\S+)/.exec(back.stderr) ?? [];
  expect(await readFile(join(aside, 'workspace', 'out', 'unsaved'), 'utf8')).toBe('of a person');
  expect(Object.keys(await filesOf(workspace))).not.toContain('out/unsaved');
  await writeFile(join(workspace, 'out', 'unsaved'), 'again');
  const home = await ask(url, 'SELECT host_id, manifest_id FROM wakechart.hand');
  expect(await stage.run('store', 'copy', '--from', 'files', '--to', url)).toMatchObject({ code: 0 });
  expect(await ask(url, 'SELECT host_id, manifest_id FROM wakechart.hand')).toEqual(home);
});

it('stays where it is bound to its machine, and others are told so; nothing is said of a session that has no files', async () => {
  stage = await Stage.open();
  const url = await database();
  await new FileEnvironmentCatalog({ home: stage.home }).create('bound', 'sandbox: off\nhostBound: true\n');
  await stage.session(sleeps('Woken.'));
  const made = await stage.run('session', 'create', '--agent', 'actor-1', '--environment', 'bound', '--json');
  const { sessionId } = JSON.parse(made.stdout) as { readonly sessionId: string };
  await stage.run('session', 'send', '--session', sessionId, '--message', 'Begin.');
  expect(await stage.run('wake', '--session', sessionId)).toMatchObject({ code: 0 });
  await stage.run('session', 'send', '--session', sessionId, '--message', 'Go on.');
  const there = await stage.run('store', 'copy', '--from', 'files', '--to', url);
  expect(there).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(new RegExp(`session ${sessionId} is bound to this machine[^]*hostBound`)) as string,
  });
  expect(there.stdout).toContain('Folders of sessions: 0 copied, 1 left where they are');
  expect(await ask(url, 'SELECT count(*)::int AS copies FROM wakechart.hand')).toEqual([{ copies: 1 }]);
  expect(await (await machine()).run('wake', '--session', sessionId, '--store', url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('WORKSPACE_COPY_ELSEWHERE') as string,
  });
  expect(await stage.run('wake', '--session', sessionId, '--store', url)).toMatchObject({ code: 0 });
});

it('goes along from one database to another, so that a machine that has nothing finds it, and is told of where it cannot', async () => {
  stage = await Stage.open();
  const [one, two] = [await database(), await database()];
  const { id, workspace } = await copiedOnly(one);
  const home = await stage.run('store', 'copy', '--from', one, '--to', join(stage.home, 'back'), '--json');
  expect(records(home.stdout).at(-1)).toMatchObject({ copied: 1, folders: { copied: 1, left: [], aside: [] } });
  expect(await filesOf(workspace.replace(stage.home, join(stage.home, 'back')))).toMatchObject({
    'deep/work': expect.anything() as unknown,
  });
  for (const kind of ['copied', 'unchanged']) {
    const lines = records((await stage.run('store', 'copy', '--from', one, '--to', two, '--json')).stdout);
    expect(lines).toMatchObject([{ session: { kind } }, { folders: { copied: 1, left: [] } }]);
  }
  await rm(workspace, { recursive: true });
  for (const words of [
    ['session', 'release', '--session', id, '--yes'],
    ['session', 'send', '--session', id, '--message', 'Go on.'],
    ['wake', '--session', id],
  ]) {
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
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/WORKSPACE_COPY_DAMAGED/) as string });
  expect(await ask(two, 'SELECT count(*)::int AS due FROM wakechart.activation')).toEqual([{ due: 0 }]);
  await stage.run('session', 'terminate', '--session', id, '--store', one);
  const prune = ['store', 'prune', '--ended-before', '0m', '--export-to', join(stage.home, 'archive'), '--store', one];
  expect((await stage.run(...prune)).stdout).toContain(
    'With 1 session of them the copy of its folder goes, which no export holds',
  );
  expect(await stage.run(...prune, '--yes')).toMatchObject({ code: 0 });
  expect(await readFile(join(workspace, 'deep', 'work'), 'utf8')).toBe('of one');
  expect(
    await ask(
      one,
      'SELECT (SELECT count(*) FROM wakechart.hand)::int AS copies, (SELECT count(*) FROM wakechart.hand_piece)::int AS pieces, (SELECT count(*) FROM wakechart.hand_added)::int AS added',
    ),
  ).toEqual([{ copies: 0, pieces: 0, added: 0 }]);
});
