/** Sessions in a PostgreSQL: every command works on them, and `wakechart store` brings them there and back. */
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../support/postgres-databases.ts';
import { freshDatabase, migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import type { Ended } from './command-line.ts';
import { records } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { Stage, sleeps } from './stage.ts';

/** Nobody answers there. */
const NOWHERE = 'postgres://worker:geheim@127.0.0.1:1/none';

let stage: Stage;
let database: FreshDatabase | undefined;
afterEach(async () => {
  await stage?.close();
  await database?.drop();
  database = undefined;
});

const url = (): string => database?.url ?? NOWHERE;
const password = (): string => new URL(url()).password;

/** A command on the stage's home and the database, to its end. What it says holds no password. */
async function run(...words: readonly string[]): Promise<Ended> {
  const ended = await stage.run(...words, '--store', url());
  expect(password().length).toBeGreaterThan(3);
  expect(`${ended.stdout}${ended.stderr}`).not.toContain(password());
  return ended;
}

async function json<Document>(...words: readonly string[]): Promise<Document> {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Document;
}

describe('the tables of a database', () => {
  it('are made once, and every command says how before they are', async () => {
    stage = await Stage.open();
    database = await freshDatabase();
    const before = await run('session', 'list');
    expect(before).toMatchObject({ code: 1, stdout: '' });
    expect(before.stderr).toMatch(/found none in .*|found none/);
    expect(before.stderr).toContain('wakechart store migrate --store URL');
    expect((await run('store', 'check')).stdout).toMatch(/problem {2}schema: there are no tables yet/);
    const first = await run('store', 'migrate');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/Applied 0001-sessions\n[^]*is at version \d+ now/);
    expect((await run('store', 'migrate')).stdout).toMatch(/Nothing to do: postgres:\/\/.* is at version \d+\./);
    expect(await run('session', 'list')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No sessions in postgres:\/\/[^@]+ yet/) as string,
    });
  });

  it('lie in the schema that the URL names', async () => {
    stage = await Stage.open();
    database = await freshDatabase();
    const named = new URL(url());
    named.searchParams.set('schema', 'team_a');
    const there = (...words: readonly string[]): Promise<Ended> => stage.run(...words, '--store', named.toString());
    expect(await there('store', 'migrate')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('?schema=team_a') as string,
    });
    expect(await there('session', 'list')).toMatchObject({ code: 0 });
    expect(await run('session', 'list')).toMatchObject({ code: 1 });
  });

  it('are checked: the server, what its user may do, news, the clock, what is in it', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    const { id } = await stage.sessionToWake(sleeps('Done.'));
    await run('store', 'copy', '--from', 'files', '--to', url());
    const checked = await json<{
      readonly checks: readonly { readonly name: string; readonly is: string }[];
      readonly counts: object;
      readonly isHearing: boolean;
      readonly clockDifferenceMs: number;
    }>('store', 'check');
    expect(checked.checks.map(({ name, is }) => [name, is])).toEqual(
      ['server', 'schema', 'rights', 'news', 'clock', 'holds'].map((name) => [name, 'ok']),
    );
    expect(checked).toMatchObject({ isHearing: true, counts: { sessions: 1, events: 2, due: 1 } });
    expect(Math.abs(checked.clockDifferenceMs)).toBeLessThan(60_000);
    expect(await json('doctor')).toMatchObject({
      problems: 0,
      findings: [{ severity: 'note', where: expect.stringMatching(/^postgres:/) as string }],
    });
    expect(id).not.toBe('');
  });

  it('are noted to be in danger where everybody may make operators beside them', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    await ask(url(), 'GRANT CREATE ON SCHEMA public TO PUBLIC');
    expect(await run('store', 'check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /note {5}public: every role may make functions and operators[^\n]*\n *As an administrator, run: REVOKE CREATE ON SCHEMA public FROM PUBLIC/,
      ) as string,
    });
  });

  it('are not searched for with a password that may be shown as the name of a database', async () => {
    stage = await Stage.open();
    const misread = await stage.run('session', 'list', '--store', 'postgres://user:7/geheim@db/work');
    expect(misread).toMatchObject({ code: 2, stdout: '' });
    expect(misread.stderr).not.toContain('geheim');
  });
});

