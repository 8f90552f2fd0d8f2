import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import type { PermissionDecision, PermissionQuestion } from '../../../src/machines/permission/permission-decision.ts';
import { formatRule, parseRule } from '../../../src/machines/permission/permission-rule.ts';
import type { PermissionSubject } from '../../../src/machines/permission/permission-subject.ts';
import { SHELL_RUN, decideLine } from './shell-questions.ts';

const WRITE: PermissionQuestion['definition'] = {
  name: 'write',
  permissionPolicy: 'always_allow',
  readOnly: false,
  destructive: true,
};

interface Options extends Partial<Omit<PermissionQuestion, 'policy' | 'sessionRules'>> {
  readonly policy?: readonly string[];
  readonly session?: readonly string[];
}

function decide({ policy = [], session = [], ...rest }: Options): PermissionDecision {
  return decidePermission({
    definition: WRITE,
    subject: { kind: 'tool' },
    workspaceDirectory: '/ws',
    mode: 'ask',
    policy: policy.map((rule) => parseRule(rule)),
    sessionRules: session.map((rule) => parseRule(rule)),
    humans: 'reachable',
    ...rest,
  });
}

const onPath = (path: string, options: Options = {}): PermissionDecision =>
  decide({ subject: { kind: 'path', path, access: 'write' }, ...options });

const suggestions = (decision: PermissionDecision): string[] =>
  decision.decision === 'ask' ? decision.suggestions.map((rule) => formatRule(rule)) : [decision.decision];

describe('a call on a path', () => {
  it.each<[string, readonly string[], string]>([
    ['src/a.ts', [], 'ask'],
    ['src/a.ts', ['allow write(src/**)'], 'allow'],
    ['/ws/src/a.ts', ['allow write(src/**)'], 'allow'],
    ['src/../../etc/passwd', ['allow write(src/**)'], 'ask'],
    ['src/../src/a.ts', ['allow write(**)'], 'ask'],
    ['/etc/passwd', ['allow write(**)'], 'ask'],
    ['/etc/passwd', ['allow write'], 'ask'],
    ['src/a.ts', ['allow write'], 'allow'],
    ['src/a.ts', ['allow edit(src/**)'], 'ask'],
    ['.git/hooks/pre-commit', ['allow write(**)'], 'ask'],
    ['.git/config', ['allow write'], 'ask'],
    ['sub/.git/config', ['allow write(sub/**)'], 'ask'],
    ['HEAD', ['allow write(*)'], 'ask'],
    ['.git/config', ['allow write(.git/config)'], 'allow'],
    ['src/a.ts', ['allow write(**)', 'deny write(src/**)'], 'deny'],
    ['SRC/a.ts', ['allow write(**)', 'deny write(src/**)'], 'deny'],
    ['src', ['allow write(**)', 'deny write(src/**)'], 'deny'],
    ['x/../src/a.ts', ['allow write(**)', 'deny write(src/**)'], 'ask'],
    ['.', ['deny write(src/**)', 'allow write(**)'], 'ask'],
    ['src', ['deny write(src/secret/**)', 'allow write(**)'], 'ask'],
    ['lib', ['deny write(src/secret/**)', 'allow write(**)'], 'allow'],
    ['lib/a', ['deny write', 'allow write(**)'], 'deny'],
    ['lib/a', ['ask write(lib/**)', 'allow write(**)'], 'ask'],
  ])('%s, under %j: %s', (path, rules, expected) => {
    expect(onPath(path, { policy: rules }).decision).toBe(expected);
    expect(onPath(path, { policy: rules, mode: 'preapproved' }).decision).toBe(
      rules.some((rule) => !rule.startsWith('allow')) ? expected : 'allow',
    );
  });

  it('that reaches below it is held against what is below', () => {
    const search = (path: string, policy: readonly string[]): string =>
      decide({ policy, subject: { kind: 'path', path, access: 'read', reachesBelow: true } }).decision;
    expect(search('src', ['allow write(src/**)'])).toBe('allow');
    expect(search('src/a', ['allow write(src/*)'])).toBe('ask');
    expect(search('src', ['allow write(src)'])).toBe('ask');
    expect(search('src', ['allow write(**)', 'deny write(**/.env)'])).toBe('ask');
    expect(search('src', ['allow write(**)', 'deny write(lib/**/.env)'])).toBe('allow');
    expect(search('src', ['allow write(**)', 'deny write(src/**)'])).toBe('deny');
    expect(suggestions(decide({ subject: { kind: 'path', path: 'src', access: 'read', reachesBelow: true } }))).toEqual(
      ['allow write(src/**)'],
    );
  });

  it('is suggested as this path only, and not at all where it should be asked about each time', () => {
    expect(suggestions(onPath('/ws/src/a.ts'))).toEqual(['allow write(src/a.ts)']);
    for (const path of ['/etc/passwd', '../a', '.env', '.git/config', 'a*b', 'HEAD', '-rf'])
      expect(suggestions(onPath(path))).toEqual([]);
  });
});

