import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileCommandPlaces } from '../../../src/adapters/command-places/file-command-places.ts';

let outside: string;
let workspace: string;

beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'places-')));
  workspace = join(outside, 'ws');
  for (const name of ['src', '.aws', 'sub/deep']) mkdirSync(join(workspace, name), { recursive: true });
  for (const name of ['a.txt', 'src/b.txt', '.env', '.aws/config', 'plan.txt', '../key'])
    writeFileSync(join(workspace, name), 'x\n');
});
afterEach(() => rmSync(outside, { recursive: true }));

interface Check {
  readonly cwd?: string;
  readonly program?: string;
  readonly forbidden?: readonly string[];
}

function problemOf(
  paths: readonly string[],
  { cwd = '.', program = 'cat', forbidden = [] }: Check = {},
): Promise<string | undefined> {
  return new FileCommandPlaces().problem({
    commands: [{ argv: [program, ...paths], paths, usesGit: false }],
    cwd: join(workspace, cwd),
    workspaceDirectory: workspace,
    forbidden,
  });
}

const link = (target: string, name: string): void => symlinkSync(target, join(workspace, name));

describe.skipIf(process.platform === 'win32')('the places of a command', () => {
  it('may lie anywhere in the workspace, whether or not they exist', async () => {
    expect(
      await problemOf([
        'a.txt',
        'src',
        '.',
        'src/b.txt',
        'missing',
        'missing/below',
        'a.txt/below',
        'HEAD~1',
        'main..feature',
      ]),
    ).toBeUndefined();
    expect(await problemOf(['b.txt'], { cwd: 'src' })).toBeUndefined();
    expect(await problemOf([])).toBeUndefined();
  });

  it('may be links that stay inside', async () => {
    link('a.txt', 'inner');
    link('src', 'folder');
    expect(await problemOf(['inner', 'folder/b.txt', 'folder'])).toBeUndefined();
  });

  it('may not lead out by a link, at the end or on the way', async () => {
    link(join(outside, 'key'), 'notes.md');
    link('..', 'up');
    link('notes.md', 'twice');
    link('/proc/self/environ', 'environment');
    for (const path of ['notes.md', 'up', 'up/key', 'up/missing', 'twice', 'src/../up/key'])
      expect(await problemOf([path])).toBe(`"${path}" leads out of the workspace`);
    if (process.platform === 'linux')
      expect(await problemOf(['environment'])).toMatch(/leads out of the workspace|cannot be checked/);
    expect(await problemOf(['a.txt', 'notes.md'])).toBe('"notes.md" leads out of the workspace');
  });

  it('may not be a link that leads nowhere yet, or round in a circle', async () => {
    link('nowhere', 'dangling');
    link('round', 'round');
    expect(await problemOf(['dangling'])).toBe('"dangling" is a link that leads nowhere');
    expect(await problemOf(['dangling/below'])).toBe('"dangling" is a link that leads nowhere');
    expect(await problemOf(['round'])).toMatch(/cannot be checked \(ELOOP\)/);
  });

  it('may not lead to a secret, whatever the link is called', async () => {
    link('.env', 'sample.txt');
    link('.aws', 'cloud');
    expect(await problemOf(['sample.txt'])).toBe('"sample.txt" may hold secrets');
    expect(await problemOf(['cloud/config'])).toBe('"cloud/config" may hold secrets');
    expect(await problemOf(['config'], { cwd: '.aws' })).toBe('its folder may hold secrets');
    expect(await problemOf(['config'], { cwd: 'cloud' })).toBe('its folder may hold secrets');
  });

  it('may not lead by a link to what a rule is against', async () => {
    link('plan.txt', 'other');
    link('src', 'folder');
    expect(await problemOf(['other'], { forbidden: ['plan.txt'] })).toBe(
      '"other" leads to "plan.txt", and a rule is against reading "plan.txt"',
    );
    expect(await problemOf(['folder'], { forbidden: ['src/b.*'] })).toMatch(/a rule is against reading "src\/b\.\*"/);
    expect(await problemOf(['folder/b.txt'], { forbidden: ['SRC/**'] })).toMatch(/a rule is against/);
    expect(await problemOf(['other', 'folder'], { forbidden: ['lib/**'] })).toBeUndefined();
  });

  it('that a wildcard finds are checked one by one, and a folder that is entered is no link', async () => {
    const found = (
      patterns: readonly string[],
      program = 'cat',
      paths: readonly string[] = [],
    ): Promise<string | undefined> =>
      new FileCommandPlaces().problem({
        commands: [{ argv: [program], paths, patterns, usesGit: false }],
        cwd: workspace,
        workspaceDirectory: workspace,
        forbidden: [],
      });
    expect(await found(['*.txt', 'src/*', 'nothing*'])).toBeUndefined();
    link(join(outside, 'key'), 'c.txt');
    expect(await found(['*.txt'])).toBe('"c.txt" leads out of the workspace');
    writeFileSync(join(workspace, '-ofoo.md'), '');
    expect(await found(['*.md'])).toBe('"-ofoo.md" begins like an option');
    link('src', 'folder');
    expect(await found([], 'cd', ['src'])).toBeUndefined();
    expect(await found([], 'cd', ['folder'])).toBe('"folder" is a link, or is reached through one');
  });

  it('may not lie beside an ignore file that has rg search hidden files', async () => {
    const ignore = (name: string, ...lines: string[]): void =>
      writeFileSync(join(workspace, name), `${lines.join('\n')}\n`);
    ignore(
      '.gitignore',
      'dist',
      '.env*',
      '!.env.example',
      '!src/*.ts',
      '.vscode/*',
      '!.vscode/settings.json',
      '# !.env',
    );
    expect(await problemOf(['src'], { program: 'rg' })).toBeUndefined();
    for (const line of ['!.env', '!/.env.local', '!.e*', '!*', '!**/.aws/', '!.[e]nv', '!\\.env', '!**', '!*.local']) {
      for (const name of ['.ignore', '.rgignore', 'sub/deep/.gitignore']) {
        ignore(name, 'x', line);
        expect([line, await problemOf(['src'], { program: 'rg' })]).toEqual([
          line,
          `${name} says "${line}", for which rg searches hidden files that may hold secrets`,
        ]);
        expect(await problemOf(['src'], { program: 'cat' })).toBeUndefined();
        rmSync(join(workspace, name));
      }
    }
    ignore('.ignore', '!.env');
    expect(await problemOf([], { program: 'rg', cwd: 'sub/deep' })).toContain('.ignore says "!.env"');
    rmSync(join(workspace, '.ignore'));
    mkdirSync(join(workspace, '.git/info'), { recursive: true });
    ignore('.git/info/exclude', '!.env');
    expect(await problemOf([], { program: 'rg' })).toContain('.git/info/exclude says "!.env"');
  });

  it('may not be pipes or devices', async () => {
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    expect(await problemOf(['pipe'])).toBe('"pipe" is no ordinary file or folder');
  });

  it('may not be folders for diff, which follows links in them', async () => {
    expect(await problemOf(['src', 'sub'], { program: 'diff' })).toBe('diff follows the links in the folder "src"');
    expect(await problemOf(['a.txt', 'src/b.txt'], { program: 'diff' })).toBeUndefined();
  });

  it('begin in a folder that is there and inside', async () => {
    link('..', 'up');
    expect(await problemOf(['a.txt'], { cwd: 'up' })).toBe('its folder leads out of the workspace');
    expect(await problemOf(['a.txt'], { cwd: 'gone' })).toBe('what it would read cannot be checked (ENOENT)');
    expect(await problemOf(Array.from({ length: 501 }, () => 'a.txt'))).toMatch(/more than 500 places/);
  });

  it('may lie in a workspace that is itself a link', async () => {
    symlinkSync(workspace, join(outside, 'alias'));
    const check = {
      commands: [{ argv: ['cat', 'a.txt'], paths: ['a.txt'], usesGit: false }],
      cwd: join(outside, 'alias'),
      workspaceDirectory: join(outside, 'alias'),
      forbidden: [],
    };
    expect(await new FileCommandPlaces().problem(check)).toBeUndefined();
  });
});

