/** `wakechart audit` over machines of a user: what is written, checked, compared, refused. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findingLines } from '../../src/cli/audit/text.ts';
import { stylesFor } from '../../src/cli/terminal/styles.ts';
import type { Finding } from '../../src/machines/inspection/chart-audit.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const moduleOf = (name: string): string => fileURLToPath(new URL(`../fixtures/charts/${name}.mjs`, import.meta.url));

const audit = (name: string, ...words: readonly string[]): Promise<Ended> =>
  runInProcess(['audit', '--module', moduleOf(name), '--out', folder, ...words]);

const written = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

describe('a machine in which nothing is wrong', () => {
  it('is shown with its life, and passes', async () => {
    const { code, stdout, stderr } = await audit('door');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^CHART +STATES +EVENTS +TRANSITIONS +FINDINGS +LIFE OF\ndoor +4 +3 +6 +\d+ waived +a door\n$/,
    );
    expect((await audit('door', 'door')).stdout).toContain('Anybody may walk through.');
  });

  it('is written as a page, an audit, a diagram and an index, the same bytes each time, and the check finds nothing', async () => {
    expect((await audit('door', '--write')).code).toBe(0);
    const first = written();
    expect(Object.keys(first)).toEqual(['README.md', 'door.json', 'door.md', 'door.svg']);
    expect(first['door.md']).toContain('| `moving` |');
    expect(first['door.md']).not.toContain(folder);
    expect(await audit('door', '--write')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is up to date.') as string,
    });
    expect(written()).toEqual(first);
    expect(await audit('door', '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 chart') as string,
    });
  });

  it('fails the check in a line where nothing was ever written', async () => {
    const { code, stdout } = await audit('door', '--check');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^There are no written audits in .+\.\nBring them up to date: .+audit --write --module .+\n$/,
    );
  });

  it('fails the check when a page was changed by hand, is missing, or is about a chart that is gone; files of others are left alone', async () => {
    await audit('door', '--write');
    writeFileSync(join(folder, 'door.md'), 'mine');
    rmSync(join(folder, 'door.svg'));
    writeFileSync(join(folder, 'window.json'), '{\n  "format": "chart-audit/1"\n}');
    writeFileSync(join(folder, 'notes.md'), 'notes of somebody');
    const { code, stdout } = await audit('door', '--check');
    expect(code).toBe(1);
    expect(stdout).toContain('door.md is stale.');
    expect(stdout).toContain('door.svg is missing.');
    expect(stdout).toContain('window.json is about a chart that is gone.');
    expect(stdout).toContain('audit --write --module');
    await audit('door', '--write');
    expect(Object.keys(written())).toEqual(['README.md', 'door.json', 'door.md', 'door.svg', 'notes.md']);
  });
});

it('says what is found in a module below its table', async () => {
  const { code, stdout } = await runInProcess(['audit', '--module', moduleOf('unreachable-state')]);
  expect(code).toBe(1);
  const [table, ...findings] = stdout.trimEnd().split('\n\n');
  expect(table).toMatch(/^CHART .*\ndoor .*1 error/);
  expect(findings.join('\n')).toContain('"jammed" can never be reached');
  expect(findings.join('\n')).toContain('unreachable-state');
});

it('says a hint once for all that it is for', () => {
  const of = (state: string, hint: string): Finding => ({
    ...{ rule: 'inline-operation', severity: 'note' },
    ...{ state, says: `"${state}" acts.`, hint },
  });
  const lines = findingLines([of('a', 'Name it.'), of('b', 'Mend it.'), of('c', 'Name it.')], {
    styles: stylesFor({ isTerminal: false, environment: {} }),
  });
  expect(lines.map((line) => line.trim())).toEqual([
    'note    a: "a" acts. (inline-operation)',
    'note    c: "c" acts. (inline-operation)',
    'Name it.',
    'note    b: "b" acts. (inline-operation)',
    'Mend it.',
  ]);
});

describe('a fault that somebody plants in a chart', () => {
  beforeEach(async () => {
    await audit('door', '--write');
  });

  it.each([
    ['unreachable-state', 'unreachable-state', 'jammed'],
    ['dropped-event', 'unhandled-event', 'CLOSE'],
    ['shadowed-transition', 'shadowed-transition', 'open'],
    ['missing-error-edge', 'invoke-without-error', 'moving'],
  ])('%s is caught by the check, also when the pages were written anew', async (name, rule, where) => {
    const stale = await audit(name, '--check');
    expect(stale.code).toBe(1);
    expect(stale.stdout).toContain('door.md is stale.');
    expect((await audit(name, '--write')).code).toBe(1);
    const { code, stdout } = await audit(name, '--check');
    expect(code).toBe(1);
    expect(stdout).not.toContain('is stale');
    expect(stdout).toContain(`(${rule})`);
    expect(stdout).toContain(where);
  });

  it.each([
    ['renamed-state', /closed.*shut/],
    ['dropped-event', /CLOSE/],
    ['missing-error-edge', /error/],
  ])('%s is a major change since the version before', async (name, says) => {
    const { code, stdout } = await audit(name, '--diff', folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^door: major\n/);
    expect(stdout).toMatch(says);
  });

  it('is no change when there is none, and is drawn side by side when there is', async () => {
    expect(await audit('door', '--diff', folder)).toMatchObject({
      code: 0,
      stdout: `Nothing has changed in the charts since ${folder}.\n`,
    });
    const pictures = join(folder, 'pictures');
    await audit('renamed-state', '--diff', folder, '--picture', pictures);
    expect(readdirSync(pictures)).toEqual(['door.diff.svg']);
    expect(readFileSync(join(pictures, 'door.diff.svg'), 'utf8')).toContain('shut');
  });
});

describe('the audits of a revision', () => {
  it('are compared with, wherever in the repository they lie', async () => {
    const git = (...words: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    await audit('door', '--write');
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'audits');
    const before = process.cwd();
    process.chdir(folder);
    try {
      const run = (...words: readonly string[]): Promise<Ended> =>
        runInProcess(['audit', '--module', moduleOf('renamed-state'), '--out', '.', ...words]);
      expect((await run('--diff', 'main')).stdout).toMatch(/^door: major\n/);
      expect(await run('--diff', 'nowhere')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('"nowhere" is neither') as string,
      });
      expect((await run('--diff', '--output=x')).code).not.toBe(0);
    } finally {
      process.chdir(before);
    }
  });
});

describe('what cannot be done', () => {
  it.each([
    ['a module that is not there', ['audit', '--module', 'gone.mjs'], 1, 'there is no such file'],
    ['a module that throws', ['audit', '--module', moduleOf('throws')], 1, 'this module has a bad day'],
    ['a target that is misspelt', ['audit', '--module', moduleOf('misspelt-target')], 1, 'Did you mean "running"?'],
    ['a module without machines', ['audit', '--module', moduleOf('nothing')], 1, 'it exports answer'],
    [
      'an id that would lead out of the folder',
      ['audit', '--module', moduleOf('unfit-id'), '--write', '--out', join(tmpdir(), 'audits-nowhere')],
      1,
      'cannot be named by the chart id "../escape"',
    ],
    ['a chart that is not there', ['audit', 'taks'], 1, 'Did you mean "task"?'],
    ['two things at once', ['audit', '--write', '--check'], 2, 'cannot be used with'],
    ['a part of the charts', ['audit', 'task', '--check'], 2, 'about all charts'],
    ['a picture of nothing', ['audit', '--picture', 'x'], 2, '--diff'],
    ['a floor of nothing', ['audit', '--floor', '5'], 2, '--coverage'],
    ['a home that is not there', ['audit', '--logs', '/nowhere/at/all'], 1, 'expected a home with sessions'],
    [
      'a folder without audits',
      ['audit', '--diff', fileURLToPath(new URL('../fixtures/charts', import.meta.url))],
      1,
      'there are none',
    ],
  ])('is said of %s', async (_, words, code, says) => {
    const ended = await runInProcess(words);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(says) as string });
  });
});