describe('a call of a tool as such', () => {
  const search = {
    name: 'docs__search',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
  } as const;

  it('is allowed by a rule about the tool, and by no other', () => {
    expect(decide({ definition: search }).decision).toBe('ask');
    expect(decide({ definition: search, policy: ['allow docs__search'] })).toEqual({
      decision: 'allow',
      by: 'policy',
      rule: 'allow docs__search',
    });
    expect(decide({ definition: search, session: ['allow docs__search'] })).toEqual({
      decision: 'allow',
      by: 'session_rule',
      rule: 'allow docs__search',
    });
    expect(decide({ definition: search, policy: ['allow docs__read', 'allow docs__search(x)'] }).decision).toBe('ask');
  });

  it('is asked about where a rule is against some of its calls that cannot be told apart', () => {
    expect(
      decide({ definition: search, policy: ['allow docs__search', 'deny docs__search(secret/**)'] }).decision,
    ).toBe('ask');
    expect(
      decide({ definition: { ...search, name: 'shell_close' }, mode: 'preapproved', policy: ['deny shell_close(rm)'] })
        .decision,
    ).toBe('ask');
  });

  it('is suggested, unless it may destroy something', () => {
    expect(suggestions(decide({ definition: search }))).toEqual(['allow docs__search']);
    expect(suggestions(decide({ definition: { ...search, destructive: true } }))).toEqual([]);
    expect(suggestions(decide({ definition: { ...search, name: 'not a name' } }))).toEqual([]);
    for (const name of ['shell_set_env', 'shell_close', 'shell_open'])
      expect(suggestions(decide({ definition: { ...search, name } }))).toEqual([]);
    expect(
      suggestions(
        decide({
          definition: { ...search, name: 'shell_set_cwd' },
          subject: { kind: 'path', path: '/ws/a', access: 'read' },
        }),
      ),
    ).toEqual([]);
  });
});

describe('the mode', () => {
  it('deny denies whatever it is', () => {
    expect(decide({ mode: 'deny', definition: { ...WRITE, readOnly: true }, policy: ['allow write'] })).toMatchObject({
      decision: 'deny',
      by: 'mode',
    });
  });

  it('ask lets a read-only tool run, unless a rule is against it', () => {
    const read = { ...WRITE, readOnly: true };
    expect(decide({ definition: read })).toEqual({ decision: 'allow', by: 'read_only' });
    expect(decide({ definition: read, policy: ['ask write'] }).decision).toBe('ask');
    expect(decide({ definition: read, policy: ['deny write'] })).toMatchObject({ decision: 'deny', by: 'policy' });
  });

  it('ask asks before a secret is read by its name, which preapproved does not', () => {
    const read = { ...WRITE, name: 'read', readOnly: true };
    const reading = (path: string, options: Options = {}): PermissionDecision =>
      decide({ definition: read, subject: { kind: 'path', path, access: 'read' }, ...options });
    for (const path of ['.env', '/ws/.aws/config', 'a/.ENV', 'server.pem', '/elsewhere/.ssh/id_rsa', '.git/config']) {
      expect(reading(path)).toMatchObject({ decision: 'ask', suggestions: [] });
      expect(reading(path, { mode: 'preapproved' })).toEqual({ decision: 'allow', by: 'read_only' });
      expect(reading(path, { humans: 'none' }).decision).toBe('deny');
    }
    expect(reading('.env', { policy: ['allow read(.env)'] })).toMatchObject({ decision: 'allow', by: 'policy' });
    for (const path of ['src/a.ts', '/elsewhere/manual.md', '.'])
      expect(reading(path)).toEqual({ decision: 'allow', by: 'read_only' });
  });

  it('preapproved lets all run that no rule is against, and says so', () => {
    expect(decide({ mode: 'preapproved' })).toEqual({ decision: 'allow', by: 'preapproved' });
    expect(decide({ mode: 'preapproved', policy: ['ask write'], session: ['allow write'] }).decision).toBe('ask');
  });

  it('does not matter to rules of other tools', () => {
    expect(decide({ mode: 'preapproved', policy: ['deny edit', 'ask shell_run(rm)'] }).decision).toBe('allow');
  });
});

