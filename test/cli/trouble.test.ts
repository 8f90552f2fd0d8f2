import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { program, run } from './command-line.ts';
import { runInProcess } from './in-process.ts';

const isRoot = process.getuid?.() === 0;
/** Root may read everything, so it takes somebody else to be refused. */
const NOBODY = 65_534;
const FULL_DISK = '/dev/full';

let folder: TemporaryHome;

beforeAll(async () => {
  folder = await temporaryHome();
  await writeFile(join(folder.path, 'file'), '');
  await mkdir(join(folder.path, 'odd'));
  await writeFile(join(folder.path, 'odd/agents'), '');
});

afterAll(() => folder.remove());

const commands = [
  ['agent', 'list'],
  ['session', 'list'],
  ['session', 'create', '--agent', 'x'],
  ['wake', '--session', '0192f0c1-2345-7abc-8def-0123456789ab'],
  ['task', 'run', '--', 'echo never'],
] as const;

describe('a home that a newer version has written', () => {
  it('is refused by every command, which leaves it as it is', async () => {
    const newer = join(folder.path, 'newer');
    await mkdir(newer);
    await writeFile(join(newer, 'format'), '2\n');
    for (const words of [...commands, ['doctor', '--repair'], ['agent', 'create', 'x'], ['schedule', 'list']]) {
      const { code, stdout, stderr } = await runInProcess(['--home', newer, ...words]);
      expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: '' });
      expect(stderr).toMatch(/form 1, found form 2: .* \[HOME_NEWER\]\n {2}hint: Run the newer version/);
    }
    await expect(createNodeRuntime({ home: newer })).rejects.toMatchObject({ code: 'HOME_NEWER' });
    expect(await readdir(newer)).toEqual(['format']);
  });

  it('is one of this version up to its own form', async () => {
    const known = join(folder.path, 'known');
    await mkdir(known);
    await writeFile(join(known, 'format'), '1\n');
    expect(await runInProcess(['--home', known, 'session', 'list'])).toMatchObject({ code: 0 });
  });
});

describe('a home that cannot be one', () => {
  it('is refused by every command, with what is in its place and what to do', async () => {
    const homes = ['file', 'file/below', 'odd'].map((name) => join(folder.path, name));
    const ends = await Promise.all(
      commands.map((words, index) => runInProcess(['--home', homes[index % homes.length] ?? '', ...words])),
    );
    for (const { code, stdout, stderr } of ends) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^error: expected the home .* to be a folder that can be read: .*file.* \[HOME_INVALID\]\n {2}hint: Choose another home/,
      );
    }
  });

  it('because of its permissions says so', async () => {
    const locked = join(folder.path, 'locked');
    await mkdir(join(locked, 'agents'), { recursive: true });
    await chmod(locked, 0o000);
    try {
      const { code, stderr } = await run(
        ['session', 'list', '--home', locked],
        isRoot ? { uid: NOBODY, cwd: '/' } : {},
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/EACCES.* \[HOME_INVALID\]\n {2}hint: (?:Check who owns it|Choose another)/);
    } finally {
      await chmod(locked, 0o700);
    }
  });

  it.skipIf(!existsSync('/proc/self'))('and cannot be made says so', async () => {
    const ends = await Promise.all([
      run(['agent', 'create', 'x', '--home', '/proc/home']),
      runInProcess(['task', 'run', '--home', '/proc/home', '--', 'true']),
    ]);
    for (const { code, stdout, stderr } of ends) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: could not .*\/proc\/home.*\n {2}hint: /);
    }
  });
});

it('commands that only check make nothing', async () => {
  const home = join(folder.path, 'not yet');
  const ends = await Promise.all([
    run(['agent', 'list', '--home', home]),
    runInProcess(['session', 'list', '--home', home, '--json']),
    runInProcess(['session', 'status', '--session', '0192f0c1-2345-7abc-8def-0123456789ab', '--home', home]),
  ]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 1]);
  expect(JSON.parse(ends[1].stdout)).toEqual({ sessions: [] });
  expect(ends[2].stderr).toContain(`There are no sessions in ${home} yet.`);
  expect(existsSync(home)).toBe(false);
});

it('the home of $WAKECHART_HOME is used where none is named', async () => {
  const home = join(folder.path, 'from the environment');
  const { stdout } = await run(['session', 'list'], { env: { WAKECHART_HOME: home } });
  expect(stdout).toContain(`No sessions in ${home} yet.`);
});

it('a folder that was removed under our feet is told, not tripped over', async () => {
  const gone = join(folder.path, 'gone');
  await mkdir(gone);
  const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" session list';
  const { stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', gone, process.execPath, program], { encoding: 'utf8' });
  expect(stderr).toMatch(/\[FOLDER_GONE\]\n {2}hint: /);
  await rm(gone, { recursive: true, force: true });
});

it.skipIf(!existsSync(FULL_DISK))('output that cannot be written is a failure', async () => {
  const full = openSync(FULL_DISK, 'w');
  try {
    const { code, stderr } = await run(['session', 'list', '--json', '--home', join(folder.path, 'none')], {
      outputFile: full,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: the output could not be written: ENOSPC.* \[OUTPUT_FAILED\]\n {2}hint: /);
  } finally {
    closeSync(full);
  }
});

describe('a stack trace', () => {
  it('is shown when it is asked for, and only then', async () => {
    const words = ['agent', 'show', 'nobody', '--home', join(folder.path, 'none')];
    const [usual, debugging] = await Promise.all([runInProcess(words), run(words, { env: { WAKECHART_DEBUG: '1' } })]);
    expect(usual.stderr).not.toMatch(/^\s+at /m);
    expect(debugging.stderr).toMatch(/^\s+at /m);
  });
});
