/** Output kept in bounded memory, as text that is never cut inside a character. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTPUT_TRUNCATION_MARKER, createLimitedOutputCapture } from '../../../src/machines/task/output-capture.ts';

const MARKER = '\n[output truncated]\n';
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a limited output capture', () => {
  it('keeps everything up to the limit, to the byte', () => {
    const capture = createLimitedOutputCapture(10);
    capture.append('12345');
    capture.append('67890');
    expect(capture.toString()).toBe('1234567890');
    expect(capture.isTruncated).toBe(false);
    capture.append('!');
    expect(capture.toString()).toBe(`1234567890${MARKER}`);
    expect(capture.isTruncated).toBe(true);
  });

  it('says once that something is missing, however much more comes', () => {
    const capture = createLimitedOutputCapture(3);
    for (let index = 0; index < 5; index += 1) capture.append('abcdef');
    expect(capture.toString()).toBe(`abc${MARKER}`);
    expect(capture.toString()).toBe(`abc${MARKER}`);
    expect(capture.totalBytes).toBe(30);
    expect(OUTPUT_TRUNCATION_MARKER).toBe(MARKER);
  });

  it('never puts later output behind a gap', () => {
    const capture = createLimitedOutputCapture(5);
    capture.append('abc€');
    capture.append('x');
    expect(capture.toString()).toBe(`abc${MARKER}`);
  });

  it('keeps 30,000 bytes by default', () => {
    const capture = createLimitedOutputCapture();
    capture.append('x'.repeat(40_000));
    expect(capture.toString()).toBe('x'.repeat(30_000) + MARKER);
  });

  it.each(['é', '€', '🦊', 'x€é🦊'])('cuts %s only between characters', (unit) => {
    for (let limit = 0; limit < 16; limit += 1) {
      const head = createLimitedOutputCapture(limit);
      const tail = createLimitedOutputCapture(limit, { keep: 'tail' });
      for (const capture of [head, tail]) capture.append(bytesOf(unit.repeat(10)));
      expect(unit.repeat(10).startsWith(head.toString().replace(MARKER, ''))).toBe(true);
      expect(unit.repeat(10).endsWith(tail.toString().replace(MARKER, ''))).toBe(true);
      expect(bytesOf(head.toString().replace(MARKER, '')).length).toBeLessThanOrEqual(limit);
    }
  });

  it('joins code points that chunks split, bytes and strings alike', () => {
    const capture = createLimitedOutputCapture();
    for (const byte of bytesOf('🦊€')) capture.append(Uint8Array.of(byte));
    const [high = '', low = ''] = '🦊'.split('');
    capture.append(high);
    capture.append(low);
    expect(capture.toString()).toBe('🦊€🦊');
    expect(capture.totalBytes).toBe(11);
  });

  it('keeps a code point whole when another source speaks in the middle of it', () => {
    const capture = createLimitedOutputCapture();
    const [first = 0, ...rest] = bytesOf('€');
    capture.append(Uint8Array.of(first), 'stdout');
    capture.append('error ', 'stderr');
    capture.append(Uint8Array.from(rest), 'stdout');
    expect(capture.toString()).toBe('error €');
  });

  it('shows what never was a character as replacement characters, within the limit', () => {
    const capture = createLimitedOutputCapture(9);
    capture.append(new Uint8Array(4).fill(0xff));
    expect(capture.toString()).toBe(`\ufffd\ufffd\ufffd${MARKER}`);
    const unfinished = createLimitedOutputCapture();
    unfinished.append(bytesOf('a€').subarray(0, 3));
    expect(unfinished.toString()).toBe('a\ufffd');
  });

  it('keeps a byte order mark', () => {
    const capture = createLimitedOutputCapture();
    capture.append('\ufeffx');
    expect(capture.toString()).toBe('\ufeffx');
  });

  it('keeps nothing with the limit 0, and everything with Infinity', () => {
    const none = createLimitedOutputCapture(0);
    expect(none.toString()).toBe('');
    none.append('x');
    expect(none.toString()).toBe(MARKER);
    for (const keep of ['head', 'tail'] as const) {
      const all = createLimitedOutputCapture(Infinity, { keep });
      for (let index = 0; index < 100; index += 1) all.append('0123456789'.repeat(100));
      expect(all.toString()).toHaveLength(100_000);
    }
  });

  it.each([NaN, -1])('refuses the limit %d', (limit) => {
    expect(() => createLimitedOutputCapture(limit)).toThrow(expect.objectContaining({ category: 'validation' }));
  });

  it('does not hold on to the buffers it was given', () => {
    const capture = createLimitedOutputCapture();
    const chunk = bytesOf('kept');
    capture.append(chunk);
    chunk.fill(0);
    expect(capture.toString()).toBe('kept');
  });
});

describe('a capture of the tail', () => {
  it('keeps the end and puts the mark where the rest is missing', () => {
    const capture = createLimitedOutputCapture(4, { keep: 'tail' });
    capture.append('abcd');
    expect(capture.toString()).toBe('abcd');
    capture.append('ef');
    expect(capture.toString()).toBe(`${MARKER}cdef`);
  });

  it('keeps the same end however the output is cut, and the head the same beginning', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '€', '🦊', '\n'), { maxLength: 80 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.nat(60), fc.array(fc.nat(200)), (written, limit, cuts) => {
        const bytes = bytesOf(written);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        for (const keep of ['head', 'tail'] as const) {
          const whole = createLimitedOutputCapture(limit, { keep });
          whole.append(bytes);
          const pieces = createLimitedOutputCapture(limit, { keep });
          places.slice(1).forEach((end, index) => pieces.append(bytes.subarray(places[index], end)));
          expect(pieces.toString()).toBe(whole.toString());
          expect(pieces.totalBytes).toBe(bytes.length);
          expect(whole.isTruncated).toBe(bytes.length > limit);
          if (!whole.isTruncated) expect(whole.toString()).toBe(written);
        }
      }),
    );
  });
});
