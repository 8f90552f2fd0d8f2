/**
 * What is understood is held against real shells: they run every line that `readShell` understands, with functions in the place of
 * programs that write down what they were given, and must have run nothing but what was read.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';

const SHELLS = [['/bin/sh'], ['/bin/dash'], ['/bin/bash'], ['/bin/bash', '--posix'], ['/bin/busybox', 'sh'], ['/bin/ksh'], ['/bin/mksh']].filter(([path = '']) => existsSync(path));

/** Names of functions in every shell, and no builtins. */
const NAMES = ['git', 'ls', 'npm', 'foo', 'status', 'x1'];

type Argv = readonly string[];

interface Understood {
  readonly line: string;
  readonly argvs: readonly Argv[];
}

/** Runs each line in a shell of its own kind. @returns what was run, by the index of the line */
function run([shell = '', ...options]: readonly string[], lines: readonly Understood[]): readonly Argv[][] {
  const folder = mkdtempSync(join(tmpdir(), 'shells-'));
  try {
    for (const [index, { line }] of lines.entries()) writeFileSync(join(folder, `line${index}`), line);
    const functions = NAMES.map((name) => `${name}() { printf '%s\\000' "$LINE" "$#" ${name} "$@" >> "$LOG"; }`);
    const runs = lines.map((_, index) => `LINE=${index}; ( . ./line${index} )`);
    writeFileSync(join(folder, 'driver'), [...functions, ...runs, ':'].join('\n'));
    execFileSync(shell, [...options, './driver'], { cwd: folder, env: { PATH: '/nowhere', LOG: join(folder, 'log'), HOME: '/nowhere' }, stdio: ['ignore', 'ignore', 'ignore'], timeout: 20_000 });
    return recordsIn(existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '', lines.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function recordsIn(log: string, count: number): Argv[][] {
  const ran: Argv[][] = Array.from({ length: count }, () => []);
  const fields = log.split('\0');
  for (let at = 0; at + 2 < fields.length; ) {
    const [index, size] = [Number(fields[at]), Number(fields[at + 1])];
    ran[index]?.push(fields.slice(at + 2, at + 3 + size));
    at += 3 + size;
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

function expectSameAsShells(lines: readonly string[]): number {
  const understood = lines.flatMap((line): Understood[] => {
    const reading = readShell(line);
    if (reading.kind !== 'commands') return [];
    const argvs = reading.commands.map(({ argv }) => argv);
    // What else would run is a builtin, or nothing that is there.
    return argvs.every(([name = '']) => NAMES.includes(name)) ? [{ line, argvs }] : [];
  });
  for (const shell of SHELLS) {
    const ran = run(shell, understood);
    for (const [index, { line, argvs }] of understood.entries()) {
      const about = { line, shell: shell.join(' '), argvs };
      const [executed, read] = [sorted(ran[index] ?? []), sorted(argvs)];
      // Every function succeeds, so only `||` leaves something out; both sides of a pipe run at once, in any order.
      if (!line.includes('||')) expect({ ...about, executed }).toEqual({ ...about, executed: read });
      expect({ ...about, executed, isRead: isSubsequence(executed, read) }).toEqual({ ...about, executed, isRead: true });
      if (!line.includes('|')) expect({ ...about, ran: ran[index] }).toEqual({ ...about, ran: argvs });
    }
  }
  return understood.length;
}

const nasty = fc.constantFrom(
  ...['$', '`', '\\', '"', "'", '~', '*', '?', '[', ']', '{', '}', '(', ')', '<', '>', '&', '|', ';', '#', '!', '^', '%', '=', '+', ',', ':', '@', '.', '/', '-', '_', '0', '1', '2', 'a', ' ', '\t', '\n', '\r'],
  ...['$(', '${x}', '$x', '$((', '>/dev/null', '2>&1', '>&2', ' <', '<<E\n', 'E\n', '&&', '||', ';;', '{a,b}', '{1..3}', 'a=', 'A=b', '=~', ':~', '\\\n', '!(', '@(', "$'", '$"', '\u00a0', '\u00fc', '\u200b', ' if ', ' then ', ' in ', 'time ', '! ', '[[', ']]'],
);

const word = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[A-Za-z0-9_./,:@%+=^-]{1,8}$/) },
  { weight: 3, arbitrary: fc.stringMatching(/^[ -&(-~]{0,8}$/).map((text) => `'${text}'`) },
  { weight: 2, arbitrary: fc.stringMatching(/^[ !#%-[\]-_a-~]{0,8}$/).map((text) => `"${text}"`) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom('a', "''", '""', "'b c'", '"d"', '"\\\\b"', '"a\\$b"', "'\\\\'", '\\a', 'HEAD~', '~', '^', '=', ':', '-', '!', '#'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.array(nasty, { maxLength: 4 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.constantFrom('2>&1', '>/dev/null', '2>/dev/null', '</dev/null', '>&2', '1>&2', '2', '1', 'if', 'done', '{', '}', '!', '--') },
);

const command = fc.tuple(fc.constantFrom(...NAMES), fc.array(word, { maxLength: 4 })).map(([name, words]) => [name, ...words].join(' '));
const separator = fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n', ';', '&&', '||', '|', ' ;\n', ' &&\n ', '|\n', ' & ', ' |& ', '\n\n', ';;', ' ; ; ', '\n;', '\n&& ');

const wellFormed = fc.tuple(command, fc.array(fc.tuple(separator, command), { maxLength: 3 }), fc.constantFrom('', ';', '\n', ' ', ' #', '&', ' ;\n')).map(([first, rest, end]) => first + rest.map((parts) => parts.join('')).join('') + end);

/** A line with something put into it, anywhere. */
const disturbed = fc.tuple(wellFormed, fc.array(fc.tuple(fc.nat({ max: 100 }), nasty), { minLength: 1, maxLength: 2 })).map(([line, parts]) =>
  parts.reduce((text, [place, part]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + part + text.slice(at);
  }, line),
);

const soup = fc.array(fc.oneof(nasty, fc.constantFrom(...NAMES, ' ', ' ')), { maxLength: 12 }).map((parts) => parts.join(''));

const anyLine = fc.oneof({ weight: 4, arbitrary: wellFormed }, { weight: 5, arbitrary: disturbed }, { weight: 2, arbitrary: soup });

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
    const characters = ['a', ' ', ';', '|', '&', '\n', "'", '"', '~', '2', '>', '#', '=', '\\', '-', '^', '!'];
    const tails = characters.flatMap((one) => characters.flatMap((two) => characters.map((three) => one + two + three)));
    expect(expectSameAsShells(tails.flatMap((tail) => [`foo${tail}ls`, `foo a${tail} b`]))).toBeGreaterThan(300);
  }, 120_000);
});
