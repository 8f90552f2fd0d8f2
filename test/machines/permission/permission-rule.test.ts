import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { checkRule, formatRule, parseRule } from '../../../src/machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../../src/machines/permission/permission-rule.ts';

describe('a rule is read from its text', () => {
  it.each<[string, PermissionRule]>([
    ['allow docs__search', { effect: 'allow', tool: 'docs__search' }],
    ['deny shell_run', { effect: 'deny', tool: 'shell_run' }],
    ['allow shell_run(git status)', { effect: 'allow', tool: 'shell_run', commandPrefix: ['git', 'status'] }],
    ['allow shell_run(make $)', { effect: 'allow', tool: 'shell_run', commandPrefix: ['make'], exact: true }],
    ["allow shell_run(echo '$')", { effect: 'allow', tool: 'shell_run', commandPrefix: ['echo', '$'] }],
    [
      'allow shell_run(npm test) in packages/web',
      { effect: 'allow', tool: 'shell_run', commandPrefix: ['npm', 'test'], folder: 'packages/web' },
    ],
    [
      'allow shell_run(make $) in packages/*',
      { effect: 'allow', tool: 'shell_run', commandPrefix: ['make'], exact: true, folder: 'packages/*' },
    ],
    [
      "allow shell_run(echo ') in x') in a b",
      { effect: 'allow', tool: 'shell_run', commandPrefix: ['echo', ') in x'], folder: 'a b' },
    ],
    ['allow shell_run(npm test) in .', { effect: 'allow', tool: 'shell_run', commandPrefix: ['npm', 'test'] }],
    [
      "allow shell_exec(git commit -m 'a b' \"it's\" x'y'z '')",
      { effect: 'allow', tool: 'shell_exec', commandPrefix: ['git', 'commit', '-m', 'a b', "it's", 'xyz', ''] },
    ],
    ["deny shell_run(grep '(a)' x)", { effect: 'deny', tool: 'shell_run', commandPrefix: ['grep', '(a)', 'x'] }],
    ['deny shell_run(rm)', { effect: 'deny', tool: 'shell_run', commandPrefix: ['rm'] }],
    ['ask shell_run(sudo)', { effect: 'ask', tool: 'shell_run', commandPrefix: ['sudo'] }],
    ['allow write(src/**)', { effect: 'allow', tool: 'write', pathGlob: 'src/**' }],
    ['deny read(**/*.pem)', { effect: 'deny', tool: 'read', pathGlob: '**/*.pem' }],
    ['  ask   edit(a (1).txt)  ', { effect: 'ask', tool: 'edit', pathGlob: 'a (1).txt' }],
  ])('%s', (text, rule) => {
    expect(parseRule(text)).toEqual(rule);
    expect(parseRule(formatRule(rule))).toEqual(rule);
  });

  it('and written so that it is read as the same rule, whatever its words are', () => {
    const printable = fc.string({ unit: fc.constantFrom(...Array.from(' abz09$()\'"\\`*~#;&|<>{}[]!?=-üß日')) });
    fc.assert(
      fc.property(
        fc.constantFrom('ask' as const, 'deny' as const),
        fc.array(printable, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (effect, commandPrefix, isExact) => {
          const rule = checkRule({ effect, tool: 'shell_run', commandPrefix, ...(isExact ? { exact: true } : {}) });
          expect(parseRule(formatRule(rule))).toEqual(rule);
        },
      ),
    );
  });
});

describe('a rule is refused', () => {
  it.each<[string, RegExp]>([
    ...[
      '',
      'allow',
      'permit write',
      'write(src/**)',
      'allow write(',
      'allow write)',
      'allow (x)',
      'Allow write',
      'allow write src',
      'allow write(a) b',
    ].map((text): [string, RegExp] => [text, /expected allow, ask or deny, then a tool/]),
    ['allow my tool(x)', /expected allow, ask or deny/],
    ['allow 7up', /tool: expected the name of a tool/],
    ['allow wr*te', /tool: expected the name of a tool/],
    ...[
      'allow shell_run()',
      'allow shell_run( )',
      'allow shell_run($)',
      "allow shell_run(git 'x)",
      'allow shell_run(git $x)',
      'allow shell_run(git "$x")',
      'allow shell_run(git *)',
      'allow shell_run(git status; rm)',
      'allow shell_run(git | cat)',
      'allow shell_run(git > f)',
      'allow shell_run(git \\x)',
      'allow shell_run(git $ x)',
      'allow shell_run(git\tstatus)',
    ].map((text): [string, RegExp] => [text, /expected the words of one command/]),
    ["allow shell_run(git 'a\nb')", /printable text on one line/],
    ["deny shell_run(git '\u202e')", /printable text on one line/],
    ['allow write(/etc/**)', /expected a pattern from the workspace/],
    ['allow write(..)', /without empty parts, "\." and "\.\."/],
    ['allow write(a/../b)', /without empty parts/],
    ['allow write(a//b)', /without empty parts/],
    ['allow write(./a)', /without empty parts/],
    ['allow write()', /without empty parts/],
    ['deny write(a\\b)', /with "\/" between folders/],
    ['allow write(a**)', /"\*\*" as a whole part/],
    [`deny write(${'a'.repeat(501)})`, /at most 500 characters/],
    [`deny write(${'a'.repeat(2_001)})`, /at most 2000 characters/],
  ])('%j', (text, pattern) => {
    try {
      parseRule(text);
      expect.unreachable('it was accepted');
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      expect(error).toMatchObject({ code: 'RULE_INVALID', category: 'validation' });
      expect(error.message).toMatch(pattern);
      expect(error.hint).toContain('allow shell_run(npm test)');
    }
  });

  it.each([
    ...['git', 'npm', 'make', 'ls', 'docker', 'pytest', './build.sh'].map((words) => [words, /bare name/] as const),
    ...[
      'sudo',
      'sudo apt update',
      'env',
      'env ls',
      'xargs rm',
      'sh',
      'sh -c x',
      'bash',
      'bash a.sh',
      '/bin/bash a.sh',
      'eval ls',
      'timeout 5 npm test',
      'nohup x',
      'nice x',
      'npx vitest',
      'sudo $',
      'bash -s $',
      'bash $',
      'bash -c x $',
      'npx $',
      'npx -c x $',
      'bash ../a.sh $',
      'sh /a.sh $',
      'pipx x $',
      'command git',
      'exec ls',
      '. a.sh',
      'source a.sh',
      'time npm test',
      'rbash -c x',
      'bash5 -c x',
      'setpriv x y',
      'prlimit x y',
      'linux64 x y',
      '/lib64/ld-linux-x86-64.so.2 x y',
      'gosu a b',
      'alias a=b',
      'export A',
      'busybox ls',
      'SUDO x',
    ].map((words) => [words, /runs other commands/] as const),
    ...['cd sub', 'cd sub $', 'printf x', 'pushd x'].map(
      (words) => [words, /may change what the rest of the line does/] as const,
    ),
    ...['python', 'node', 'perl', 'node $', '/usr/bin/python3'].map((words) => [words, /runs any program/] as const),
    ...[
      'python -c x',
      'node -e x',
      'node -r x a.mjs',
      'perl -e x',
      'python -m',
      'python -m -c',
      'node -',
      'node - $',
      'python3.11 -c x',
      'lua5.4 -e x',
      'deno -x',
      'lua -e x',
    ].map((words) => [words, /can run any program/] as const),
    ...[
      'find .',
      'find . -name x',
      'ssh host',
      'ssh host uptime',
      'curl https://a',
      'rm x',
      'rm -rf dist',
      'tar -czf a.tgz src',
      'dd if=a',
      'chmod +x a',
      'rg foo',
      'sed -n 1p',
      'vim a',
      'less a',
      'tar xf a',
      'rsync a b',
      'sqlite3 a',
      'awk x',
      'python -m http.server',
      'python3.11 -m pip',
    ].map((words) => [words, /only a whole command/] as const),
    ...[
      'docker run x',
      'docker exec x',
      'npm exec x',
      'npm x y',
      'git config user.name',
      'git submodule foreach',
      'git bisect run',
      'pnpm dlx x',
      'uv run x',
      'gh api x',
      'deno eval x',
      'deno run a.ts',
      'deno test a.ts',
      'bun x y',
      'bun exec x',
      'git for-each-repo x',
      'node inspect',
      'node inspect a.mjs',
      'tsx watch',
      'scala run',
      'dotnet watch',
      '/usr/lib/git-core/git-config x',
    ].map((words) => [words, /runs whatever follows/] as const),
    ...['npm run', 'yarn run', 'go run', 'gh pr', 'git stash', 'deno task', 'bun run', 'docker system'].map(
      (words) => [words, /says nothing without the next word/] as const,
    ),
  ])('that would allow %s', (words, pattern) => {
    expect(() => parseRule(`allow shell_run(${words})`)).toThrow(pattern);
    // To deny it, or to ask, is always possible.
    expect(parseRule(`deny shell_run(${words})`).effect).toBe('deny');
    expect(parseRule(`ask shell_run(${words})`).effect).toBe('ask');
  });

  it.each([
    'make $',
    'rm -rf dist $',
    'docker run x $',
    'git status',
    'npm run build',
    'python a.py',
    'python -m pytest',
    './build.sh all',
    'find . -delete $',
    'gh pr view',
    'go run ./cmd',
    'git commit -m',
    'npm run build --',
    'npm test --',
    'deno test $',
    'deno eval x $',
    'bun run build',
    'deno task build',
    'python3.11 -m pytest',
    'awk x $',
    'git push -u',
    'npm test --silent',
    'ls -la',
    'git fetch --all',
    'make all -f',
    'bash a.sh $',
    'npx eslint src $',
    'sh -eu scripts/a.sh x $',
    'pipx run black $',
    'node --test $',
  ])('but not one that allows %s', (words) => {
    expect(parseRule(`allow shell_run(${words})`).effect).toBe('allow');
  });

  it.each<[unknown, RegExp]>([
    [{ effect: 'allow', tool: 'write', commandPrefix: ['a', 'b'] }, /given no commands/],
    [{ effect: 'deny', tool: 'shell_run', pathGlob: 'a' }, /given commands, not paths/],
    [{ effect: 'deny', tool: 'shell_run', exact: true }, /exact belongs/],
    [{ effect: 'deny', tool: 'shell_run', commandPrefix: [] }, /commandPrefix/],
    [{ effect: 'deny', tool: 'shell_run', commandPrefix: ['a'], folder: 'b' }, /holds in every folder/],
    [{ effect: 'allow', tool: 'write', pathGlob: 'a', folder: 'b' }, /belongs to the words of a command/],
    ...['/etc', '../x', 'a/../b', 'a//b', ' a', 'a)', '(a', ''].map(
      (folder) =>
        [{ effect: 'allow', tool: 'shell_run', commandPrefix: ['a', 'b'], folder }, /folder|without empty parts/] as [
          unknown,
          RegExp,
        ],
    ),
    [{ effect: 'deny', tool: 'shell_run', unknown: 1 }, /unknown/i],
    [null, /expected object/],
  ])('as data: %j', (rule, pattern) => {
    expect(() => checkRule(rule)).toThrow(pattern);
  });

  it('whatever its text is, with an error that says so', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((text) => `allow shell_run(${text})`),
          fc.string().map((text) => `deny write(${text})`),
        ),
        (text) => {
          try {
            expect(parseRule(formatRule(parseRule(text)))).toEqual(parseRule(text));
          } catch (error) {
            expect(RuntimeError.is(error) && error.code).toBe('RULE_INVALID');
          }
        },
      ),
    );
  });
});
