import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemoryEntry } from '../../../src/machines/memory/memory-entry.ts';
import { readMemory, withEntries, withoutEntry, writeMemory } from '../../../src/machines/memory/memory-file.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const entry = (learningId: string, more: Partial<MemoryEntry> = {}): MemoryEntry => ({
  learningId,
  at: '2026-01-01T00:00:00.000Z',
  kind: 'lesson',
  title: `Title ${learningId}`,
  detail: 'Do it.',
  ...more,
});
const BEGIN = '<!-- wakechart:memory begin -->';
const END = '<!-- wakechart:memory end -->';

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(
      fc.constantFrom(
        '<!--',
        '-->',
        BEGIN,
        END,
        '\n',
        '\r\n',
        '  ',
        '- **Lesson**: x',
        '<!-- learning a 2026-01-01T00:00:00.000Z -->',
        'wakechart : memory end',
        'word',
        '&lt;!--',
        '\u2028',
      ),
    )
    .map((parts) => parts.join('')),
);
const entries = fc.uniqueArray(
  fc.record({
    learningId: fc.uuid(),
    at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2025-06-01T12:00:00.000Z'),
    kind: fc.constantFrom('lesson' as const, 'correction' as const, 'error' as const),
    title: hostile.map((text) => `t${text}`),
    detail: hostile,
  }),
  { maxLength: 5, selector: ({ learningId }) => learningId },
);
const idsIn = (bytes: Uint8Array): string[] => readMemory(bytes).entries.map(({ learningId }) => learningId);

describe('the managed section of MEMORY.md', () => {
  it('is put at the end of a file that has none, and what was there stays', () => {
    expect(decode(withEntries(readMemory(encode('# Mine\n')), [entry('a')]))).toBe(
      `# Mine\n\n${BEGIN}\n\n<!-- learning a 2026-01-01T00:00:00.000Z -->\n- **Lesson**: Title a\n  Do it.\n\n${END}\n`,
    );
    expect(decode(withEntries(readMemory(encode('')), [entry('a')]))).toMatch(/^<!-- wakechart:memory begin -->\n/);
    expect(decode(withEntries(readMemory(encode('no final newline')), [entry('a')]))).toMatch(
      /^no final newline\n\n<!--/,
    );
    expect(decode(withEntries(readMemory(encode('a\r\nb')), [entry('a')]))).toMatch(
      /^a\r\nb\r\n\r\n<!-- wakechart:memory begin -->\r\n\r\n<!-- learning/,
    );
  });

  it('keeps its place, its line ends and its order, and takes no entry twice', () => {
    const file = encode(`\uFEFF${BEGIN}\r\n${END}\r\nbehind, no newline`);
    const one = withEntries(readMemory(file), [entry('b'), entry('a')]);
    expect(idsIn(one)).toEqual(['b', 'a']);
    expect(decode(one)).toMatch(/^\uFEFF<!-- wakechart:memory begin -->\r\n/);
    expect(decode(one)).toMatch(/<!-- wakechart:memory end -->\r\nbehind, no newline$/);
    expect(decode(withEntries(readMemory(one), [entry('a', { title: 'another' })]))).toBe(decode(one));
    const left = withoutEntry(readMemory(one), 'b');
    expect(idsIn(left ?? encode(''))).toEqual(['a']);
    expect(withoutEntry(readMemory(one), 'none')).toBeUndefined();
  });

  it('is written by people too: what they changed in an entry counts', () => {
    const file = encode(
      `${BEGIN}\n<!-- learning a 2026-01-01T00:00:00.000Z -->   \n- **Error**: Theirs\n  One.\n  Two.\n${END}`,
    );
    expect(readMemory(file).entries).toEqual([
      { learningId: 'a', at: '2026-01-01T00:00:00.000Z', kind: 'error', title: 'Theirs', detail: 'One.\nTwo.' },
    ]);
  });

  it.each([
    ['has no end', `${BEGIN}\n`],
    ['has no beginning', `text\n${END}\n`],
    ['is there twice', `${BEGIN}\n${END}\n${BEGIN}\n${END}\n`],
    ['has two ends', `${BEGIN}\n${END}\n${END}\n`],
    ['ends before it begins', `${END}\n${BEGIN}\n`],
    ['has a marker with something behind it', `${BEGIN} x\n${END}\n`],
    ['has an indented marker', `  ${BEGIN}\n${END}\n`],
    ['has a marker in other letters', `${BEGIN.toUpperCase()}\n${END}\n`],
    ['has a marker that lost its comment', `wakechart:memory begin\n${END}\n`],
    ['holds what is no entry', `${BEGIN}\nmine\n${END}\n`],
    ['holds an entry without a title', `${BEGIN}\n<!-- learning a 2026-01-01T00:00:00.000Z -->\n${END}\n`],
    [
      'holds an entry twice',
      `${BEGIN}\n${'<!-- learning a 2026-01-01T00:00:00.000Z -->\n- **Lesson**: x\n'.repeat(2)}${END}\n`,
    ],
    ['is in UTF-16', '\uFEFFx\0'],
  ])('that %s is left alone, and the error says where', (_what, text) => {
    expect(() => readMemory(encode(text))).toThrow(/line \d+: .+/);
    expect(() => readMemory(encode(text))).toThrow(expect.objectContaining({ code: 'MEMORY_DAMAGED' }));
  });

  it('never changes a byte outside of itself, whatever is there and whatever was learned', () => {
    const ends = fc.constantFrom('\n', '\r\n');
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.uint8Array({ maxLength: 200 }),
        ends,
        entries,
        entries,
        (front, behind, end, first, second) => {
          const before = Uint8Array.from([
            ...front.filter((byte) => byte !== 0 && byte !== 0xfe && byte !== 0xff),
            ...encode(end),
          ]);
          const after = Uint8Array.from([...encode(end), ...behind.filter((byte) => byte !== 0)]);
          const file = Uint8Array.from([...before, ...encode(`${BEGIN}${end}${END}`), ...after]);
          const written = withEntries(readMemory(withEntries(readMemory(file), first)), second);
          const left = first.reduce(
            (bytes, { learningId }) => withoutEntry(readMemory(bytes), learningId) ?? bytes,
            written,
          );
          for (const bytes of [written, left]) {
            expect([...bytes.subarray(0, before.length)]).toEqual([...before]);
            expect([...bytes.subarray(bytes.length - after.length)]).toEqual([...after]);
          }
          expect(idsIn(written)).toEqual(
            [...first, ...second.filter(({ learningId }) => !first.some((each) => each.learningId === learningId))].map(
              ({ learningId }) => learningId,
            ),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('only adds behind a file that has none, whatever bytes that is made of', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }).map((bytes) => bytes.filter((byte) => byte !== 0 && byte !== 0xfe)),
        entries.filter((some) => some.length > 0),
        (file, some) => {
          const written = withEntries(readMemory(file), some);
          expect([...written.subarray(0, file.length)]).toEqual([...file]);
          expect(idsIn(written)).toEqual(some.map(({ learningId }) => learningId));
          // What was read is written the same way again.
          expect(decode(writeMemory(readMemory(written), readMemory(written).entries))).toBe(decode(written));
        },
      ),
      { numRuns: 300 },
    );
  });
});
