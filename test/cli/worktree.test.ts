/** `wakechart worktree`: what subagents left, checked, taken over and removed, with real worktrees. */
import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type { PreparedSubagentWorktree, WorktreeStore } from '../../src/actors/subagent/worktree-adapter.ts';
import { WORKTREES_FOLDER } from '../../src/cli/worktree/worktrees.ts';
import { createGitWorktreeIsolationAdapter } from '../../src/adapters/git/git-worktree-adapter.ts';
import { readOwner } from '../../src/adapters/git/owner-files.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { worktreeShape } from './shapes.ts';

const exec = promisify(execFile);

/** As one who is gone: this process began later. */
const GONE = { ...readOwner(), startTime: '1' };

let folder: TemporaryHome;
let home = '';
let shop = '';

beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'a home');
  shop = join(folder.path, "Mary's shop");
  await exec('git', ['init', '--quiet', shop]);
  await git(shop, 'config', 'user.name', 'Mary');
  await git(shop, 'config', 'user.email', 'mary@shop.invalid');
  await writeFile(join(shop, 'README.md'), '# A shop\n');
  await git(shop, 'add', '--all');
  await git(shop, 'commit', '--quiet', '--message', 'A shop');
});
afterEach(() => folder.remove());

async function git(directory: string, ...words: readonly string[]): Promise<string> {
  return (await exec('git', ['-C', directory, ...words])).stdout.trim();
}

/** A program that gives jobs worktrees over the same home. */
function keeper(host?: typeof GONE): WorktreeStore {
  return createGitWorktreeIsolationAdapter({
    worktreesDirectory: join(home, WORKTREES_FOLDER),
    clock: createSystemClock(),
    ...(host === undefined ? {} : { host }),
  });
}

const commits = async ({ worktreePath }: PreparedSubagentWorktree): Promise<void> => {
  await writeFile(join(worktreePath, 'GUIDE.md'), 'Tea, by the pound.\n');
  await git(worktreePath, 'add', '--all');
  await git(worktreePath, 'commit', '--quiet', '--message', 'A guide');
};
const scribbles = ({ worktreePath }: PreparedSubagentWorktree): Promise<void> =>
  writeFile(join(worktreePath, 'IDEAS.md'), 'Half a thought\n');

/** A job of a program that has ended, which left this in its worktree. */
async function left(
  jobId: string,
  work: (worktree: PreparedSubagentWorktree) => Promise<void>,
): Promise<PreparedSubagentWorktree> {
  const gone = keeper(GONE);
  const worktree = await gone.prepare({ jobId, cwd: shop });
  await gone.begin?.(worktree);
  await work(worktree);
  await gone.preserve?.(worktree, await gone.inspect(worktree));
  return worktree;
}

const run = (...words: readonly string[]): Promise<Ended> => runInProcess(['worktree', ...words, '--home', home]);

