import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EndMarkReader } from '../../../../src/machines/turn/shell/end-mark.ts';
import type { CommandEnd } from '../../../../src/machines/turn/shell/end-mark.ts';

const encoder = new TextEncoder();
const NONCE = '0192f0c1-2345-7abc-8def-0123456789ab';
const AGAIN = '0192f0c1-2345-7abc-8def-0123456789ac';
const mark = (nonce: string, exitCode: number, cwd: string): string => `\u{1e}${nonce} ${exitCode} ${cwd}\0`;

interface Read {
  readonly before: string;
  readonly end: CommandEnd | undefined;
  readonly after: string;
}

/** Everything a reader says of these chunks; each chunk's memory is overwritten after its call, as a real one's is. */
function readAll(reader: EndMarkReader, chunks: Iterable<Uint8Array>): Read {
  const before: number[] = [];
  const after: number[] = [];
  let end: CommandEnd | undefined;
  for (const chunk of chunks) {
    const memory = chunk.slice();
    const said = reader.push(memory);
    for (const bytes of said.before) (end === undefined ? before : after).push(...bytes);
    end ??= said.end;
    after.push(...(said.after ?? []));
    memory.fill(0x78);
  }
  (end === undefined ? before : after).push(...reader.takeHeld());
  const text = (bytes: number[]): string => Buffer.from(bytes).toString('latin1');
  return { before: text(before), end, after: text(after) };
}

/** The bytes in pieces of these sizes, again and again. */
function* pieces(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

describe('the mark of an end', () => {
  it('is found however the output is cut, and nothing of the output is lost', () => {
    const noise = fc
      .array(
        fc.constantFrom(
          'a',
          '\u{1e}',
          '\0',
          `\u{1e}${NONCE.slice(0, 20)}`,
          `${AGAIN} 0 /x`,
          `\u{1e}${NONCE}`,
          `\u{1e}${AGAIN} 0 /\0`,
        ),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        noise,
        noise,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        fc.integer({ min: 0, max: 255 }),
        (before, after, sizes, exitCode) => {
          const reader = new EndMarkReader();
          reader.expect(NONCE);
          const whole = encoder.encode(before + mark(NONCE, exitCode, '/a b/\nc') + after);
          expect(readAll(reader, pieces(whole, sizes))).toEqual({ before, end: { exitCode, cwd: '/a b/\nc' }, after });
        },
      ),
    );
  });

  it('of another nonce is output like any other', () => {
    const reader = new EndMarkReader();
    reader.expect(NONCE);
    expect(readAll(reader, [encoder.encode(mark(AGAIN, 0, '/'))])).toEqual({
      before: mark(AGAIN, 0, '/'),
      end: undefined,
      after: '',
    });
  });

  it('counts once: the same one again is output', () => {
    const reader = new EndMarkReader();
    reader.expect(NONCE);
    expect(readAll(reader, [encoder.encode(mark(NONCE, 0, '/') + mark(NONCE, 1, '/'))])).toMatchObject({
      end: { exitCode: 0 },
      after: mark(NONCE, 1, '/'),
    });
  });

  it.each([
    [
      'both came',
      `x${mark(NONCE, 3, '/a')}y${mark(AGAIN, 0, '/b')}z`,
      { before: 'xy', end: { exitCode: 3, cwd: '/b' }, after: 'z' },
    ],
    [
      'only the second came',
      `x${mark(AGAIN, 130, '/b')}z`,
      { before: 'x', end: { exitCode: 130, cwd: '/b' }, after: 'z' },
    ],
    ['only the first came', `x${mark(NONCE, 3, '/a')}y`, { before: 'xy', end: undefined, after: '' }],
  ])('is the second one after an interrupt, when %s', (_, text, expected) => {
    for (const size of [1, 7, 1000]) {
      const reader = new EndMarkReader();
      reader.expect(NONCE);
      reader.expectAlso(AGAIN);
      expect(readAll(reader, pieces(encoder.encode(text), [size]))).toEqual(expected);
    }
  });

  it('says that the folder is gone when none is named', () => {
    const reader = new EndMarkReader();
    reader.expect(NONCE);
    expect(readAll(reader, [encoder.encode(mark(NONCE, 0, ''))]).end).toEqual({ exitCode: 0, cwd: undefined });
  });

  it('that never ends does not hold output back for ever', () => {
    const reader = new EndMarkReader();
    reader.expect(NONCE);
    const flood = encoder.encode(`\u{1e}${NONCE} 0 /${'x'.repeat(20_000)}`);
    expect(readAll(reader, pieces(flood, [1000])).before).toHaveLength(flood.length);
  });
});
