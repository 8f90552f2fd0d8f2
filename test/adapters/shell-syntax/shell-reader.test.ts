import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { MAX_READ_CHARACTERS, MAX_READ_COMMANDS } from '../../../src/machines/permission/shell-reading.ts';

const commandsOf = (line: string): readonly (readonly string[])[] => {
  const reading = readShell(line);
  return reading.kind === 'commands'
    ? reading.commands.map(({ argv }) => argv)
    : [[`not understood: ${reading.because}`]];
};

describe('a command line is understood', () => {
  it.each<[string, string[][]]>([
    ['git status', [['git', 'status']]],
    ['  git\tstatus  ', [['git', 'status']]],
    [
      'a b; c d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a b;', [['a', 'b']]],
    ['a && b || c | d', [['a'], ['b'], ['c'], ['d']]],
    ['a &&\n\n b', [['a'], ['b']]],
    ['a\n\nb\n', [['a'], ['b']]],
    ['grep \'a b\' "c d"', [['grep', 'a b', 'c d']]],
    [`echo 'it'"'"'s'`, [['echo', "it's"]]],
    ['echo g\'\'it ""', [['echo', 'git', '']]],
    ["grep 'a\\.b$' src", [['grep', 'a\\.b$', 'src']]],
    ['git show HEAD~2^:src/a.ts', [['git', 'show', 'HEAD~2^:src/a.ts']]],
    ["git commit -m 'one\ntwo'", [['git', 'commit', '-m', 'one\ntwo']]],
    ["echo '#' \"!\" 'ü' '日本'", [['echo', '#', '!', 'ü', '日本']]],
    ['make CC=gcc all', [['make', 'CC=gcc', 'all']]],
    ['npm test 2>&1', [['npm', 'test']]],
    ['npm test >/dev/null 2>&1', [['npm', 'test']]],
    ['npm test 2> /dev/null | head', [['npm', 'test'], ['head']]],
    ['echo a >&2', [['echo', 'a']]],
    ['cat < /dev/null', [['cat']]],
    ['echo if then done', [['echo', 'if', 'then', 'done']]],
    ['a # c', [['a']]],
    ['# c\na #', [['a']]],
    ['a;#b\nc', [['a'], ['c']]],
    ['a && # b; c\nd', [['a'], ['d']]],
    ['a \\\n b', [['a', 'b']]],
    ['a && \\\n  b', [['a'], ['b']]],
    ['(a) && ( b; c )', [['a'], ['b'], ['c']]],
    ['{ a; } 2>&1 | b', [['a'], ['b']]],
    ['time a | b', [['a'], ['b']]],
    ['timeout -k 5 1m nice -n 3 a b', [['a', 'b']]],
    ['CI=1 env NO_COLOR=1 a', [['a']]],
    ['a "b\\"c" "\\$x \\\\y \\n" "d$" e\\ f', [['a', 'b"c', '$x \\y \\n', 'd$', 'e f']]],
    ["a \\( -name '*' \\) {}", [['a', '(', '-name', '*', ')', '{}']]],
    ["a \"$(cat <<'EOF'\nb (c)\n\n'e' `f` $5\n\nEOF\n)\"", [['a', "b (c)\n\n'e' `f` $5"]]],
    ['cd web && a; b', [['cd', 'web'], ['a'], ['b']]],
  ])('%j', (line, argvs) => {
    expect(commandsOf(line)).toEqual(argvs);
  });
});

describe('of a word that a shell replaces', () => {
  const openOf = (line: string): unknown => {
    const reading = readShell(line);
    return reading.kind === 'commands' ? reading.commands.map(({ open, input }) => open ?? input) : reading.because;
  };

  it('is known by what it may become', () => {
    expect(openOf('a *.ts b')).toEqual([{ 1: { kind: 'paths', patterns: ['*.ts'] } }]);
    expect(openOf('a src/{a,b}/[cd]?.ts')).toEqual([
      { 1: { kind: 'paths', patterns: ['src/{a,b}/[cd]?.ts', 'src/a/[cd]?.ts', 'src/b/[cd]?.ts'] } },
    ]);
    expect(openOf('nice a {,b}')).toEqual([{ 1: { kind: 'paths', patterns: ['{,b}', '', 'b'] } }]);
    expect(openOf('a "code: $?" $?')).toEqual([{ 1: { kind: 'number' }, 2: { kind: 'number' } }]);
    expect(openOf('a < b.txt')).toEqual(['b.txt']);
  });
});

