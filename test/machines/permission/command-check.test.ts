import { describe, expect, it } from 'vitest';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { checkOf } from '../../../src/machines/permission/command-check.ts';
import type { CommandCheck } from '../../../src/machines/permission/command-check.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import type { PermissionQuestion } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { SHELL_RUN } from './shell-questions.ts';

function check(
  command: string,
  { rules = [], mode = 'ask' }: { readonly rules?: readonly string[]; readonly mode?: PermissionQuestion['mode'] } = {},
): CommandCheck | undefined {
  const question: PermissionQuestion = {
    definition: SHELL_RUN,
    subject: { kind: 'shell', command, cwd: '/ws/sub' },
    reading: readShell(command),
    workspaceDirectory: '/ws',
    mode,
    policy: rules.map((rule) => parseRule(rule)),
    sessionRules: [],
    humans: 'reachable',
  };
  return checkOf(question, decidePermission(question));
}

const pathsOf = (command: string): readonly (readonly string[])[] | undefined =>
  check(command)?.commands.map(({ paths }) => paths);

describe('what has to be checked before a command runs', () => {
  it('is every word that names a place, and the folder', () => {
    expect(check('cat a.txt')).toEqual({
      commands: [{ argv: ['cat', 'a.txt'], paths: ['a.txt'], usesGit: false }],
      cwd: '/ws/sub',
      workspaceDirectory: '/ws',
      forbidden: [],
    });
    expect(check('git diff HEAD -- src/a.ts')?.commands).toEqual([
      { argv: ['git', 'diff', 'HEAD', '--', 'src/a.ts'], paths: ['HEAD', 'src/a.ts'], usesGit: true },
    ]);
  });

  it.each([
    ['ls', []],
    ['ls -la src test', ['src', 'test']],
    ["grep -n 'a b' x y", ['x', 'y']],
    ['grep -e a -m 3 x', ['x']],
    ['head -n 3 a', ['a']],
    ["find src test -name '*.ts'", ['src', 'test']],
    ['find . -type f', ['.']],
    ["sed -n '1,5p' a b", ['a', 'b']],
    ['test -f a', ['a']],
    ['test a = b', []],
    ['echo a', []],
    ['rg foo src', ['src']],
    ['rg --files src', ['src']],
    ['cat -- a', ['a']],
    ['tr a b', []],
    ['sort -k 2 -t , a', ['a']],
  ])('%s: %j', (command, expected) => {
    expect(pathsOf(command)).toEqual([expected]);
  });

  it('is nothing of what rules or the mode allow, and nothing of what does not run', () => {
    expect(check('npm test', { rules: ['allow shell_run(npm test) in sub'] })).toBeUndefined();
    expect(check('git status', { rules: ['allow shell_run(git status) in **'] })).toBeUndefined();
    expect(check('cat a', { mode: 'preapproved' })).toBeUndefined();
    expect(check('make')).toBeUndefined();
    expect(check('cat $x')).toBeUndefined();
    expect(check('ls', { rules: ['deny shell_run(ls)'] })).toBeUndefined();
  });

  it('is the part of a line that no rule allows', () => {
    expect(
      check('npm test && cat a', { rules: ['allow shell_run(npm test) in s*'] })?.commands.map(({ argv }) => argv),
    ).toEqual([['cat', 'a']]);
    expect(
      check('cat a', { mode: 'preapproved', rules: ['deny shell_run(rm)'] })?.commands.map(({ argv }) => argv),
    ).toEqual([['cat', 'a']]);
  });

  it('is what a pattern of the shell finds, and every folder that the line enters', () => {
    expect(check('cat *.txt src/{a,b}.ts')?.commands).toEqual([
      {
        argv: ['cat', '*.txt', 'src/{a,b}.ts'],
        paths: [],
        patterns: ['*.txt', 'src/{a,b}.ts', 'src/a.ts', 'src/b.ts'],
        usesGit: false,
      },
    ]);
    expect(check('cd web && npm test', { rules: ['allow shell_run(npm test) in sub/web'] })?.commands).toEqual([
      { argv: ['cd', 'web'], paths: ['web'], usesGit: false },
    ]);
    expect(check('cd web && cat a; cat b')?.commands.map(({ paths, folders }) => [paths, folders])).toEqual([
      [['web'], undefined],
      [['a'], ['web']],
      [['b'], ['']],
      [['b'], ['web']],
    ]);
    expect(check('sort < a')?.commands).toEqual([{ argv: ['sort'], paths: ['a'], usesGit: false }]);
  });

  it('is held against the rules about reading too', () => {
    expect(
      check('cat a', { rules: ['deny read(secret.txt)', 'ask grep(logs/**)', 'deny write(x)', 'allow read(y)'] })
        ?.forbidden,
    ).toEqual(['secret.txt', 'logs/**']);
  });
});
