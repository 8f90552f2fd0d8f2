/** Line counting has a slow obvious way and a fast one; they must never disagree. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LINE_START,
  MAX_SCAN_BYTES,
  hasVectorScan,
  scanLines,
  scanLinesBytewise,
} from '../../../src/machines/task/log-line-scan.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the two ways are measured against: the definition, through the standard library. */
function byDefinition(bytes: Uint8Array): number {
  const lines = new TextDecoder('latin1').decode(bytes).split('\n').slice(0, -1);
  return lines.filter((line) => line.replace(/\r$/, '') !== '').length;
}

describe('a scan for lines', () => {
  it.each([
    ['', 0, -1],
    ['no end', 0, -1],
    ['one\n', 1, 3],
    ['one\ntwo', 1, 3],
    ['\n\n\n', 0, 2],
    ['\r\n\r\n', 0, 3],
    ['a\r\n\r\nb\n\n', 2, 7],
    ['\r\r\n', 1, 2],
  ])('finds in %j %i lines and the last line feed at %i', (text, lines, lastLineFeed) => {
    expect(scanLines(bytesOf(text))).toEqual({ lines, lastLineFeed });
  });

  it('goes by vectors here, so that these tests compare two ways and not one with itself', () => {
    expect(hasVectorScan()).toBe(true);
  });

  it('answers the same for long pieces as byte by byte, whatever the bytes and whatever came before', () => {
    const byte = fc.constantFrom(10, 13, 97, 0, 0x8a, 255);
    const piece = fc.array(byte, { minLength: 500, maxLength: 700 }).map((bytes) => Uint8Array.from(bytes));
    fc.assert(
      fc.property(piece, byte, byte, (bytes, last, secondLast) => {
        expect(scanLines(bytes, { last, secondLast })).toEqual(scanLinesBytewise(bytes, { last, secondLast }));
        expect(scanLines(bytes, LINE_START).lines).toBe(byDefinition(bytes));
      }),
    );
  });

  it('takes the largest piece, full of lines or without any', () => {
    expect(scanLines(new Uint8Array(MAX_SCAN_BYTES).fill(10))).toEqual({ lines: 0, lastLineFeed: MAX_SCAN_BYTES - 1 });
    expect(scanLines(bytesOf('y\n'.repeat(MAX_SCAN_BYTES / 2)))).toEqual({
      lines: MAX_SCAN_BYTES / 2,
      lastLineFeed: MAX_SCAN_BYTES - 1,
    });
    expect(scanLines(new Uint8Array(MAX_SCAN_BYTES))).toEqual({ lines: 0, lastLineFeed: -1 });
  });

  it('forgets the piece before', () => {
    scanLines(bytesOf('x\n'.repeat(600)));
    expect(scanLines(bytesOf('z'.repeat(513)))).toEqual({ lines: 0, lastLineFeed: -1 });
  });
});