const hasGit = spawnSync('git', ['--version']).status === 0;

describe.skipIf(process.platform === 'win32' || !hasGit)('the repository of a command', () => {
  const git = (...words: string[]): string =>
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always', ...words],
      { cwd: workspace, stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' },
    );
  const gitProblem = (cwd = '.'): Promise<string | undefined> =>
    new FileCommandPlaces().problem({
      commands: [{ argv: ['git', 'status'], paths: [], usesGit: true }],
      cwd: join(workspace, cwd),
      workspaceDirectory: workspace,
      forbidden: [],
    });
  const write = (path: string, text: string): void => {
    mkdirSync(join(workspace, path, '..'), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };

  /** What `git init` and a commit make, made once. */
  let template: string | undefined;
  beforeEach(() => {
    const place = join(workspace, '.git');
    if (template === undefined) {
      git('init', '-b', 'main');
      git('add', 'a.txt', 'src');
      git('commit', '-m', 'one');
      template = mkdtempSync(join(tmpdir(), 'template-'));
      cpSync(place, template, { recursive: true });
    } else {
      cpSync(template, place, { recursive: true });
    }
  });
  afterAll(() => {
    if (template !== undefined) rmSync(template, { recursive: true });
  });

  /** Adds a setting as git writes it. */
  const set = (name: string, value: string): void => {
    const [first, last] = [name.indexOf('.'), name.lastIndexOf('.')];
    const subsection = first === last ? '' : ` "${name.slice(first + 1, last)}"`;
    appendFileSync(
      join(workspace, '.git/config'),
      `[${name.slice(0, first)}${subsection}]\n\t${name.slice(last + 1)} = ${value}\n`,
    );
  };

  it('is fine as git makes it, and with usual settings', async () => {
    expect(await gitProblem()).toBeUndefined();
    expect(await gitProblem('sub/deep')).toBeUndefined();
    git('remote', 'add', 'origin', 'https://a.example/b.git');
    git('config', 'branch.main.rebase', 'true');
    for (const [key, value] of [
      ['branch.main.remote', 'origin'],
      ['branch.main.merge', 'refs/heads/main'],
      ['user.name', '"A # b"'],
      ['pull.rebase', 'true'],
      ['core.autocrlf', 'input'],
      ['color.ui', 'auto'],
      ['submodule.x/y.url', 'https://a.example'],
      ['branch.a.b-c.vscode-merge-base', 'origin/main'],
    ] as const)
      set(key, value);
    expect(await gitProblem()).toBeUndefined();
  });

  it('is found in the workspace or not at all', async () => {
    rmSync(join(workspace, '.git'), { recursive: true });
    execFileSync('git', ['init'], { cwd: outside, stdio: 'ignore' });
    expect(await gitProblem()).toMatch(/no repository in the workspace/);
    expect(await gitProblem('sub/deep')).toMatch(/no repository in the workspace/);
  });

  it.each([
    ['core.fsmonitor', './x'],
    ['core.hooksPath', '.husky'],
    ['core.pager', './x'],
    ['core.editor', './x'],
    ['core.sshCommand', './x'],
    ['core.worktree', '/'],
    ['core.attributesFile', 'x'],
    ['core.bare', 'true'],
    ['core.gitProxy', 'x'],
    ['core.alternateRefsCommand', 'x'],
    ['diff.external', './x'],
    ['diff.y.textconv', './x'],
    ['diff.y.command', './x'],
    ['filter.x.clean', './x'],
    ['filter.x.process', './x'],
    ['gpg.program', './x'],
    ['gpg.ssh.program', './x'],
    ['log.showSignature', 'true'],
    ['alias.status', '!x'],
    ['include.path', 'x'],
    ['includeIf.gitdir:x.path', 'x'],
    ['credential.helper', '!x'],
    ['pager.log', './x'],
    ['remote.a.uploadpack', './x'],
    ['remote.a.promisor', 'true'],
    ['extensions.partialClone', 'a'],
    ['submodule.a.update', '!x'],
    ['url.x.insteadOf', 'y'],
    ['interactive.diffFilter', 'x'],
    ['pretty.x', '%G?'],
    ['core.x.fsmonitor', 'x'],
    ['uploadpack.packObjectsHook', 'x'],
  ])('may not set %s to %s', async (key, value) => {
    set(key, value);
    expect(await gitProblem()).toMatch(/\.git\/config sets .*, which may make git run a program or check elsewhere/);
    expect(await gitProblem('sub')).toBeDefined();
  });

  it.each<[string, string]>([
    ['a section with a setting on its line', '[core] fsmonitor = x\n'],
    ['a section with a dot', '[diff.y]\n textconv = x\n'],
    ['a line that goes on', '[user]\n name = a\\\n[core]\n fsmonitor = x\n'],
    ['a name with an escape', '[branch "a\\"]\\n[core]"]\n remote = x\n'],
    ['a switch without a value', '[core]\n bare\n'],
    ['a byte order mark', '\ufeff[core]\n bare = false\n'],
    ['a setting before any section', 'fsmonitor = x\n'],
    ['what is no setting', '[core]\n !x\n'],
    ['blanks that are none', '[core]\n\u00a0bare = false\n'],
    ['more than anybody writes', '#\n'.repeat(5_001)],
    ['more than is read', `#${'x'.repeat(262_144)}\n`],
  ])('may not have %s in its settings', async (_what, text) => {
    write('.git/config', text);
    expect(await gitProblem()).toBeDefined();
  });

  it('may not have them in the settings of its work tree', async () => {
    write('.git/config.worktree', '[core]\n\tfsmonitor = x\n');
    expect(await gitProblem()).toMatch(/config\.worktree sets core\.fsmonitor/);
  });

  it('may not borrow from elsewhere, or be a link, a file or a part', async () => {
    const spoil: [string, () => void][] = [
      ['commondir', () => write('.git/commondir', '/x')],
      ['objects/info/alternates', () => write('.git/objects/info/alternates', '/x')],
      ['hooks/post-index-change', () => write('.git/hooks/post-index-change', '#!/bin/sh\n')],
    ];
    for (const [name, act] of spoil) {
      act();
      expect([name, await gitProblem()]).toEqual([name, expect.any(String)]);
      rmSync(join(workspace, '.git', name));
    }
    expect(await gitProblem()).toBeUndefined();
    renameSync(join(workspace, '.git/refs'), join(outside, 'refs'));
    expect(await gitProblem()).toMatch(/not whole/);
    symlinkSync(join(outside, 'refs'), join(workspace, '.git/refs'));
    expect(await gitProblem()).toMatch(/refs is no folder/);
    renameSync(join(workspace, '.git'), join(outside, 'elsewhere'));
    symlinkSync(join(outside, 'elsewhere'), join(workspace, '.git'));
    expect(await gitProblem()).toMatch(/no folder: the repository lies elsewhere/);
    rmSync(join(workspace, '.git'));
    write('.git', `gitdir: ${outside}/elsewhere\n`);
    expect(await gitProblem()).toMatch(/no folder: the repository lies elsewhere/);
  });

  it('may not be one that a folder brought along', async () => {
    mkdirSync(join(workspace, 'node_modules/evil'), { recursive: true });
    execFileSync('git', ['init'], { cwd: join(workspace, 'node_modules/evil'), stdio: 'ignore' });
    execFileSync('git', ['config', 'diff.external', 'x'], { cwd: join(workspace, 'node_modules/evil') });
    expect(await gitProblem('node_modules/evil')).toMatch(/diff\.external/);
    expect(await gitProblem()).toBeUndefined();
    execFileSync('git', ['init', '--bare', 'bare'], { cwd: workspace, stdio: 'ignore' });
    expect(await gitProblem('bare')).toMatch(/without files of its own/);
    expect(await gitProblem('bare/refs')).toMatch(/without files of its own/);
  });

  it('may not have other repositories in its list of files, once they are there', async () => {
    for (const version of ['2', '3', '4']) {
      git('update-index', '--index-version', version);
      expect([version, await gitProblem()]).toEqual([version, undefined]);
    }
    const commit = git('rev-parse', 'HEAD').trim();
    git('update-index', '--add', '--cacheinfo', `160000,${commit},sub/deep`);
    expect(await gitProblem()).toBeUndefined();
    execFileSync('git', ['init'], { cwd: join(workspace, 'sub/deep'), stdio: 'ignore' });
    for (const version of ['2', '3', '4']) {
      git('update-index', '--index-version', version);
      expect([version, await gitProblem()]).toEqual([
        version,
        expect.stringContaining('the repository "sub/deep" lies in it'),
      ]);
    }
    write('.git/index', 'DIRC\0\0\0\u0002\0\0\0\u0009');
    expect(await gitProblem()).toBe('.git/index is not understood');
    git('read-tree', 'HEAD');
    git('update-index', '--split-index');
    expect(await gitProblem()).toBe('.git/index is not understood');
  });

  it('may not name programs for files', async () => {
    for (const path of ['.gitattributes', '.git/info/attributes', 'sub/.gitattributes']) {
      write(path, '# filter=x\n*.txt text eol=lf\n*.ts diff=css\n*.bin -diff -filter binary\n');
      expect([path, await gitProblem('sub/deep')]).toEqual([path, undefined]);
      for (const line of ['*  filter=x diff=y', '*.a filter', '"a b" diff=exif', '[attr]foo filter=lfs']) {
        write(path, `*.c text\n${line}\n`);
        expect([path, await gitProblem('sub/deep')]).toEqual([
          path,
          expect.stringContaining('for which git may run a program'),
        ]);
      }
      rmSync(join(workspace, path));
    }
    symlinkSync('a.txt', join(workspace, '.gitattributes'));
    expect(await gitProblem()).toMatch(/\.gitattributes is no ordinary file/);
  });

  it('is checked for sha256 too', async () => {
    rmSync(join(workspace, '.git'), { recursive: true });
    git('init', '--object-format=sha256', '-b', 'main');
    git('add', 'a.txt', 'src');
    expect(await gitProblem()).toBeUndefined();
  });
});