describe('a tool that always asks', () => {
  const definition = { ...SHELL_RUN, permissionPolicy: 'always_ask' } as const;

  it('asks in every mode, though it is read-only or the command is safe', () => {
    expect(decideLine('ls', { definition }).decision).toBe('ask');
    expect(decideLine('ls', { definition, mode: 'preapproved' }).decision).toBe('ask');
    expect(
      decide({ definition: { ...WRITE, permissionPolicy: 'always_ask', readOnly: true }, mode: 'preapproved' })
        .decision,
    ).toBe('ask');
  });

  it('asks no more where a rule names just that', () => {
    expect(decideLine('npm test', { definition, policy: ['allow shell_run(npm test)'] }).decision).toBe('allow');
    expect(decideLine('npm test | head', { definition, policy: ['allow shell_run(npm test)'] }).decision).toBe('ask');
    const write = { ...WRITE, permissionPolicy: 'always_ask' } as const;
    expect(onPath('a', { definition: write, policy: ['allow write(a)'] }).decision).toBe('allow');
    expect(onPath('a', { definition: write, policy: ['allow write'] }).decision).toBe('ask');
    expect(onPath('a', { definition: write, policy: ['allow write', 'allow write(a)'] }).decision).toBe('allow');
    expect(decide({ definition: write, policy: ['allow write'] }).decision).toBe('allow');
  });

  it('says that it always asks, not that a rule is missing', () => {
    const because = 'write always asks';
    expect(
      onPath('a', { definition: { ...WRITE, permissionPolicy: 'always_ask' }, mode: 'preapproved' }),
    ).toMatchObject({ decision: 'ask', because });
    expect(decide({ definition: { ...WRITE, permissionPolicy: 'always_ask' }, mode: 'preapproved' })).toMatchObject({
      decision: 'ask',
      because,
    });
    expect(decideLine('make', { definition: { ...SHELL_RUN, permissionPolicy: 'always_ask' } })).toMatchObject({
      decision: 'ask',
      because: 'shell_run always asks',
    });
    expect(onPath('a', {})).toMatchObject({ decision: 'ask', because: 'no rule allows write for "a"' });
  });
});

describe('where nobody can be asked', () => {
  it('what would be asked is denied, and it says why', () => {
    expect(decideLine('rm x', { humans: 'none' })).toMatchObject({
      decision: 'deny',
      by: 'unattended',
      because: expect.stringMatching(/none can be: no rule allows it: rm is not known to only read/),
    });
    expect(decideLine('ls', { humans: 'none' })).toEqual({ decision: 'allow', by: 'safe_command' });
  });
});