describe('a store that cannot be had', () => {
  it('is told without its URL: when it is none, when nobody answers, when the password is wrong', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    const wrong = await stage.run('session', 'list', '--store', 'mysql://root:geheim@host/db');
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected --store to be the URL of a PostgreSQL database, or files') as string,
    });
    expect(wrong.stderr).not.toContain('geheim');
    const refused = new URL(url());
    refused.password = 'geheimes-wort';
    const denied = await stage.run('session', 'list', '--store', refused.toString());
    expect(denied).toMatchObject({ code: 1, stdout: '' });
    expect(denied.stderr).toMatch(/hint:/);
    expect(denied.stderr).not.toContain('geheimes-wort');
    const silent = await stage.run('store', 'check', '--store', NOWHERE);
    expect(silent).toMatchObject({ code: 1, stderr: expect.stringMatching(/127\.0\.0\.1:1[^]*hint:/) as string });
    expect(silent.stderr).not.toContain('geheim');
    const doctor = await stage.run('doctor', '--store', refused.toString());
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('the store cannot be opened') as string });
  });

  it('is not asked for by those who need none', async () => {
    stage = await Stage.open();
    expect(await run('agent', 'list')).toMatchObject({ code: 0 });
    expect(await runInProcess(['demo', '--store', url()])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected no --store') as string,
    });
    expect(await stage.run('store', 'check')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/main\.js --home \S+ doctor`/) as string,
    });
  });
});

describe('commands on a database', () => {
  it('make sessions, wake them, tell of them, and delete them; the home has none of it', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    await stage.session(sleeps('Woken.'), sleeps('Again.'));
    const { sessionId, store } = await json<{ readonly sessionId: string; readonly store: string }>(
      'session',
      'create',
      '--agent',
      'actor-1',
    );
    expect(store).toMatch(/^postgres:\/\/[^@]+$/);
    await json('session', 'send', '--session', sessionId, '--message', 'Hello.', '--idempotency-key', 'k');
    expect(await run('worker', '--until-idle')).toMatchObject({ code: 0 });
    const status = await run('session', 'status', '--session', sessionId);
    expect(status.stdout).toMatch(/summary +Woken\.[^]*store +postgres:/);
    expect(status.stdout).not.toContain('events.jsonl');
    expect(
      await json('session', 'send', '--session', sessionId, '--message', 'Hello.', '--idempotency-key', 'k'),
    ).toMatchObject({ seq: 2 });
    expect((await stage.run('session', 'list')).stdout).not.toContain(sessionId);
    const exported = await run('session', 'export', '--session', sessionId);
    expect(await run('session', 'delete', '--session', sessionId, '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect((await run('session', 'status', '--session', sessionId)).code).toBe(1);
    await writeFile(join(stage.home, 'export.jsonl'), exported.stdout);
    expect(await run('session', 'import', join(stage.home, 'export.jsonl'))).toMatchObject({ code: 0 });
    expect((await run('session', 'why', '--session', sessionId)).code).toBe(0);
    expect((await run('wake', '--session', sessionId)).code).toBe(0);
  });

  it('keep schedules, rules and cooldowns there too', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    await stage.session(sleeps('Done.'));
    const { sessionId } = await json<{ readonly sessionId: string }>('session', 'create', '--agent', 'actor-1');
    await json(
      'schedule',
      'add',
      '--id',
      'nightly',
      '--cron',
      '0 3 * * *',
      '--session',
      sessionId,
      '--message',
      'What is new?',
    );
    expect((await run('schedule', 'list')).stdout).toContain('nightly');
    expect((await stage.run('schedule', 'list')).stdout).not.toContain('nightly');
    expect((await run('permission', 'list')).code).toBe(0);
    expect((await run('auth', 'status')).code).toBe(0);
    expect((await run('learnings', 'rebuild', '--agent', 'actor-1')).stdout).toContain('0 learnings');
  });
});

describe('wakechart store copy', () => {
  it('brings sessions to a database and back: the same bytes of hash, and work goes on there', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    const done = await stage.session(sleeps('Done.'));
    const waiting = await stage.sessionToWake(sleeps('Begun.'));
    const there = await stage.run('store', 'copy', '--from', 'files', '--to', url());
    expect(there).toMatchObject({ code: 0, stderr: '' });
    expect(there.stdout).toMatch(new RegExp(`copied +${done.id} +actor-1 +1 event +[0-9a-f]{64}\n`));
    expect(there.stdout).not.toContain(password());
    const total = /SHA-256 ([0-9a-f]{64})/.exec(there.stdout)?.[1];
    const back = join(stage.home, 'back');
    const lines = records((await runInProcess(['store', 'copy', '--from', url(), '--to', back, '--json'])).stdout);
    expect(lines.at(-1)).toMatchObject({ sessions: 2, copied: 2, left: [], isStopped: false, sha256: total });
    expect(lines).toHaveLength(3);
    expect((await stage.run('store', 'copy', '--from', 'files', '--to', url())).stdout).toContain(
      '0 new, 0 completed, 2 there already; 0 events stored',
    );
    await run('worker', '--until-idle');
    expect((await run('session', 'status', '--session', waiting.id)).stdout).toContain('Begun.');
    expect((await run('store', 'copy', '--from', 'store', '--to', join(stage.home, 'again'))).stdout).toContain(
      'Copied: 2 new',
    );
    expect(await stage.run('store', 'copy', '--from', 'store', '--to', 'files')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected a database for --from store, and none is named') as string,
    });
    const gone = await stage.run('store', 'copy', '--from', 'files', '--to', url());
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('it has gone on there') as string });
    expect(gone.stdout).toContain('Not the same: 1 session.');
  });

  it('refuses the same place twice, a place that is none, and a home that is not there', async () => {
    stage = await Stage.open();
    const copy = (from: string, to: string): Promise<Ended> => stage.run('store', 'copy', '--from', from, '--to', to);
    expect(await copy('files', stage.home)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('two different stores') as string,
    });
    expect(await copy(url(), url())).toMatchObject({ code: 2 });
    expect(await copy('files', 'redis://x:geheim@y')).toMatchObject({
      code: 2,
      stderr: expect.not.stringContaining('geheim') as string,
    });
    expect(await copy(join(stage.home, 'nothing'), url())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('HOME_NOT_FOUND') as string,
    });
  });
});

describe('wakechart store prune', () => {
  const words = (directory: string): readonly string[] => [
    'store',
    'prune',
    '--ended-before',
    '0m',
    '--export-to',
    directory,
  ];

  it('says what it would do, does it when it is told to, and leaves exports that can be brought back', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    const old = await stage.session(sleeps('Old.'));
    const living = await stage.session(sleeps('New.'));
    await stage.runtime.sessions.terminate(old.id, { reason: 'over' });
    await run('store', 'copy', '--from', 'files', '--to', url());
    const archive = join(stage.home, 'some', 'archive');
    const plan = await run(...words(archive));
    expect(plan).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`${old.id}[^]*1 session in postgres:.*With --yes`)) as string,
    });
    await expect(readdir(archive)).rejects.toThrow('ENOENT');
    // One that was cut short before the session was deleted.
    await mkdir(archive, { recursive: true });
    await writeFile(join(archive, `${old.id}.jsonl`), 'half of an export');
    expect(await json(...words(archive), '--yes')).toMatchObject({ pruned: [old.id], left: [] });
    expect(
      (await json<{ readonly sessions: readonly { readonly sessionId: string }[] }>('session', 'list')).sessions.map(
        ({ sessionId }) => sessionId,
      ),
    ).toEqual([living.id]);
    expect(await readdir(archive)).toEqual([`${old.id}.jsonl`]);
    expect(await run('session', 'import', join(archive, `${old.id}.jsonl`))).toMatchObject({ code: 0 });
    expect(await json(...words(archive), '--yes')).toMatchObject({ pruned: [old.id], left: [] });
  });

  it('does not write a whole export again, and leaves what has files of its own in a home', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    const old = await stage.session(sleeps('Old.'));
    await stage.runtime.sessions.terminate(old.id, { reason: 'over' });
    await mkdir(old.workspace, { recursive: true });
    await writeFile(join(old.workspace, 'result.txt'), 'kept');
    const archive = join(stage.home, 'archive');
    const left = await stage.run(...words(archive), '--yes');
    expect(left).toMatchObject({ code: 0, stderr: expect.stringContaining('its workspace holds files') as string });
    await run('store', 'copy', '--from', 'files', '--to', url());
    const exported = (await run('session', 'export', '--session', old.id)).stdout;
    await writeFile(join(archive, `${old.id}.jsonl`), exported);
    await copyFile(join(archive, `${old.id}.jsonl`), join(stage.home, 'before'));
    expect(await run(...words(archive), '--yes')).toMatchObject({ code: 0 });
    expect(await readFile(join(archive, `${old.id}.jsonl`), 'utf8')).toBe(exported);
  });

  it('wants to know how long ago', async () => {
    stage = await Stage.open();
    expect(await stage.run('store', 'prune', '--ended-before', 'soon', '--export-to', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('such as 90d') as string,
    });
  });
});

describe('the fleet over a database', () => {
  it('is told in tables and as a document, whoever has left something', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    const { id } = await stage.sessionToWake(sleeps('Done.'));
    await run('store', 'copy', '--from', 'files', '--to', url());
    const shown = await run('fleet');
    expect(shown).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^Workers 0\nNo worker runs: [^]*\n\nWakes 0\n[^]*\n\nLag 1 session\nTenant +Priority +Sessions +Due for\ndefault +normal +1 +\d[^]*\n\nParked 0\n/,
      ) as string,
    });
    expect(await json('fleet')).toMatchObject({
      workers: { items: [], total: 0 },
      lag: { sessions: 1, parts: [{ tenant: 'default', priority: 'normal', sessions: 1 }] },
    });
    await run('wake', '--session', id);
    expect(await json('fleet')).toMatchObject({ workers: { total: 0 }, lag: { sessions: 0 } });
  });

  it('is nowhere to be seen in a home', async () => {
    stage = await Stage.open();
    database = await migratedDatabase();
    expect(await stage.run('fleet')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/expected a database: a store in a home does not count its workers/) as string,
    });
  });
});