async function document<Shape extends z.ZodType>(shape: Shape, ...words: readonly string[]): Promise<z.output<Shape>> {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return shape.parse(JSON.parse(stdout));
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
const branches = async (): Promise<readonly string[]> =>
  (await git(shop, 'branch', '--format=%(refname:short)', '--list', 'wakechart/*')).split('\n').filter(Boolean);

describe('a worktree of a process that may be alive elsewhere', () => {
  const ELSEWHERE = { ...GONE, system: 'another-machine/its-boot/pid:[1]' };

  it.each(['adopt', 'remove'])(
    'is refused to %s, which names the way, until a person says that the process is gone',
    async (command) => {
      const worktree = await keeper(ELSEWHERE).prepare({ jobId: 'agent_1', cwd: shop });
      const refused = await run(command, 'agent_1');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('cannot be told from here [WORKTREE_IN_USE]');
      expect(refused.stderr).toContain('--owner-gone');
      expect((await run(command, 'agent_1', '--owner-gone')).code).toBe(0);
      expect(await isThere(worktree.worktreePath)).toBe(command === 'adopt');
    },
  );

  it('is removed with the work in it only when both are said', async () => {
    const worktree = await keeper(ELSEWHERE).prepare({ jobId: 'agent_1', cwd: shop });
    await scribbles(worktree);
    expect((await run('remove', 'agent_1', '--discard')).stderr).toContain('WORKTREE_IN_USE');
    expect((await run('remove', 'agent_1', '--owner-gone')).stderr).toContain('WORKTREE_NOT_CLEAN');
    expect((await run('remove', 'agent_1', '--owner-gone', '--discard')).code).toBe(0);
    expect(await isThere(worktree.worktreePath)).toBe(false);
  });

  it('stays with one that lives, whatever is said', async () => {
    await keeper().prepare({ jobId: 'agent_1', cwd: shop });
    expect((await run('remove', 'agent_1', '--owner-gone', '--discard')).stderr).toContain('WORKTREE_IN_USE');
  });
});

describe('worktree list', () => {
  it('says that there are none, and makes nothing', async () => {
    expect(await run('list')).toEqual({
      code: 0,
      stdout: `No worktrees in ${home}: no job works in one, and none left work behind.\n`,
      stderr: '',
    });
    expect(await document(z.strictObject({ worktrees: z.array(worktreeShape) }), 'list')).toEqual({ worktrees: [] });
    expect(await isThere(home)).toBe(false);
  });

  it('names job, branch, base, what is in it and what to do, of each', async () => {
    const guide = await left('agent_1', commits);
    const ideas = await left('agent_2', scribbles);
    const { code, stdout } = await run('list');
    expect(code).toBe(0);
    for (const { worktreePath, branchName, baseRevision = '' } of [guide, ideas]) {
      expect(stdout).toContain(`path    ${worktreePath}`);
      expect(stdout).toMatch(new RegExp(`branch  ${branchName}, from ${baseRevision.slice(0, 12)} in .*Mary's shop`));
    }
    expect(stdout).toMatch(/preserved: it waits for a person\n {2}job {5}agent_1, \d+\.\d s ago/);
    expect(stdout).toMatch(/holds {3}.*commit/);
    expect(stdout).toContain('IDEAS.md');
    expect(stdout).toMatch(/^2 worktrees\. To examine one as it is now: .* worktree show NAME --home .*$/m);
    const { worktrees } = await document(z.strictObject({ worktrees: z.array(worktreeShape) }), 'list');
    expect(worktrees).toMatchObject([
      { jobId: 'agent_1', status: 'preserved' },
      { jobId: 'agent_2', status: 'preserved' },
    ]);
  });

  it('says which ones a job works in, and which nobody does any more', async () => {
    const living = keeper();
    const worktree = await living.prepare({ jobId: 'agent_1', cwd: shop });
    await keeper(GONE).prepare({ jobId: 'agent_2', cwd: shop });
    const { stdout } = await run('list');
    expect(stdout).toMatch(
      /agent_1-\S+ {2}ready: a job is at it\n[\s\S]*agent_2-\S+ {2}ready: the process that made it is gone\n/,
    );
    expect(stdout).toMatch(/holds {3}not checked yet\n {2}next {4}Examine it: .* worktree show agent_1-/);
    await living.remove(worktree);
  });
});

describe('worktree show', () => {
  it('finds one by its name, job, branch or path, and examines it as it is now', async () => {
    const worktree = await left('agent_1', commits);
    await scribbles(worktree);
    for (const name of [worktree.id ?? '', 'agent_1', worktree.branchName, worktree.worktreePath]) {
      const { code, stdout } = await run('show', name);
      expect({ name, code }).toEqual({ name, code: 0 });
      expect(stdout).toContain('IDEAS.md');
    }
    const shown = await document(worktreeShape.extend({ isClean: z.boolean(), head: z.string() }), 'show', 'agent_1');
    expect(shown).toMatchObject({ isClean: false, head: await git(worktree.worktreePath, 'rev-parse', 'HEAD') });
    expect(shown.findings.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['untracked', 'committed']));
  });

  it('offers what can be done with it', async () => {
    await left('agent_1', scribbles);
    const { stdout } = await run('show', 'agent_1');
    expect(stdout).toMatch(
      /--home .* worktree remove agent_1-\S+ --discard\n\nTake it over: .* worktree adopt agent_1-\S+ --home .*\n$/,
    );
  });

  it('fails for one that is not there, and says which ones are', async () => {
    await left('agent_1', scribbles);
    const { code, stdout, stderr } = await run('show', 'agent_7');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/\[WORKTREE_NOT_FOUND\]\n {2}hint: .*Worktrees in .*: agent_1-/);
  });

  it('fails for a name that two have, and names both', async () => {
    await left('agent_1', scribbles);
    await left('agent_1', scribbles);
    expect(await run('show', 'agent_1')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/\[ID_AMBIGUOUS\]\n {2}hint: .*\n +agent_1-\S+\n +agent_1-\S+\n/) as string,
    });
  });

  it('shows what an agent called its files, and obeys none of it', async () => {
    await left('agent_1', ({ worktreePath }) => writeFile(join(worktreePath, 'a\u001B[31mb\nc'), ''));
    const { code, stdout } = await run('show', 'agent_1');
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001B');
    expect((await run('list')).stdout).not.toContain('\u001B');
  });

  it('names a command that brings the work home', async () => {
    await left('agent_1', commits);
    const { nextAction = '' } = await document(
      worktreeShape.extend({ isClean: z.boolean(), head: z.string() }),
      'show',
      'agent_1',
    );
    const [command = ''] = /git -C .*/.exec(nextAction) ?? [];
    await exec('/bin/sh', ['-c', command]);
    expect(await readFile(join(shop, 'GUIDE.md'), 'utf8')).toBe('Tea, by the pound.\n');
  });
});

