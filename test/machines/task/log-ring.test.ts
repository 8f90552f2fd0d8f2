/** A log in bounded memory: what stays, what it is called, and what reading it gives. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendPrefixedLogLines } from '../../../src/machines/task/log-pages.ts';
import { LogRing } from '../../../src/machines/task/log-ring.ts';
import type { LogRingCursor } from '../../../src/machines/task/log-ring.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const allLines = (ring: LogRing): readonly string[] => ring.page('t', undefined, Infinity).lines;

/** Everything a follower sees, as `source` and lines. */
function followed(
  ring: LogRing,
  from: LogRingCursor = { position: 0, line: 0 },
): { text: string; next: LogRingCursor } {
  let text = '';
  let next = from;
  for (let piece = ring.follow(next); piece !== undefined; piece = ring.follow(next)) {
    expect(piece.firstLine + piece.lines).toBe(piece.next.line);
    text += new TextDecoder().decode(piece.bytes);
    next = piece.next;
  }
  return { text, next };
}

describe('a log ring', () => {
  it('joins lines across chunks, per source', () => {
    const ring = new LogRing();
    ring.append('stdout', bytesOf('he'));
    ring.append('stderr', bytesOf('oops\n'));
    ring.append('stdout', bytesOf('llo\nwor'));
    ring.append('stdout', bytesOf('ld\n'));
    expect(allLines(ring)).toEqual(['[stderr] oops', '[stdout] hello', '[stdout] world']);
  });

  it('keeps a character whose bytes come in different chunks', () => {
    const ring = new LogRing();
    for (const byte of bytesOf('日本語 🦊\n')) ring.append('stdout', Uint8Array.of(byte));
    expect(allLines(ring)).toEqual(['[stdout] 日本語 🦊']);
  });

  it('treats CR LF as one line end even when a chunk ends between them, and drops empty lines', () => {
    const ring = new LogRing();
    for (const part of ['a\r', '\n\r', '\n', '\n', 'b\n\n', '\r', '\n', 'c\r\n']) ring.append('stdout', bytesOf(part));
    expect(allLines(ring)).toEqual(['[stdout] a', '[stdout] b', '[stdout] c']);
    expect(ring.endLine).toBe(3);
  });

  it('keeps a last line without an end once the source has ended', () => {
    const ring = new LogRing();
    ring.append('stdout', bytesOf('done\nbye'));
    expect(allLines(ring)).toEqual(['[stdout] done']);
    ring.endSource('stdout');
    ring.endSource('stdout');
    ring.endSource('stderr');
    expect(allLines(ring)).toEqual(['[stdout] done', '[stdout] bye']);
  });

  it('says what the helper for plain arrays says, however the bytes are cut', () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '🦊', '\n', '\r\n', 'long '.repeat(60)), { maxLength: 60 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(700), { maxLength: 10 }), (written, cuts) => {
        const whole = `${written}\n`;
        const ring = new LogRing();
        const bytes = bytesOf(whole);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        places.slice(1).forEach((end, index) => ring.append('stdout', bytes.subarray(places[index], end)));
        const expected: string[] = [];
        appendPrefixedLogLines(expected, 'stdout', whole);
        expect(allLines(ring)).toEqual(expected);
        expect(ring.endLine).toBe(expected.length);
      }),
    );
  });

  it('pages from any line, and clamps offsets that lie outside or are none', () => {
    const ring = new LogRing();
    for (let line = 0; line < 1000; line += 1)
      ring.append(line % 3 === 0 ? 'stderr' : 'stdout', bytesOf(`line ${line}\n`));
    const page = ring.page('t1', { offset: 500 }, 2);
    expect(page).toEqual({
      taskId: 't1',
      cursor: { offset: 500 },
      nextCursor: { offset: 502 },
      lines: ['[stdout] line 500', '[stderr] line 501'],
    });
    expect(ring.page('t1', { offset: 999 })).toEqual({
      taskId: 't1',
      cursor: { offset: 999 },
      lines: ['[stderr] line 999'],
    });
    expect(ring.page('t1').lines).toHaveLength(200);
    for (const [offset, effective] of [
      [NaN, 0],
      [-5, 0],
      [-Infinity, 0],
      [3.7, 3],
      [1e9, 1000],
      [Infinity, 1000],
    ] as const) {
      expect(ring.page('t1', { offset }).cursor).toEqual({ offset: effective });
    }
  });

  it('drops the oldest lines when it is full and keeps the numbers of the others', () => {
    const ring = new LogRing({ limitBytes: 8192 });
    for (let line = 0; line < 10_000; line += 1) ring.append('stdout', bytesOf(`line ${line}\n`));
    expect(ring.endLine).toBe(10_000);
    expect(ring.firstLine).toBeGreaterThan(9000);
    expect(ring.firstLine).toBeLessThan(9800);
    expect(ring.heldBytes).toBeLessThan(8192 + 1024);
    const page = ring.page('t1', { offset: 12 }, 1);
    expect(page.cursor).toEqual({ offset: ring.firstLine });
    expect(page.lines).toEqual([`[stdout] line ${ring.firstLine}`]);
    expect(ring.page('t1', { offset: 9998 }).lines).toEqual(['[stdout] line 9998', '[stdout] line 9999']);
  });

  it('logs a line that never ends as several, none of them cut inside a character', () => {
    const ring = new LogRing({ limitBytes: 65_536 });
    const endless = bytesOf('€'.repeat(50_000));
    for (let at = 0; at < endless.length; at += 1000) ring.append('stdout', endless.subarray(at, at + 1000));
    expect(ring.heldBytes).toBeLessThan(65_536 + 3 * 8192);
    const lines = allLines(ring);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(line).toMatch(/^\[stdout\] €+$/);
    expect(lines.join('')).not.toContain('\ufffd');
  });

  it('loses nothing of a long line beyond cutting it', () => {
    const ring = new LogRing({ limitBytes: 1_048_576 });
    ring.append('stdout', bytesOf(`${'x'.repeat(200_000)}y\nnext\n`));
    const lines = allLines(ring).map((line) => line.slice('[stdout] '.length));
    expect(lines.at(-1)).toBe('next');
    expect(lines.slice(0, -1).join('')).toBe(`${'x'.repeat(200_000)}y`);
  });

  it('stays within its limit for any output, and numbers what it keeps as an unlimited log would', () => {
    const piece = fc.record({
      source: fc.constantFrom('stdout', 'stderr', 'system'),
      length: fc.nat(400),
      lines: fc.nat(5),
    });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 50, maxLength: 400 }), (pieces) => {
        const ring = new LogRing({ limitBytes: 4096 });
        const expected: string[] = [];
        for (const [index, { source, length, lines }] of pieces.entries()) {
          const text = `${index}-${'x'.repeat(length)}\n`.repeat(lines);
          ring.append(source, bytesOf(text));
          appendPrefixedLogLines(expected, source, text);
          expect(ring.heldBytes).toBeLessThanOrEqual(4096 + 3 * 600);
        }
        expect(ring.endLine).toBe(expected.length);
        expect(allLines(ring)).toEqual(expected.slice(ring.firstLine));
      }),
      { numRuns: 60 },
    );
  });

  it('gives memory back when asked and stays readable and writable', () => {
    const ring = new LogRing({ limitBytes: 1_048_576 });
    ring.append('stdout', bytesOf('one line\n'));
    ring.compact();
    expect(ring.heldBytes).toBeLessThan(300 + 131_072);
    ring.append('stdout', bytesOf('another\n'));
    expect(allLines(ring)).toEqual(['[stdout] one line', '[stdout] another']);
  });

  it('lets a follower take every byte once, as it comes', () => {
    const ring = new LogRing();
    ring.append('stdout', bytesOf('a\nb\nhalf'));
    const first = followed(ring);
    expect(first.text).toBe('a\nb\n');
    ring.append('stdout', bytesOf(' line\n\n'));
    ring.append('stderr', bytesOf('c\n'));
    const second = followed(ring, first.next);
    expect(second.text).toBe('half line\n\nc\n');
    expect(second.next.line).toBe(4);
    expect(followed(ring, second.next).text).toBe('');
  });

  it('takes a follower that fell behind to the oldest line that is left', () => {
    const ring = new LogRing({ limitBytes: 4096 });
    const { next } = followed(ring);
    for (let line = 0; line < 5000; line += 1) ring.append('stdout', bytesOf(`line ${line}\n`));
    expect(ring.follow(next)?.firstLine).toBe(ring.firstLine);
    expect(followed(ring, next).text.startsWith(`line ${ring.firstLine}\n`)).toBe(true);
  });
});
