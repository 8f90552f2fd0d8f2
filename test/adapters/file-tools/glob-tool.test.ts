import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileToolsSetup, refusalOf } from './file-tools-setup.ts';
import type { FileToolsSetup } from './file-tools-setup.ts';

async function plant({ put }: FileToolsSetup, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) await put(path, content);
}

/** The files that a call names, in the order of their names. */
async function found({ call }: FileToolsSetup, input: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const { files } = (await call('glob', input)) as { readonly files: readonly string[] };
  return files.toSorted();
}

describe('finding files', () => {
  it('names the one changed last first', async () => {
    const setup = await fileToolsSetup();
    for (const [index, name] of ['old', 'new', 'middle'].entries())
      await utimes(await setup.put(`${name}.ts`, ''), 0, [1, 3, 2][index] ?? 0);
    expect(await setup.call('glob', { pattern: '*.ts' })).toEqual({
      files: ['new.ts', 'middle.ts', 'old.ts'],
      found: 3,
    });
  });

  it('begins where it is told to and names files from the workspace', async () => {
    const setup = await fileToolsSetup();
    await plant(setup, { 'a.ts': '', 'src/b.ts': '', 'src/deep/c.ts': '' });
    expect(await found(setup, { pattern: '**/*.ts', path: 'src' })).toEqual(['src/b.ts', 'src/deep/c.ts']);
    expect(await found(setup, { pattern: '*.ts', path: 'src' })).toEqual(['src/b.ts']);
  });

  it('leaves out hidden files, node_modules, .git and what .gitignore names, unless it is told otherwise', async () => {
    const setup = await fileToolsSetup();
    await plant(setup, {
      '.gitignore': 'dist/\n*.log\n!keep.log\n',
      'a.js': '',
      'a.log': '',
      'keep.log': '',
      'dist/a.js': '',
      'src/.gitignore': 'a.js\n',
      'src/a.js': '',
      '.env': '',
      'node_modules/m/i.js': '',
      '.git/config': '',
    });
    expect(await found(setup, { pattern: '**' })).toEqual(['a.js', 'keep.log']);
    expect(await found(setup, { pattern: '**', includeHidden: true })).toEqual([
      '.env',
      '.gitignore',
      'a.js',
      'keep.log',
      'src/.gitignore',
    ]);
    expect(await found(setup, { pattern: '**/*.js', includeIgnored: true })).toEqual([
      'a.js',
      'dist/a.js',
      'node_modules/m/i.js',
      'src/a.js',
    ]);
    expect(await found(setup, { pattern: '.env' })).toEqual(['.env']);
  });

  it('takes what an ignored folder holds when it begins there', async () => {
    const setup = await fileToolsSetup();
    await plant(setup, { '.gitignore': 'dist/\n', 'dist/a.js': '', 'dist/deep/b.js': '' });
    expect(await found(setup, { pattern: '**', path: 'dist' })).toEqual(['dist/a.js', 'dist/deep/b.js']);
    expect(await found(setup, { pattern: '**', path: 'dist/deep' })).toEqual(['dist/deep/b.js']);
  });

  it('says when it names fewer than it found', async () => {
    const setup = await fileToolsSetup();
    for (let index = 0; index < 5; index += 1) await setup.put(`${index}.ts`, '');
    expect(await setup.call('glob', { pattern: '*', limit: 2 })).toMatchObject({
      found: 5,
      notes: ['The 2 changed last of 5 files are named. Narrow the pattern or begin in another folder to see others.'],
    });
  });

  it('names links to files inside, and follows none to a folder', async () => {
    const setup = await fileToolsSetup();
    await plant(setup, { 'real/a.ts': '' });
    await symlink('real', join(setup.workspace, 'folder'));
    await symlink('real/a.ts', join(setup.workspace, 'file.ts'));
    await symlink('.', join(setup.workspace, 'real/loop'));
    expect(await found(setup, { pattern: '**/*.ts' })).toEqual(['file.ts', 'real/a.ts']);
  });

  it.each([
    [{ pattern: '*', path: 'a.ts' }, 'NOT_A_FOLDER'],
    [{ pattern: '*', path: 'nowhere' }, 'FILE_NOT_FOUND'],
    [{ pattern: '../*' }, 'PATTERN_INVALID'],
  ])('%j is refused as %s', async (input, code) => {
    const setup = await fileToolsSetup();
    await setup.put('a.ts', '');
    expect(await refusalOf(setup.call('glob', input))).toBe(code);
  });

  it('stops when it is told to', async () => {
    const { call } = await fileToolsSetup();
    await expect(call('glob', { pattern: '**' }, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
  });
});

const hasGit = (() => {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasGit)('the files that git ignores', () => {
  it('are the files that are left out', async () => {
    const setup = await fileToolsSetup();
    const name = fc.constantFrom('a', 'b', 'a.b', 'c d', 'ab', '#a', '!b');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    const part = fc.constantFrom(
      'a',
      'b',
      '*',
      '?',
      '**',
      '[ab]',
      '[!a]',
      'a.*',
      '*b',
      '#a',
      '\\#a',
      '!b',
      '\\!b',
      'c d',
      'c*',
      'a**b',
    );
    const rule = fc
      .tuple(
        fc.constantFrom('', '', '!'),
        fc.constantFrom('', '', '/'),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '', '/', '  '),
      )
      .map(([negation, anchor, parts, end]) => negation + anchor + parts.join('/') + end);
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { minLength: 1, maxLength: 8 }),
        fc.array(rule, { maxLength: 4 }),
        fc.option(fc.tuple(name, rule)),
        async (paths, rules, deeper) => {
          await rm(setup.workspace, { recursive: true });
          await mkdir(setup.workspace);
          for (const each of paths) await setup.put(each, '').catch(() => undefined);
          await setup.put('.gitignore', rules.join('\n'));
          if (deeper !== null) await setup.put(`${deeper[0]}/.gitignore`, deeper[1]).catch(() => undefined);
          const git = (...args: readonly string[]): string =>
            execFileSync('git', ['-C', setup.workspace, ...args], {
              encoding: 'utf8',
              env: { PATH: process.env['PATH'], HOME: dirname(setup.workspace), GIT_CONFIG_NOSYSTEM: '1' },
            });
          git('init', '-q');
          const expected = git('ls-files', '-co', '--exclude-standard', '-z')
            .split('\0')
            .filter((each) => each !== '' && !each.endsWith('.gitignore'));
          expect({ rules, deeper, files: await found(setup, { pattern: '**' }) }).toEqual({
            rules,
            deeper,
            files: expected.toSorted(),
          });
        },
      ),
      { numRuns: 30 },
    );
  });
});