describe('worktree remove', () => {
  it('removes one in which nothing would be lost, with its branch', async () => {
    const worktree = await left('agent_1', () => Promise.resolve());
    expect(await run('remove', 'agent_1')).toEqual({
      code: 0,
      stdout: `Removed ${worktree.id ?? ''} and its branch ${worktree.branchName}. Nothing was lost.\n`,
      stderr: '',
    });
    expect(await isThere(worktree.worktreePath)).toBe(false);
    expect(await branches()).toEqual([]);
    expect((await run('list')).stdout).toMatch(/^No worktrees/);
  });

  it('removes one whose commits have been merged', async () => {
    const { branchName } = await left('agent_1', commits);
    await git(shop, 'merge', '--quiet', branchName);
    expect(await run('remove', 'agent_1')).toMatchObject({ code: 0, stderr: '' });
    expect(await branches()).toEqual([]);
    expect(await isThere(join(shop, 'GUIDE.md'))).toBe(true);
  });

  it('refuses one whose commits are nowhere else', async () => {
    const { branchName, worktreePath } = await left('agent_1', commits);
    expect(await run('remove', 'agent_1')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('1 commit that no other branch has') as string,
    });
    expect(await branches()).toEqual([branchName]);
    expect(await readFile(join(worktreePath, 'GUIDE.md'), 'utf8')).toBe('Tea, by the pound.\n');
  });

  it('refuses one that holds work, names all of it and how to save it, and touches nothing', async () => {
    const worktree = await left('agent_1', async (one) => {
      await commits(one);
      await scribbles(one);
    });
    const { code, stdout, stderr } = await run('remove', 'agent_1');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: expected agent_1-\S+ to hold nothing that would be lost; it holds .*IDEAS\.md.* \[WORKTREE_NOT_CLEAN\]\n {2}hint: [\s\S]* worktree remove agent_1-\S+ --home .* --discard\n {2}more: .* explain WORKTREE_NOT_CLEAN\n$/,
    );
    expect(await readFile(join(worktree.worktreePath, 'IDEAS.md'), 'utf8')).toBe('Half a thought\n');
    expect(await branches()).toEqual([worktree.branchName]);
  });

  it('removes that too when it is told to, and says what was lost and how to have its commits back', async () => {
    const worktree = await left('agent_1', async (one) => {
      await commits(one);
      await scribbles(one);
    });
    const { code, stdout, stderr } = await run('remove', 'agent_1', '--discard');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^Removed agent_1-\S+ and its branch .*\. With it went:\n(?: {2}- .*\n)+Its commits can be had back until git tidies up: git -C .*\n$/,
    );
    expect(stdout).toContain('IDEAS.md');
    expect(await isThere(worktree.worktreePath)).toBe(false);
    await exec('/bin/sh', ['-c', /git -C .*/.exec(stdout)?.[0] ?? '']);
    expect(await git(shop, 'log', '-1', '--format=%s', worktree.branchName)).toBe('A guide');
  });

  it('says the same to programs', async () => {
    await left('agent_1', scribbles);
    const { removed, lost } = await document(
      z.strictObject({ removed: worktreeShape, lost: worktreeShape.shape.findings }),
      'remove',
      'agent_1',
      '--discard',
    );
    expect(removed.jobId).toBe('agent_1');
    expect(lost).toMatchObject([{ kind: 'untracked' }]);
  });

  it('never takes one away from a job that works in it', async () => {
    const living = keeper();
    const worktree = await living.prepare({ jobId: 'agent_1', cwd: shop });
    await scribbles(worktree);
    for (const words of [[], ['--discard']]) {
      expect(await run('remove', 'agent_1', ...words)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('[WORKTREE_IN_USE]') as string,
      });
    }
    expect(await isThere(join(worktree.worktreePath, 'IDEAS.md'))).toBe(true);
  });
});

describe('worktree adopt', () => {
  it('hands it over: folder and branch stay, and nothing here knows of it any more', async () => {
    const worktree = await left('agent_1', scribbles);
    const { code, stdout } = await run('adopt', 'agent_1');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Adopted agent_1-\S+: it is yours now, .*\n {2}path {2}.*\nWhen you are done with it: git -C .* worktree remove .*\n$/,
    );
    expect((await run('list')).stdout).toMatch(/^No worktrees/);
    await keeper().reconcile();
    expect(await readFile(join(worktree.worktreePath, 'IDEAS.md'), 'utf8')).toBe('Half a thought\n');
    expect(await branches()).toEqual([worktree.branchName]);
  });

  it('names the command that removes it in the end', async () => {
    await left('agent_1', () => Promise.resolve());
    const { adopted, next } = await document(
      z.strictObject({ adopted: worktreeShape, next: z.string() }),
      'adopt',
      'agent_1',
    );
    await exec('/bin/sh', ['-c', next]);
    expect(await isThere(adopted.worktreePath)).toBe(false);
  });
});
