/**
 * What is understood is held against real shells: they run every line that `readShell` understands, with functions in
 * the place of programs that write down what they were given and where, and must have run nothing but what was read.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { foldersOf } from '../../../src/machines/permission/shell-reading.ts';
import type { ShellCommand } from '../../../src/machines/permission/shell-reading.ts';

/** Without ksh93, which goes on before a pipe has ended. */
const SHELLS = [
  ['/bin/sh'],
  ['/bin/dash'],
  ['/bin/bash'],
  ['/bin/bash', '--posix'],
  ['/bin/busybox', 'sh'],
  ['/bin/mksh'],
].filter(([path = '', ...options]) => existsSync(path) && writesDown(path, options));

/** Whether it has a printf of its own, without which nothing is written down. */
function writesDown(path: string, options: readonly string[]): boolean {
  return (
    spawnSync(path, [...options, '-c', 'printf x'], { env: { PATH: '/nowhere' }, encoding: 'utf8' }).stdout === 'x'
  );
}

/** Names of functions in every shell, and no builtins. */
const NAMES = ['git', 'ls', 'npm', 'foo', 'status', 'x1'];

type Argv = readonly string[];

interface Understood {
  readonly line: string;
  /** All but those that only enter a folder. */
  readonly commands: readonly ShellCommand[];
}

interface Ran {
  readonly argv: Argv;
  /** From where the line ran. */
  readonly folder: string;
}

/** Stand in for programs, where the shell has no word of its own for them. */
const WRAPPERS = [
  'timeout() { shift; "$@"; }',
  'nice() { "$@"; }',
  'env() { while :; do case $1 in *=*) shift ;; *) break ;; esac; done; "$@"; }',
  'cat() { while IFS= read -r each; do printf "%s\\n" "$each"; done; }',
  // Bash takes the word for a function only after `function`, and runs that where its own word may not stand.
  `TIMED='{ case $1 in -p) shift ;; esac; "$@"; }'`,
  'for NAMED in "time() $TIMED" "function time $TIMED"; do',
  '( eval "$NAMED" ) 2>/dev/null && { eval "$NAMED"; break; }',
  'done',
];