describe('a command line', () => {
  it('is allowed by the weakest of its reasons', () => {
    const rules = { policy: ['allow shell_run(npm test)'], session: ['allow shell_run(npm run build)'] };
    expect(decideLine('ls | head', rules)).toEqual({ decision: 'allow', by: 'safe_command' });
    expect(decideLine('ls && npm test', rules)).toEqual({
      decision: 'allow',
      by: 'policy',
      rule: 'allow shell_run(npm test)',
    });
    expect(decideLine('npm run build && npm test && npm test', rules)).toEqual({
      decision: 'allow',
      by: 'session_rule',
      rule: 'allow shell_run(npm run build), allow shell_run(npm test)',
    });
  });

  it('is not read by itself: without a reading it is not understood', () => {
    const subject: PermissionSubject = { kind: 'shell', command: 'ls', cwd: '/ws' };
    expect(decide({ definition: SHELL_RUN, subject, policy: ['allow shell_run(git status)'] }).decision).toBe('ask');
    expect(
      decide({ definition: SHELL_RUN, subject, mode: 'preapproved', policy: ['deny shell_run(rm)'] }).decision,
    ).toBe('ask');
  });

  it('is allowed by no rule about the whole tool: that is what the mode is for', () => {
    expect(decideLine('npm test', { policy: ['allow shell_run'] }).decision).toBe('ask');
    expect(decideLine('npm test', { policy: ['deny shell_run'] }).decision).toBe('deny');
    expect(decideLine('ls', { policy: ['ask shell_run'] }).decision).toBe('ask');
  });

  it.each(['/', '/etc', '/ws/..', '/ws/../ws', '/wsx', '/ws/sub/../../x'])(
    'in %s, outside the workspace, is asked about',
    (cwd) => {
      expect(decideLine('ls', { cwd }).decision).toBe('ask');
      expect(decideLine('npm test', { cwd, policy: ['allow shell_run(npm test)'] })).toMatchObject({
        decision: 'ask',
        suggestions: [],
      });
    },
  );

  it('below the workspace is as good as in it', () => {
    expect(decideLine('ls', { cwd: '/ws/sub' }).decision).toBe('allow');
  });

  it('in a folder with the name of a secret is asked about', () => {
    for (const cwd of ['/ws/.aws', '/ws/a/.git', '/ws/.ssh/x']) {
      expect(decideLine('cat config', { cwd }).decision).toBe('ask');
      expect(decideLine('cat config', { cwd, policy: ['allow shell_run(cat config $)'] }).decision).toBe('ask');
      expect(
        decideLine('cat config', { cwd, policy: [`allow shell_run(cat config $) in ${cwd.slice('/ws/'.length)}`] })
          .decision,
      ).toBe('allow');
    }
  });

  it('in a shell that earlier commands may have changed is asked about', () => {
    expect(decideLine('git status', { isolated: false, policy: ['allow shell_run(git status)'] })).toMatchObject({
      decision: 'ask',
      suggestions: [],
    });
    expect(decideLine('git status', { isolated: false, mode: 'preapproved' }).decision).toBe('allow');
    expect(
      decideLine('git status', { isolated: false, mode: 'preapproved', policy: ['deny shell_run(rm)'] }).decision,
    ).toBe('ask');
    expect(decideLine('rm x', { isolated: false, mode: 'preapproved', policy: ['deny shell_run(rm)'] }).decision).toBe(
      'deny',
    );
  });

  it.each<[string, readonly string[]]>([
    ['npm test -- x', ['allow shell_run(npm test)']],
    ['npm run build -- --x', ['allow shell_run(npm run build -- --x $)']],
    ['npm run build', ['allow shell_run(npm run build $)']],
    ['npm test -script-shell=x', ['allow shell_run(npm test -script-shell=x $)']],
    ['git diff --histogram', ['allow shell_run(git diff --histogram $)']],
    ['git diff --output=x', ['allow shell_run(git diff --output=x $)']],
    ['git blame --color-lines f', ['allow shell_run(git blame --color-lines f $)']],
    ['git add .', ['allow shell_run(git add . $)']],
    ['git add -N f', ['allow shell_run(git add -N f $)']],
    ['git stash list', ['allow shell_run(git stash list $)']],
    ['git commit -am x', ['allow shell_run(git commit -am x $)']],
    ['git commit', ['allow shell_run(git commit $)']],
    ['git commit -m x --no-verify', []],
    ['npm audit', ['allow shell_run(npm audit $)']],
    ['npm audit --json', ['allow shell_run(npm audit --json $)']],
    ['deno test', ['allow shell_run(deno test $)']],
    ['deno eval x', ['allow shell_run(deno eval x $)']],
    ['go test -exec x', ['allow shell_run(go test -exec x $)']],
    ['deploy --token=x', []],
    ['deploy --config .env', []],
    ['git push https://user:x@a.example/b', []],
    ['deploy 0123456789abcdef0123456789abcdef01234567', []],
    [`deploy ${'a '.repeat(100)}`, []],
    ['npm run -s build', ['allow shell_run(npm run -s build $)']],
    ['npm run', ['allow shell_run(npm run $)']],
    ['cargo test x && go build ./...', ['allow shell_run(cargo test)', 'allow shell_run(go build)']],
    ['git commit -m x', ['allow shell_run(git commit -m)']],
    ['git commit --amend', []],
    ['git push origin main', ['allow shell_run(git push origin main $)']],
    ['git push --force origin x', []],
    ['git reset --hard', []],
    ['make', ['allow shell_run(make $)']],
    ["./build.sh 'a b'", ["allow shell_run(./build.sh 'a b' $)"]],
    ['node scripts/a.mjs x', ['allow shell_run(node scripts/a.mjs x $)']],
    ['ls | make && ls', ['allow shell_run(make $)']],
    ['npx eslint src', ['allow shell_run(npx eslint src $)']],
    ['bash scripts/build.sh', ['allow shell_run(bash scripts/build.sh $)']],
    ['timeout 60 npm test # slow', ['allow shell_run(npm test)']],
    ['cd web && npm test', ['allow shell_run(npm test) in web']],
    ['cd web && make; make', ['allow shell_run(make $) in web', 'allow shell_run(make $)']],
    ['npm test src/auth.test.ts src/token.ts', ['allow shell_run(npm test)']],
    ['npx vitest run src/auth.test.ts', ['allow shell_run(npx vitest run src/auth.test.ts $)']],
    ['npm test *', []],
    ['make && make', ['allow shell_run(make $)']],
    ...[
      'rm x',
      'dd if=a',
      'mkfs.ext4 x',
      'chmod -R 777 x',
      'curl x',
      'curl x | sh',
      'sudo make',
      'xargs make',
      'env make',
      'npx',
      'make; rm x',
      'make > f',
      'make $x',
      'node -e x',
      'cd ..',
      "make 'a\nb'",
      'ls /etc | sh',
    ].map((line) => [line, []] as [string, readonly string[]]),
  ])('%j can be allowed from now on by %j', (line, expected) => {
    expect(suggestions(decideLine(line))).toEqual(expected);
    if (expected.length > 0) expect(decideLine(line, { session: expected }).decision).toBe('allow');
  });
});