describe('of a line that goes to another folder', () => {
  const foldersIn = (line: string): unknown => {
    const reading = readShell(line);
    return reading.kind === 'commands'
      ? reading.commands.map(({ argv, folders, entersFolder }) =>
          `${argv.join(' ')}${entersFolder === true ? '!' : ''} ${folders?.map((each) => each || '.').join(',') ?? ''}`.trim(),
        )
      : reading.because;
  };

  it.each<[string, readonly string[]]>([
    ['cd web && a && b', ['cd web!', 'a web', 'b web']],
    ['cd web && a; b', ['cd web!', 'a web', 'b .,web']],
    ['cd web; a', ['cd web!', 'a .,web']],
    ['cd web || a', ['cd web!', 'a .,web']],
    ['(cd web && a); b', ['cd web!', 'a web', 'b']],
    ['cd web && cd ./sub/ && a', ['cd web!', 'cd ./sub/! web', 'a web/sub']],
    ['a || cd web && b', ['a', 'cd web!', 'b .,web']],
    ['a && cd web && b | c', ['a', 'cd web!', 'b web', 'c web']],
    ['{ cd web; } && a', ['cd web!', 'a .,web']],
    ['cd web &&\n a', ['cd web!', 'a web']],
    ['cd .. && a', ['cd ..', 'a ..']],
    ['cd / ; a', ['cd /', 'a ..']],
    ['cd && a', ['cd', 'a ..']],
    ['cd web | a', ['cd web!', 'a ..']],
    ['a | cd web; b', ['a', 'cd web', 'b ..']],
    ['(cd / && a) && b', ['cd /', 'a ..', 'b']],
    ['timeout 5 cd web && a', ['cd web', 'a']],
  ])('%j: each command may run where it says', (line, expected) => {
    expect(foldersIn(line)).toEqual(expected);
  });
});

