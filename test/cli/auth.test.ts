/** `wakechart auth`, in this process and once as the real program. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileCandidateHealthStore } from '../../src/adapters/auth-files/file-candidate-health-store.ts';
import { underLock } from '../../src/adapters/system/process-lock.ts';
import type { RunFailureKind } from '../../src/machines/run/run-failure.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { run as runProgram } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

const auth = (...words: readonly string[]): Promise<Ended> => runInProcess(['--home', home.path, 'auth', ...words]);

async function json(...words: readonly string[]): Promise<unknown> {
  return JSON.parse((await runInProcess(['--home', home.path, '--json', 'auth', ...words])).stdout) as unknown;
}

const added = (...words: readonly string[]): Promise<void> =>
  auth('add', ...words).then(({ code, stderr }) =>
    expect({ code, stderr: stderr.replace(/^.*note:.*\n/gm, '') }).toEqual({ code: 0, stderr: '' }),
  );

async function fails(model: string, profile: string, kind: RunFailureKind): Promise<void> {
  const candidateHealth = createFileCandidateHealthStore({
    directory: join(home.path, 'auth'),
    clock: Date,
    exclusively: underLock,
  });
  await candidateHealth.report(
    { provider: 'anthropic', model, profile },
    { kind: 'failed', failure: { kind, message: 'the provider said no' } },
  );
}

const nothingWritten = async (): Promise<boolean> =>
  stat(join(home.path, 'auth', 'profiles.json')).then(
    () => false,
    () => true,
  );

describe('auth add', () => {
  it('keeps where the secret is, and shows that in the list', async () => {
    await added('work', '--provider', 'anthropic', '--env', 'WORK_KEY');
    await added('home', '--provider', 'openai', '--command', '--', 'pass', 'show', 'open ai');
    await added('team', '--provider', 'claude-code', '--set', 'CLAUDE_CONFIG_DIR=/srv/team', '--set', 'EMPTY=');
    expect(await json('list')).toEqual({
      profiles: [
        { id: 'work', provider: 'anthropic', secret: { env: 'WORK_KEY' } },
        { id: 'home', provider: 'openai', secret: { command: ['pass', 'show', 'open ai'] } },
        { id: 'team', provider: 'claude-code', sets: ['CLAUDE_CONFIG_DIR', 'EMPTY'] },
      ],
    });
    const { stdout } = await auth('list', '--provider', 'openai');
    expect(stdout).toMatch(/^ACCOUNT +PROVIDER +SETS +SECRET\nhome +openai +command pass show 'open ai'\n$/);
    expect(await readFile(join(home.path, 'auth', 'profiles.json'), 'utf8')).toContain('"wakechart-auth/1"');
  });

  it.each([
    [['work', '--provider', 'anthropic'], 'expected --env VARIABLE or --command'],
    [['work', '--provider', 'anthropic', '--command'], 'expected a program after --command --'],
    [['work', '--provider', 'anthropic', '--env', 'A', '--command', '--', 'pass'], 'received both'],
    [['work', '--provider', 'anthropic', '--env', 'A', '--', 'pass'], 'received 1 word more'],
    [['work', '--env', 'A'], "required option '--provider <name>' not specified"],
    [['Work!', '--provider', 'anthropic', '--env', 'A'], 'id: expected lower-case letters'],
    [['work', '--provider', 'anthropic', '--env', 'not a name'], 'expected the name of a variable'],
    [['work', '--provider', 'claude-code', '--set', 'sk-ant-api03-0123456789abcdef'], 'expected --set NAME=VALUE'],
    [
      ['work', '--provider', 'anthropic', '--env', 'sk-ant-api03-0123456789abcdef'],
      'the name of a variable looks like a key itself',
    ],
    [
      ['work', '--provider', 'anthropic', '--command', '--', 'echo', 'sk-ant-api03-0123456789abcdef'],
      'the command looks like a key itself',
    ],
    [
      ['work', '--provider', 'claude-code', '--set', 'TOKEN=sk-ant-api03-0123456789abcdef'],
      'the value of TOKEN looks like a key itself',
    ],
    [['work', '--provider', 'anthropic', 'sk-ant-api03-0123456789abcdef'], 'goes nowhere on a command line'],
  ])('refuses %j before anything is written, and repeats no key', async (words, complaint) => {
    const { code, stdout, stderr } = await auth('add', ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(complaint);
    expect(stderr).toContain('hint:');
    expect(stderr).not.toContain('sk-ant');
    expect(await nothingWritten()).toBe(true);
  });

  it('says what is probably not meant: a provider that is misspelled, a variable that is not set', async () => {
    const { code, stderr } = await auth('add', 'work', '--provider', 'antropic', '--env', 'WAKECHART_TEST_UNSET');
    expect(code).toBe(0);
    expect(stderr).toContain('did you mean "anthropic"?');
    expect(stderr).toContain('WAKECHART_TEST_UNSET is not set here');
  });

  it('keeps a name once, and forgets what was held against another account of that name', async () => {
    await fails('large', 'work', 'billing');
    await added('work', '--provider', 'anthropic', '--env', 'A');
    expect(await json('status')).toEqual({ candidates: [] });
    expect(await auth('add', 'work', '--provider', 'openai', '--env', 'B')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/AUTH_PROFILE_EXISTS[^]*auth remove work/) as string,
    });
  });
});

describe('auth status', () => {
  it('says which candidates are out of use, until when and why', async () => {
    expect((await auth('status')).stdout).toBe('Nothing is held against any candidate, and none has been used yet.\n');
    await added('work', '--provider', 'anthropic', '--env', 'PATH');
    await fails('large', 'work', 'billing');
    await fails('small', 'work', 'overloaded');
    const { code, stdout } = await auth('status');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^CANDIDATE +STATE +UNTIL +FAILURES +LAST USED +BECAUSE\n/);
    expect(stdout).toMatch(
      /\nanthropic\/large \(work\) +disabled +in (?:4 h 59 min|5 h 0 min) \(\d{4}-\d\d-\d\dT[\d:.]+Z\) +1 +\d{4}-.* billing: the provider said no\n/,
    );
    expect(stdout).toMatch(/\nanthropic\/small \(work\) +cooling +in \d+ s \(/);
    expect(stdout).toContain('auth reset --all');
    expect(await json('status', 'work')).toMatchObject({
      candidates: [
        { state: 'disabled', because: { kind: 'billing' } },
        { state: 'cooling', failures: 1 },
      ],
    });
  });

  it('reads secrets when it is to, shows none, and fails when one is not there', async () => {
    await added('path', '--provider', 'anthropic', '--env', 'PATH');
    await added(
      'node',
      '--provider',
      'anthropic',
      '--command',
      '--',
      process.execPath,
      '-e',
      "console.log('sk-ant-printed')".replace('sk-ant', 'SECRET'),
    );
    expect(await auth('status', '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok +path: its secret is there\nok +node: its secret is there\n/) as string,
    });
    await added('program', '--provider', 'claude-code', '--set', 'CLAUDE_CONFIG_DIR=/team');
    expect((await auth('status', 'program', '--check')).stdout).toMatch(/^none +program: it has no secret to read/);
    await added('none', '--provider', 'anthropic', '--env', 'WAKECHART_TEST_UNSET');
    const checked = await auth('status', '--check');
    expect(checked).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/fails none: .* WAKECHART_TEST_UNSET is not set \[AUTH_VALUE_MISSING\]/) as string,
    });
    const checks = await json('status', '--check');
    expect(checks).toMatchObject({
      checks: [
        { id: 'path', resolves: true },
        { id: 'node', resolves: true },
        { id: 'program', hasSecret: false },
        { id: 'none', resolves: false, error: { code: 'AUTH_VALUE_MISSING' } },
      ],
    });
    expect(JSON.stringify([checked, checks])).not.toContain('SECRET-printed');
  });
});

describe('auth reset and remove', () => {
  it('forget what is held against an account, or everybody, and only when it is said whom', async () => {
    await added('work', '--provider', 'anthropic', '--env', 'PATH');
    await fails('large', 'work', 'auth_permanent');
    await fails('large', 'home', 'auth_permanent');
    expect((await auth('reset')).code).toBe(2);
    expect((await auth('reset', 'work', '--all')).code).toBe(2);
    expect(await json('reset', 'work')).toEqual({ forgotten: 1 });
    expect((await auth('reset', 'work')).stdout).toBe('Nothing was known of any.\n');
    expect((await auth('reset', '--all')).stdout).toContain('1 candidate');
  });

  it('say which accounts there are when one is not', async () => {
    await added('work', '--provider', 'anthropic', '--env', 'PATH');
    for (const words of [
      ['remove', 'wrk'],
      ['status', 'wrk'],
      ['reset', 'wrk'],
    ]) {
      expect(await auth(...words)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/AUTH_PROFILE_NOT_FOUND[^]*Did you mean "work"\?/) as string,
      });
    }
    await fails('large', 'work', 'billing');
    expect(await json('remove', 'work')).toEqual({ id: 'work', removed: true });
    expect([await json('list'), await json('status')]).toEqual([{ profiles: [] }, { candidates: [] }]);
    expect(await auth('remove', 'work')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There are no accounts in') as string,
    });
  });

  it('do nothing where the files lie open to others, and say what to do', async () => {
    await added('work', '--provider', 'anthropic', '--env', 'PATH');
    const { chmod } = await import('node:fs/promises');
    const path = join(home.path, 'auth', 'profiles.json');
    await chmod(path, 0o644);
    for (const words of [['list'], ['remove', 'work'], ['add', 'more', '--provider', 'openai', '--env', 'PATH']])
      expect(await auth(...words)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(`chmod 600 ${path}`) as string,
      });
  });
});

describe('the program', () => {
  it('has help with examples, suggests what was meant, and does all of it', async () => {
    const help = await auth('add', '--help');
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'main.js auth add home --provider openai --command -- pass show openai/home\n',
      ) as string,
    });
    expect(await auth('lst')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean list?') as string,
    });
    const program = (...words: readonly string[]): Promise<Ended> =>
      runProgram(['--home', home.path, 'auth', ...words], { env: { WORK_KEY: 'a value of the test' } });
    expect(await program('add', 'work', '--provider', 'anthropic', '--env', 'WORK_KEY')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Added account work of anthropic: variable WORK_KEY\nNext: .*auth status work --check/,
      ) as string,
      stderr: '',
    });
    expect(await program('status', 'work', '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok +work: its secret is there\n/) as string,
      stderr: '',
    });
    expect(await program('remove', 'work')).toMatchObject({ code: 0, stderr: '' });
  });
});