describe('a decision', () => {
  it('never allows more because a rule that denies or asks was added, nor less because one that allows was', () => {
    const RANK = { deny: 0, ask: 1, allow: 2 } as const;
    const lines = fc
      .array(
        fc.constantFrom(
          'git',
          'push',
          'rm',
          '-rf',
          'ls',
          '&&',
          '|',
          ';',
          'npm',
          'test',
          'sudo',
          '$x',
          'x',
          '--force',
          '>f',
          "'a b'",
        ),
        { minLength: 1, maxLength: 6 },
      )
      .map((words) => words.join(' '));
    const words = fc.constantFrom(
      'git push',
      'rm',
      'npm test',
      'ls',
      'git',
      'rm -rf',
      'npm test $',
      'git push $',
      'ls $',
    );
    const restricting = fc
      .tuple(fc.constantFrom('deny', 'ask'), words)
      .map(([effect, prefix]) => `${effect} shell_run(${prefix})`);
    const allowing = fc
      .constantFrom('git push', 'npm test', 'npm test $', 'ls $', 'rm -rf x $')
      .map((prefix) => `allow shell_run(${prefix})`);
    const mode = fc.constantFrom('ask' as const, 'preapproved' as const);
    fc.assert(
      fc.property(
        lines,
        mode,
        fc.array(fc.oneof(restricting, allowing), { maxLength: 3 }),
        restricting,
        allowing,
        (line, how, rules, no, yes) => {
          const rank = (policy: readonly string[], session: readonly string[] = []): number =>
            RANK[decideLine(line, { mode: how, policy, session }).decision];
          expect(rank([...rules, no])).toBeLessThanOrEqual(rank(rules));
          expect(rank([...rules, yes])).toBeGreaterThanOrEqual(rank(rules));
          expect(rank(rules, [yes])).toBe(rank([...rules, yes]));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('a call that reaches into folders of the runtime', () => {
  const guarded = 'it lies in the home';
  const READ: PermissionQuestion['definition'] = {
    name: 'read',
    permissionPolicy: 'always_allow',
    readOnly: true,
    destructive: false,
  };

  it.each<[string, Options, string]>([
    ['writes, by a rule', { policy: ['allow write'] }, 'ask'],
    ['writes, by a rule of the session', { session: ['allow write(a.yaml)'] }, 'ask'],
    ['writes, whatever the mode allows', { mode: 'preapproved' }, 'ask'],
    ['writes, and a rule denies it', { policy: ['deny write'] }, 'deny'],
    ['writes, and nobody can be asked', { mode: 'preapproved', humans: 'none' }, 'deny'],
    ['reads', { definition: READ, subject: { kind: 'path', path: 'a.yaml', access: 'read' } }, 'ask'],
    [
      'reads, and may do everything',
      { definition: READ, subject: { kind: 'path', path: 'a.yaml', access: 'read' }, mode: 'preapproved' },
      'allow',
    ],
  ])('%s', (_what, options, decision) => {
    const decided = onPath('a.yaml', { guarded, ...options });
    expect(decided.decision).toBe(decision);
    if (decided.decision === 'ask') expect(decided).toEqual({ decision: 'ask', because: guarded, suggestions: [] });
  });

  it.each<[string, Options, string]>([
    ['is allowed by no rule', { policy: ['allow shell_run(touch a)'] }, 'ask'],
    ['is not allowed for being safe', {}, 'ask'],
    ['is allowed where every line is', { mode: 'preapproved' }, 'allow'],
    [
      'asks where rules about commands bind lines',
      { mode: 'preapproved', policy: ['deny shell_run(git push)'] },
      'ask',
    ],
  ])('as a shell line %s', (_what, options, decision) => {
    const reading = {
      kind: 'commands',
      commands: [{ argv: options.policy?.[0]?.includes('touch') === true ? ['touch', 'a'] : ['ls'] }],
    } as const;
    expect(
      decide({
        definition: SHELL_RUN,
        subject: { kind: 'shell', command: 'x', cwd: '/ws' },
        reading,
        guarded,
        ...options,
      }).decision,
    ).toBe(decision);
  });
});
