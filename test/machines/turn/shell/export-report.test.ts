import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExportReportReader, readExports } from '../../../../src/machines/turn/shell/export-report.ts';
import { MAX_EXPORT_REPORT_BYTES } from '../../../../src/machines/turn/shell/shell-limits.ts';

const shells = [
  ['dash', '/bin/sh', []],
  ['bash', 'bash', ['--norc', '--noprofile', '--posix']],
] as const;
const value = fc.string({
  unit: fc.constantFrom(
    "'",
    '"',
    '\\',
    '$',
    '`',
    '\n',
    ' ',
    '!',
    '=',
    'a',
    'é',
    '😀',
    '#',
    '\r',
    '\t',
    '\u001b',
    '\u007f',
    '\u001e',
  ),
  maxLength: 30,
});
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('what a shell says of its exported variables', () => {
  it.each(shells)('is read as it is set, from %s', (_, shell, options) => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), (values) => {
        const env = Object.fromEntries(values.map((text, index) => [`V${index}`, text]));
        const read = readExports(
          execFileSync(shell, [...options, '-c', 'export -p'], {
            env,
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'inherit'],
          }),
        );
        for (const [name, text] of Object.entries(env)) expect(read?.get(name)).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ["export A='1'\nexport B=two\nexport C\nexport D=$'a\\tb\\x41\\101\\'\\q'\n", { A: '1', B: 'two', D: "a\tbAA'q" }],
    ['declare -x A="1"\ntypeset -x B=2', { A: '1', B: '2' }],
    ['', {}],
  ])('%j is read', (text, expected) => {
    expect(Object.fromEntries(readExports(text) ?? [['none', '']])).toEqual(expected);
  });

  it.each(['A=1', 'export A=1 rest', "export A='open", 'export 1A=2', 'export A="open', 'no such thing'])(
    '%j is not taken for anything',
    (text) => {
      expect(readExports(text)).toBeUndefined();
    },
  );

  it('never fails on anything, nor takes long', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('export ', 'A', '=', "'", '"', '\\', '$', '\n'), maxLength: 200 }),
        (text) => void readExports(text),
      ),
    );
    expect(readExports(`export A="${'\\'.repeat(200_001)}`)).toBeUndefined();
  });

  it('is found however it is cut, after whatever else is said there', () => {
    const bytes = bytesOf("a word\u001eone export A='1'\u001etwo export A='é'\n\0");
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 5 }), (cuts) => {
        const reader = new ExportReportReader();
        reader.expect();
        const at = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
        const rest = at
          .slice(1)
          .map((end, index) => new TextDecoder().decode(reader.push(bytes.slice(at[index], end))))
          .join('');
        expect(rest).toBe('a word');
        expect(reader.report('two')).toEqual(new Map([['A', 'é']]));
      }),
    );
  });

  it('is waited for until it is whole, and is none when it is too long', () => {
    const reader = new ExportReportReader();
    reader.expect();
    reader.push(bytesOf("\u001en export A='"));
    expect(reader.report('n')).toBe('pending');
    for (let sent = 0; sent <= MAX_EXPORT_REPORT_BYTES; sent += 65_536) reader.push(new Uint8Array(65_536).fill(120));
    expect(reader.report('n')).toBe('pending');
    reader.push(bytesOf("'\n\0"));
    expect(reader.report('n')).toBeUndefined();
    reader.expect();
    reader.push(bytesOf("\u001em export B='2'\n\0"));
    expect(reader.report('m')).toEqual(new Map([['B', '2']]));
  });
});
