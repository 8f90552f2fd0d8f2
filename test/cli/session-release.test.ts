/**
 * A session whose folder is on a machine that is gone: who finds out why it stands still, and lets it go on elsewhere.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { FileEnvironmentCatalog } from '../../src/adapters/environment-files/file-environment-catalog.ts';
import { PostgresEventStore } from '../../src/adapters/postgres/postgres-event-store.ts';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import type { Ended } from './command-line.ts';
import { Stage, sleeps } from './stage.ts';

let database: FreshDatabase | undefined;
const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
  await database?.drop();
  database = undefined;
});

/** A machine with the same agent as all others; `run` is a command on it over the database that they share. */
interface Machine {
  readonly stage: Stage;
  run(...words: readonly string[]): Promise<Ended>;
  folderOf(sessionId: string): string;
}

async function machine(): Promise<Machine> {
  const stage = await Stage.open();
  stages.push(stage);
  const { workspace } = await stage.session(sleeps('Woken.'), sleeps('Again.'), sleeps('Once more.'));
  await new FileEnvironmentCatalog({ home: stage.home }).create('bound', 'sandbox: off\nhostBound: true\n');
  return {
    stage,
    run: (...words) => stage.run(...words, '--store', database?.url ?? ''),
    folderOf: (sessionId) => join(dirname(dirname(workspace)), sessionId, 'workspace'),
  };
}

async function madeOn({ run }: Machine, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run('session', 'create', '--agent', 'actor-1', ...words, '--json');
  const { sessionId } = JSON.parse(stdout) as { readonly sessionId: string };
  return sessionId;
}

async function woken({ run }: Machine, sessionId: string): Promise<Ended> {
  await run('session', 'send', '--session', sessionId, '--message', 'Go on.');
  return run('wake', '--session', sessionId);
}

it('says where it is and why, what may be lost, and goes on elsewhere once it was let go', async () => {
  database = await migratedDatabase();
  const [one, two] = [await machine(), await machine()];
  const id = await madeOn(one, '--environment', 'bound');
  expect((await woken(one, id)).code).toBe(0);
  await writeFile(join(one.folderOf(id), 'work'), 'of one');
  const refused = await woken(two, id);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /is left to its home [^]*its environment "bound" is bound[^]*session release/,
    ) as string,
  });
  expect((await two.run('session', 'why', '--session', id)).stdout).toMatch(
    /Its folder is on \S.*, and no other machine wakes it: its environment "bound" is bound/,
  );
  const why = {
    here: await one.run('session', 'why', '--session', id),
    there: await two.run('session', 'why', '--session', id),
  };
  expect(why.here.stdout).toContain(` wake --session ${id}`);
  expect(why.there.stdout).toMatch(
    /a worker wakes it as soon as one runs, on \S+ and on no other machine[^]*a person wakes it, on \S+[^]*releases it, where \S+ is gone for good\n.* session release --session/,
  );
  expect(why.there.stdout).not.toContain(` wake --session ${id}`);
  const plan = await two.run('session', 'release', '--session', id);
  expect(plan).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /at home on [^]*May be lost: everything in its folder\. There is no copy[^]*gone for good: [^]*release --session \S+ --yes/,
    ) as string,
  });
  expect((await woken(two, id)).code).toBe(1);
  expect(await two.run('session', 'release', '--session', id, '--yes')).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^Released session[^]*May be lost: everything[^]*Next: [^]*wake --session/) as string,
  });
  expect((await two.run('session', 'release', '--session', id, '--yes')).stdout).toContain('at home on no machine');
  expect((await two.run('session', 'why', '--session', id)).stdout).not.toContain('Its folder is on');
  expect((await woken(two, id)).code).toBe(0);
  expect((await two.run('session', 'events', '--session', id)).stdout).toContain('workspace.restored');
  expect((await woken(one, id)).code).toBe(1);
  expect(await readFile(join(one.folderOf(id), 'work'), 'utf8')).toBe('of one');
});

it('tells what the newest copy lacks, and is refused while a wake runs', async () => {
  database = await migratedDatabase();
  const one = await machine();
  const id = await madeOn(one);
  expect((await woken(one, id)).code).toBe(0);
  const document = async (): Promise<unknown> =>
    JSON.parse((await one.run('session', 'release', '--session', id, '--json')).stdout) as unknown;
  expect(await document()).toMatchObject({
    sessionId: id,
    copyOfWake: 1,
    lastWake: 1,
    mayHaveLost: false,
    isReleased: false,
  });
  expect((await one.run('session', 'release', '--session', id)).stdout).toMatch(
    /Lost: only what was changed in its folder after its last wake[^]*Nothing binds it there/,
  );
  expect(await one.stage.run('session', 'release', '--session', id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected a database') as string,
  });
  const store = await PostgresEventStore.open({ url: database.url, clock: createSystemClock() });
  try {
    const right = await store.acquireWakeRight(id, { epoch: 1, isOpen: false });
    expect(await one.run('session', 'release', '--session', id, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SESSION_BUSY') as string,
    });
    await right.release();
  } finally {
    await store.close();
  }
});
