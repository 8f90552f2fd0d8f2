import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineReader } from '../../../src/machines/run/line-reader.ts';
import type { Line } from '../../../src/machines/run/line-reader.ts';

describe('lines', () => {
  it('are the same however their bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll(/[\n\r]/g, ''))),
        fc.integer({ min: 1, max: 9 }),
        (texts, width) => {
          const bytes = Buffer.from(texts.join('\n'));
          const reader = new LineReader(1_000);
          const lines: Line[] = [];
          for (let start = 0; start < bytes.length; start += width)
            lines.push(...reader.add(bytes.subarray(start, start + width)));
          expect([...lines, ...reader.end()]).toEqual(
            texts.map((text) => ({ kind: 'line', text: text.trim() })).filter(({ text }) => text !== ''),
          );
        },
      ),
    );
  });

  it('beyond the limit are told at once, before they end', () => {
    expect(new LineReader(4).add(Buffer.from('abc\nabcde'))).toEqual([
      { kind: 'line', text: 'abc' },
      { kind: 'overflow' },
    ]);
  });

  it('beyond the limit are not kept, but for their ends', () => {
    const reader = new LineReader(2_000);
    const text = `${'a'.repeat(600)}${'b'.repeat(5_000)}${'c'.repeat(600)}`;
    for (let start = 0; start < text.length; start += 100) reader.add(Buffer.from(text.slice(start, start + 100)));
    expect(reader.add(Buffer.from('\nnext\nrest'))).toEqual([
      { kind: 'too_long', bytes: text.length, head: 'a'.repeat(512), tail: 'c'.repeat(512) },
      { kind: 'line', text: 'next' },
    ]);
    expect(reader.end()).toEqual([{ kind: 'line', text: 'rest' }]);
    expect(reader.end()).toEqual([]);
  });
});