describe('a command line is not understood', () => {
  it.each([
    ...[
      '',
      ' ',
      '\n',
      ';',
      '&&',
      'a &&',
      '&& a',
      '| a',
      'a |',
      'a;;b',
      'a; ;b',
      'a\n&& b',
      "a 'b",
      'a "b',
      'a `b',
      'a)',
      '(a',
      '{ a',
      '}',
    ],
    ...[
      'echo $x',
      'echo ${x}',
      'echo $(x)',
      'echo `x`',
      'echo $((1))',
      "echo $'x'",
      'echo $"x"',
      'echo "$x"',
      'echo "`x`"',
      'echo "$(x)"',
      '$x',
      '"$x"',
      'echo $',
      'echo $1',
      'rm$IFS-rf$IFS/',
    ],
    ...[
      'echo ~',
      'echo ~root',
      'echo a=~',
      'echo a:~',
      "echo ''~",
      'echo "a"~',
      'echo {1..3}',
      'echo a{b',
      'echo !x',
      'echo a#b',
      'echo @(a)',
    ],
    ...[
      'a > f',
      'a>f',
      'a >> f',
      'a <> f',
      'a >| f',
      'a &> f',
      'a >& f',
      'a 3>&1',
      'a 2>&1x',
      'a 2>&f',
      'a 2>&-',
      'a > /dev/nullx',
      'a > /dev/null/x',
      'a > /dev/tcp/h/1',
      '> f',
      '>/dev/null a',
      'a>/dev/null',
      'a 12>&1',
      'a > "/dev/null"',
      'a {x}>/dev/null',
    ],
    ...['a << E\nx\nE', 'a <<- E\nx\nE', 'a <<< x', 'a << "E"\nx\nE'],
    ...[
      'A=1',
      'A=1 a',
      'A=1 B=2 a',
      'A=$(x) a',
      'A+=1 a',
      'A[0]=1',
      'export A=1',
      'readonly A=1',
      'declare A=1',
      'local A=1',
    ],
    ...['a &', 'a & b', 'a |& b', '! a', 'a | ! b', 'time', 'coproc a', 'a &&& b', 'a ||| b', '&a'],
    ...[
      'if a; then b; fi',
      'while a; do b; done',
      'until a; do b; done',
      'for x in a; do b; done',
      'case a in b) c;; esac',
      'f() { a; }',
      'function f { a; }',
      '[[ a ]]',
      '((1))',
      '[ a ]',
      'select x in a; do b; done',
    ],
    ...['if', 'then', 'fi', 'done', 'else', 'esac', 'in', 'do', '}', ']]'],
    ...['<(a)', 'a <(b)', 'a >(b)', '# c', '#!/bin/sh\na'],
    ...[
      '\\a',
      'g\\it x',
      'a \\',
      'a\rb',
      'a\r\nb',
      'a\0b',
      'a\u0007',
      'a\u001b[2K',
      'a\vb',
      'a\fb',
      'a\u007f',
      'a\u0085b',
    ],
    ...[
      'a\u00a0b',
      'a\u2003b',
      'a\u3000b',
      'a\u2028b',
      'a \u200bb',
      "a '\u200b'",
      "a '\u202e'",
      "a '\u2066'",
      "a '\ufeff'",
      "a '\u00ad'",
      "a '\u3164'",
      "a '\u00a0'",
      "a '\ud800'",
      "a '\u{e0041}'",
      "a '\ue000'",
    ],
    ...['g\u0456t status', '\uff47it status', 'git st\u0430tus', 'git status \u2013short', 'ls \u2215etc', 'a \u00fc'],
    ...[
      "'git' status",
      '"git" status',
      "g''it status",
      'g"i"t status',
      "''a",
      '-a',
      '+a',
      '%1',
      '=ls',
      '@a',
      'a,b c',
      ': a',
      'a^b',
    ],
    ...['alias a=b\r', 'a b=(c d)', 'a b=(', 'a;b&'],
  ])('%j', (line) => {
    expect(readShell(line).kind).toBe('not_understood');
  });

  it('when it is longer than anybody reads', () => {
    expect(readShell(`echo ${'a'.repeat(MAX_READ_CHARACTERS - 5)}`).kind).toBe('commands');
    expect(readShell(`echo ${'a'.repeat(MAX_READ_CHARACTERS - 4)}`).kind).toBe('not_understood');
    expect(readShell(Array.from({ length: MAX_READ_COMMANDS }, () => 'a').join(';')).kind).toBe('commands');
    expect(readShell(Array.from({ length: MAX_READ_COMMANDS + 1 }, () => 'a').join(';')).kind).toBe('not_understood');
  });

  it('and says why, in words', () => {
    expect(readShell('ls > f')).toEqual({ kind: 'not_understood', because: 'it redirects input or output' });
    expect(readShell('ls \\\n# c')).toEqual({ kind: 'not_understood', because: 'it has a comment that may be none' });
    expect(readShell("ls '\u202e'")).toEqual({
      kind: 'not_understood',
      because: 'it has an invisible or control character (U+202E)',
    });
  });

  it('and never fails, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 60 }),
          fc
            .array(
              fc.constantFrom('$', '(', ')', '`', '<', '"', "'", '\\', '\n', '{', 'a', ' ', '[', '#', '&', '|', ';'),
              { maxLength: 60 },
            )
            .map((parts) => parts.join('')),
        ),
        (line) => {
          expect(['commands', 'not_understood']).toContain(readShell(line).kind);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('and is not read for long, however deep it is', () => {
    for (const opening of ['(', '{ ', '$(', '"$(', '`', '<(', '((', '[[ ', 'if ', '${a:-', 'a <<E\n', '!', '! '])
      expect(readShell(opening.repeat(4_000).slice(0, MAX_READ_CHARACTERS)).kind).toBe('not_understood');
  });
});
