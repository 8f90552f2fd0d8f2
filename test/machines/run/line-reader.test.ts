import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineReader, TOO_LONG } from '../../../src/machines/run/line-reader.ts';

describe('lines', () => {
  it('are the same however their bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll(/[\n\r]/g, ''))),
        fc.integer({ min: 1, max: 9 }),
        (texts, width) => {
          const bytes = Buffer.from(texts.join('\n'));
          const reader = new LineReader(1_000);
          const lines: unknown[] = [];
          for (let start = 0; start < bytes.length; start += width)
            lines.push(...reader.add(bytes.subarray(start, start + width)));
          const rest = reader.rest();
          expect([...lines, ...(rest === '' ? [] : [rest])]).toEqual(
            texts.map((text) => text.trim()).filter((text) => text !== ''),
          );
        },
      ),
    );
  });

  it('beyond the limit are told at once, before they end', () => {
    expect(new LineReader(4).add(Buffer.from('abc\nabcde'))).toEqual(['abc', TOO_LONG]);
  });

  it('beyond the limit are not kept', () => {
    const reader = new LineReader(4);
    reader.add(Buffer.from('ab'));
    reader.add(Buffer.from('cde'));
    expect(reader.rest()).toBe('ab');
  });
});
