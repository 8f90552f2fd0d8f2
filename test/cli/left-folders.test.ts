/**
 * Folders of sessions whose logs are in a database: what deleting one leaves on machines, and what the doctor says of
 * that.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { Ended } from './command-line.ts';
import { Stage, sleeps } from './stage.ts';

interface Woken {
  readonly stage: Stage;
  readonly sessionId: string;
  /** Of the session, in the home. */
  readonly folder: string;
  /** A command over the database. */
  run(...words: readonly string[]): Promise<Ended>;
}

/** A session of a database that has been woken here, and an agent whose only session in the home is gone. */
async function wokenHere(): Promise<Woken> {
  const database = await migratedDatabase();
  onTestFinished(() => database.drop());
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  const { workspace } = await stage.session(sleeps('Woken.'));
  const ofHome = dirname(workspace);
  const run = (...words: readonly string[]): Promise<Ended> => stage.run(...words, '--store', database.url);
  const { sessionId } = JSON.parse((await run('session', 'create', '--agent', 'actor-1', '--json')).stdout) as {
    readonly sessionId: string;
  };
  await run('session', 'send', '--session', sessionId, '--message', 'Go on.');
  expect(await run('wake', '--session', sessionId)).toMatchObject({ code: 0 });
  return { stage, sessionId, folder: join(dirname(ofHome), sessionId), run };
}

it('stay when the session is deleted, which is said, and are named by the doctor', async () => {
  const { sessionId, folder, run } = await wokenHere();
  expect((await run('doctor')).stdout).not.toContain(folder);
  expect(await run('session', 'delete', '--session', sessionId, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Deleted session \S+, with its log and the copy of its folder\n {2}The folder itself stays on \S+[^]* doctor --home /,
    ) as string,
  });
  const found = await run('doctor');
  expect(found).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`note  ${folder}: the folder of a session that is not in postgres://`) as string,
  });
  expect(found.stdout).toContain(`rm -r -- ${folder}`);
  expect((await run('doctor', '--repair')).stdout).toContain(folder);
  expect(await readdir(folder)).toContain('workspace');
});

it('are named with what was put aside in them', async () => {
  const { folder, run } = await wokenHere();
  const aside = join(folder, 'hand', 'before-3');
  await mkdir(aside, { recursive: true });
  expect((await run('doctor')).stdout).toContain(
    `note  ${aside}: what lay here when the session came back from another machine was put aside`,
  );
});

it('are no lost logs to a doctor who checks the home alone, who names that choice in what he says next', async () => {
  const { stage, folder } = await wokenHere();
  const alone = await stage.run('doctor', '--store', 'files');
  expect(alone).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`note  ${folder}: the folder of a session whose log is in a database`) as string,
  });
  await rm(join(folder, 'hand'), { recursive: true });
  await writeFile(join(folder, 'workspace', 'work'), '');
  expect(await stage.run('doctor', '--store', 'files')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/problem[^]*its log cannot be read/) as string,
  });
});
