/**
 * What one does on another machine of the same database: whose approvals count there, and what is left alone because
 * its agent is not there.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import type { Ended } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';

let database: FreshDatabase;
const stages: Stage[] = [];
beforeAll(async () => {
  database = await migratedDatabase();
});
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});
afterAll(() => database.drop());

interface Machine {
  readonly home: string;
  run(...words: readonly string[]): Promise<Ended>;
  folderOf(sessionId: string): string;
}

async function machine(): Promise<Machine> {
  const stage = await Stage.open();
  stages.push(stage);
  await stage.session(runs('touch made; ls > listed'), sleeps('Made.'), sleeps('Again.'));
  const { home } = stage;
  const file = join(home, 'agents', 'actor-1', 'agent.md');
  await writeFile(file, (await readFile(file, 'utf8')).replace('---\n', '---\npermission: ask\n'));
  return {
    home,
    run: (...words) => stage.run(...words, '--store', database.url),
    folderOf: (sessionId) => join(home, 'agents', 'actor-1', 'sessions', sessionId, 'workspace'),
  };
}

async function begun({ run }: Machine): Promise<string> {
  const { stdout } = await run('session', 'create', '--agent', 'actor-1', '--json');
  const { sessionId } = JSON.parse(stdout) as { readonly sessionId: string };
  await run('session', 'send', '--session', sessionId, '--message', 'Begin.');
  return sessionId;
}

async function statusOf({ run }: Machine, sessionId: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse((await run('session', 'status', '--session', sessionId, '--json')).stdout) as Readonly<
    Record<string, unknown>
  >;
}

it('runs what somebody has allowed also when another machine wakes the session, and says where its folder is', async () => {
  const [one, two] = [await machine(), await machine()];
  const id = await begun(one);
  await one.run('wake', '--session', id);
  const { pendingActions } = (await statusOf(two, id)) as {
    readonly pendingActions?: readonly { readonly requestId: string }[];
  };
  const [{ requestId } = { requestId: '' }] = pendingActions ?? [];
  expect(await one.run('session', 'confirm-tool', '--session', id, '--request', requestId, '--allow')).toMatchObject({
    code: 0,
  });
  expect(await statusOf(one, id)).toMatchObject({ workspace: one.folderOf(id) });
  expect(await statusOf(two, id)).not.toHaveProperty('workspace');
  expect((await two.run('session', 'status', '--session', id)).stdout).toMatch(
    /workspace +on \S+, in another home than this/,
  );
  const woken = await two.run('wake', '--session', id);
  expect(woken).toMatchObject({ code: 0 });
  expect(woken.stdout).not.toContain('denied');
  expect(await readFile(join(two.folderOf(id), 'listed'), 'utf8')).toContain('made');
  expect(await statusOf(two, id)).toMatchObject({ workspace: two.folderOf(id) });
});

it('leaves a session to the others where its agent is not there, and nothing of it is in the log', async () => {
  const [one, two] = [await machine(), await machine()];
  await rm(join(two.home, 'agents', 'actor-1', 'agent.md'));
  const id = await begun(one);
  const { head } = await statusOf(one, id);
  expect(await two.run('wake', '--session', id)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /is left to other machines: there is no agent "actor-1" in the home of this one[^]*WAKE_ELSEWHERE/,
    ) as string,
  });
  expect((await two.run('worker', '--until-idle')).stdout).toContain(' 0 failed. 1 session left undone');
  expect(await statusOf(one, id)).toMatchObject({ head });
  expect((await two.run('session', 'why', '--session', id)).stdout).toContain(
    'no agent "actor-1" in the home of this machine',
  );
  expect((await one.run('session', 'why', '--session', id)).stdout).not.toContain('no agent');
  expect((await one.run('worker', '--until-idle')).stdout).toContain(id);
  expect(await statusOf(one, id)).toMatchObject({ stopReason: 'requires_action' });
});
