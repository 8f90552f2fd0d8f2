import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptOutput } from '../../../../src/machines/turn/shell/kept-output.ts';
import type { KeptOutputLimits } from '../../../../src/machines/turn/shell/kept-output.ts';

const encoder = new TextEncoder();

function kept(text: string, limits?: KeptOutputLimits, chunkBytes = 7): KeptOutput {
  const output = new KeptOutput(limits);
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.slice(at, at + chunkBytes);
    output.append(chunk);
    chunk.fill(0);
  }
  return output;
}

describe('kept output', () => {
  it('is read to its end page by page, whole characters each, whatever the size of the pages', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 40 }),
        (text, limit, headBytes) => {
          const output = kept(text, { headBytes, tailBytes: 100_000 });
          let read = '';
          for (let offset: number | undefined = 0; offset !== undefined;) {
            const page = output.page({ offset, limit });
            expect(page.offset).toBe(offset);
            read += page.output;
            offset = page.nextOffset;
          }
          expect(read).toBe(text);
        },
      ),
    );
  });

  it('loses only its middle, and every page says the truth about where it is', () => {
    fc.assert(
      fc.property(
        fc.record({
          length: fc.integer({ min: 0, max: 300 }),
          headBytes: fc.integer({ min: 0, max: 50 }),
          tailBytes: fc.integer({ min: 0, max: 50 }),
          chunk: fc.integer({ min: 1, max: 120 }),
        }),
        fc.integer({ min: 0, max: 320 }),
        fc.integer({ min: 4, max: 60 }),
        ({ length, headBytes, tailBytes, chunk }, offset, limit) => {
          const text = Array.from({ length }, (_, index) => String.fromCharCode(33 + (index % 90))).join('');
          const {
            output,
            offset: at,
            totalBytes,
            nextOffset,
            lostFrom,
          } = kept(text, { headBytes, tailBytes }, chunk).page({ offset, limit });
          expect(totalBytes).toBe(length);
          expect(output).toBe(text.slice(at, at + output.length));
          expect(nextOffset ?? length).toBe(at + output.length);
          const isKept = (position: number): boolean => position < headBytes || position >= length - tailBytes;
          const from = Math.min(offset, length);
          let begin = from;
          while (begin < length && !isKept(begin)) begin += 1;
          expect(at).toBe(begin);
          expect(lostFrom).toBe(begin > from ? from : undefined);
        },
      ),
    );
  });

  it('is shown whole while it fits a reply', () => {
    expect(kept('a'.repeat(30_000)).excerpt()).toEqual({ text: 'a'.repeat(30_000), totalBytes: 30_000 });
  });

  it('shows beginning and end of more, and says what is missing between them', () => {
    const { text, left } = kept(`${'a'.repeat(20_000)}${'b'.repeat(20_000)}`).excerpt();
    expect(left).toEqual({ from: 10_000, to: 20_000 });
    expect(text).toBe(
      `${'a'.repeat(10_000)}\n[10000 bytes left out here: bytes 10000 to 20000 of the output]\n${'b'.repeat(20_000)}`,
    );
  });

  it('shows what has come since a position, and the end alone when its beginning is lost', () => {
    const output = kept('x'.repeat(200_000), { headBytes: 100, tailBytes: 25_000 }, 65_536);
    expect(output.excerpt(199_990)).toEqual({ text: 'x'.repeat(10), totalBytes: 200_000 });
    expect(output.excerpt(172_000)).toEqual({
      text: `\n[3000 bytes left out here: bytes 172000 to 175000 of the output]\n${'x'.repeat(25_000)}`,
      totalBytes: 200_000,
      left: { from: 172_000, to: 175_000 },
    });
    expect(output.excerpt(1000)).toMatchObject({ left: { from: 1000, to: 180_000 } });
  });

  it('never cuts a character in two', () => {
    const { text } = kept('€'.repeat(20_000)).excerpt();
    expect(text).not.toContain('\u{fffd}');
  });

  it('counts what it does not keep', () => {
    const output = kept('12345', { headBytes: 0, tailBytes: 0 });
    expect(output.page()).toEqual({ output: '', offset: 5, totalBytes: 5, lostFrom: 0 });
  });
});