/** Runs each line in a shell of its own kind. @returns what was run, by the index of the line */
function run([shell = '', ...options]: readonly string[], lines: readonly Understood[]): readonly Ran[][] {
  const folder = mkdtempSync(join(tmpdir(), 'shells-'));
  try {
    for (const name of ['web/a', 'a/b']) mkdirSync(join(folder, name), { recursive: true });
    for (const [index, { line }] of lines.entries()) writeFileSync(join(folder, `line${index}`), line);
    const functions = NAMES.map(
      (name) => `${name}() { printf '%s\\000' "$LINE" "\${PWD#$ROOT}" "$#" ${name} "$@" >> "$LOG"; }`,
    );
    const runs = lines.map((_, index) => `LINE=${index}; ( . ./line${index} )`);
    writeFileSync(join(folder, 'driver'), ['ROOT=$PWD', ...WRAPPERS, ...functions, ...runs, ':'].join('\n'));
    execFileSync(shell, [...options, './driver'], {
      cwd: folder,
      env: { PATH: '/nowhere', LOG: join(folder, 'log'), HOME: '/nowhere' },
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: 20_000,
    });
    return recordsIn(existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '', lines.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function recordsIn(log: string, count: number): Ran[][] {
  const ran: Ran[][] = Array.from({ length: count }, () => []);
  const fields = log.split('\0');
  for (let at = 0; at + 3 < fields.length;) {
    const [index, folder = '', size] = [Number(fields[at]), fields[at + 1], Number(fields[at + 2])];
    ran[index]?.push({ argv: fields.slice(at + 3, at + 4 + size), folder: folder.replace(/^\//, '') });
    at += 4 + size;
  }
  return ran;
}

const sorted = (argvs: readonly Argv[]): string[] => argvs.map((argv) => JSON.stringify(argv)).toSorted();

/** Whether `part` is what is left of `whole` when some are taken out, in the same order. */
function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const each of whole) if (each === part[at]) at += 1;
  return at === part.length;
}

/** Of a command with words that the shell replaces, its name is all that can be compared. */
const named = ({ argv, open }: ShellCommand): Argv => (open === undefined ? argv : argv.slice(0, 1));

function expectSameAsShells(lines: readonly string[]): number {
  const understood = lines.flatMap((line): Understood[] => {
    const reading = readShell(line);
    if (reading.kind !== 'commands') return [];
    const commands = reading.commands.filter(({ entersFolder }) => entersFolder !== true);
    // What else would run is a builtin, or nothing that is there.
    return commands.every(({ argv: [name = ''], input }) => NAMES.includes(name) && input === undefined)
      ? [{ line, commands }]
      : [];
  });
  for (const shell of SHELLS) {
    const ran = run(shell, understood);
    for (const [index, { line, commands }] of understood.entries())
      expectRead(line, commands, ran[index] ?? [], shell.join(' '));
  }
  return understood.length;
}

function expectRead(line: string, commands: readonly ShellCommand[], ran: readonly Ran[], shell: string): void {
  const hasOpen = commands.some(({ open }) => open !== undefined);
  const argvs = hasOpen ? commands.map(({ argv }) => argv.slice(0, 1)) : commands.map(named);
  const executedArgvs = hasOpen ? ran.map(({ argv }) => argv.slice(0, 1)) : ran.map(({ argv }) => argv);
  const about = { line, shell, argvs };
  const [executed, read] = [sorted(executedArgvs), sorted(argvs)];
  // A shell that has no word for it can time neither a group nor a command with variables: it runs nothing of that.
  const isRefused = /time\b(?:\\\n|[^\n])*[({=]/.test(line);
  // Every function succeeds, so only `||` and a folder that is not there, leave something out; both sides of a pipe run
  // at once, in any order.
  const mayLeaveOut = line.includes('||') || line.includes('cd ') || isRefused;
  if (!mayLeaveOut) expect({ ...about, executed }).toEqual({ ...about, executed: read });
  expect({ ...about, executed, isRead: isSubsequence(executed, read) }).toEqual({ ...about, executed, isRead: true });
  if (!mayLeaveOut && !line.includes('|')) expect({ ...about, ran: executedArgvs }).toEqual({ ...about, ran: argvs });
  for (const { argv, folder } of ran) {
    // Of one that may run anywhere it is said that it runs above, where nothing is allowed.
    const mayRunIn = (command: ShellCommand): boolean =>
      foldersOf(command).some((each) => each === folder || each.startsWith('..'));
    const isThere = commands.some(
      (command) =>
        (command.open !== undefined || JSON.stringify(command.argv) === JSON.stringify(argv)) && mayRunIn(command),
    );
    expect({ ...about, argv, folder, isThere }).toEqual({ ...about, argv, folder, isThere: true });
  }
}

const nasty = fc.constantFrom(
  ...[
    '$',
    '`',
    '\\',
    '"',
    "'",
    '~',
    '*',
    '?',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '<',
    '>',
    '&',
    '|',
    ';',
    '#',
    '!',
    '^',
    '%',
    '=',
    '+',
    ',',
    ':',
    '@',
    '.',
    '/',
    '-',
    '_',
    '0',
    '1',
    '2',
    'a',
    ' ',
    '\t',
    '\n',
    '\r',
  ],
  ...[
    '$(',
    '${x}',
    '$x',
    '$((',
    '>/dev/null',
    '2>&1',
    '>&2',
    ' <',
    '<<E\n',
    'E\n',
    '&&',
    '||',
    ';;',
    '{a,b}',
    '{1..3}',
    'a=',
    'A=b',
    '=~',
    ':~',
    '\\\n',
    '!(',
    '@(',
    "$'",
    '$"',
    '\u00a0',
    '\u00fc',
    '\u200b',
    ' if ',
    ' then ',
    ' in ',
    'time ',
    '! ',
    '[[',
    ']]',
  ],
  ...[
    '# c',
    ' # c\n',
    ' # it\'s "c\n',
    ' \\\n ',
    '\\;',
    '\\(',
    '\\ ',
    '"\\"',
    '\\"',
    '$?',
    '$"',
    '( ',
    ' )',
    '{ ',
    '; }',
    '(',
    ')',
    'timeout 5 ',
    'nice ',
    'env CI=1 ',
    'CI=1 ',
    'time -p ',
    'cd web && ',
    'cd a; ',
    'cd web || ',
    'cd nope && ',
    ' && cd a/b && ',
  ],
);

const word = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[A-Za-z0-9_./,:@%+=^-]{1,8}$/) },
  { weight: 3, arbitrary: fc.stringMatching(/^[ -&(-~]{0,8}$/).map((text) => `'${text}'`) },
  { weight: 2, arbitrary: fc.stringMatching(/^[ !#%-[\]-_a-~]{0,8}$/).map((text) => `"${text}"`) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.constantFrom(
          'a',
          "''",
          '""',
          "'b c'",
          '"d"',
          '"\\\\b"',
          '"a\\$b"',
          "'\\\\'",
          '\\a',
          'HEAD~',
          '~',
          '^',
          '=',
          ':',
          '-',
          '!',
          '#',
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.array(nasty, { maxLength: 4 }).map((parts) => parts.join('')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '"a \\"b\\" c"',
      '"\\$x \\`y\\` \\\\z"',
      '"a\\nb$"',
      '"$?"',
      '$?',
      "\\'",
      '\\(',
      '\\)',
      'a\\ b',
      '\\#',
      '{}',
      '*.x',
      'a?',
      '{a,b}',
      '"$(cat <<\'EOF\'\na (b)\n\nc d\nEOF\n)"',
      '"$(cat <<\'E\'\nit\'s `x` "y" (it\'s)\nE\n)"',
      '\\\n',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '2>&1',
      '>/dev/null',
      '2>/dev/null',
      '</dev/null',
      '>&2',
      '1>&2',
      '2',
      '1',
      'if',
      'done',
      '{',
      '}',
      '!',
      '--',
    ),
  },
);

const plainCommand = fc
  .tuple(fc.constantFrom(...NAMES), fc.array(word, { maxLength: 4 }))
  .map(([name, words]) => [name, ...words].join(' '));
const wrapped = fc
  .tuple(
    fc.constantFrom(
      'timeout 5 ',
      'nice ',
      'env CI=1 ',
      'CI=1 ',
      'CI=1 NO_COLOR= ',
      'time ',
      'time -p ',
      'nice timeout 5 ',
      'timeout 5 time ',
      'nice time -p ',
    ),
    plainCommand,
  )
  .map((parts) => parts.join(''));
const grouped = fc
  .tuple(
    fc.constantFrom(
      ['(', ')'],
      ['( ', ' )'],
      ['{ ', '; }'],
      ['(', ') 2>&1'],
      ['(cd web && ', ')'],
      ['time (', ')'],
      ['((', '))'],
      ['{ cd a; ', '; }'],
      ['( # c\n', '\n)'],
      ['(', ' ; git ) >/dev/null'],
    ),
    plainCommand,
  )
  .map(([[opening, closing], inside]) => opening + inside + closing);
const entering = fc.constantFrom('cd web', 'cd a/b', 'cd ./web/', 'cd nope', 'cd ..', 'cd', 'cd -');
const command = fc.oneof(
  { weight: 6, arbitrary: plainCommand },
  { weight: 2, arbitrary: wrapped },
  { weight: 2, arbitrary: grouped },
  { weight: 1, arbitrary: entering },
);
const separator = fc.constantFrom(
  ' # c\n',
  ' \\\n&& ',
  ' && # c\n',
  ' \\\n ',
  ';# c; d\n',
  ' # c \\\n',
  '; ',
  ' && ',
  ' || ',
  ' | ',
  '\n',
  ';',
  '&&',
  '||',
  '|',
  ' ;\n',
  ' &&\n ',
  '|\n',
  ' & ',
  ' |& ',
  '\n\n',
  ';;',
  ' ; ; ',
  '\n;',
  '\n&& ',
);

const wellFormed = fc
  .tuple(
    command,
    fc.array(fc.tuple(separator, command), { maxLength: 3 }),
    fc.constantFrom('', ';', '\n', ' ', ' #', '&', ' ;\n'),
  )
  .map(([first, rest, end]) => first + rest.map((parts) => parts.join('')).join('') + end);

/** A line with something put into it, anywhere. */
const disturbed = fc
  .tuple(wellFormed, fc.array(fc.tuple(fc.nat({ max: 100 }), nasty), { minLength: 1, maxLength: 2 }))
  .map(([line, parts]) =>
    parts.reduce((text, [place, part]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + part + text.slice(at);
    }, line),
  );

const soup = fc
  .array(fc.oneof(nasty, fc.constantFrom(...NAMES, ' ', ' ')), { maxLength: 12 })
  .map((parts) => parts.join(''));

const anyLine = fc.oneof(
  { weight: 4, arbitrary: wellFormed },
  { weight: 5, arbitrary: disturbed },
  { weight: 2, arbitrary: soup },
);

describe.skipIf(process.platform === 'win32')('what is understood of a command line', () => {
  it('is what every shell of this machine runs, and nothing else runs', () => {
    let understood = 0;
    fc.assert(
      fc.property(fc.array(anyLine, { minLength: 400, maxLength: 400 }), (lines) => {
        understood += expectSameAsShells(lines);
      }),
      // A batch that fails says which line it was; making it smaller takes longer than reading that.
      { numRuns: 3, endOnFailure: true },
    );
    expect(understood).toBeGreaterThan(100);
  }, 120_000);

  it('is what they run for every short line of the characters that matter', () => {
    const characters = [
      'a',
      ' ',
      ';',
      '|',
      '&',
      '\n',
      "'",
      '"',
      '~',
      '2',
      '>',
      '#',
      '=',
      '\\',
      '-',
      '^',
      '!',
      '(',
      ')',
      '{',
      '}',
      '$',
      '?',
      '*',
    ];
    const tails = characters.flatMap((one) =>
      characters.flatMap((two) => characters.map((three) => one + two + three)),
    );
    expect(expectSameAsShells(tails.flatMap((tail) => [`foo${tail}ls`, `foo a${tail} b`]))).toBeGreaterThan(300);
  }, 120_000);
});
