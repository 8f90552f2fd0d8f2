/**
 * Ways to damage a file, and what is left of a log afterwards: worked out line by line, without the code under test.
 */
import fc from 'fast-check';

export type Damage =
  | {
      readonly kind: 'change' | 'cut' | 'double';
      readonly at: number;
      readonly length: number;
      readonly fill: Uint8Array;
    }
  | { readonly kind: 'insert'; readonly at: number; readonly length: number; readonly fill: Uint8Array };

/** Positions are parts of the file, from 0 to 1, so that one arbitrary serves logs of every length. */
export const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('change', 'cut', 'double', 'insert'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2_000 })),
  // What a log is made of, and what it is not.
  fill: fc.oneof(
    fc.constantFrom('\n', '\n\n', '{', '}', '"', '\0', '{"crc":"').map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
  ),
});

export function damaged(bytes: Buffer, { kind, at, length, fill }: Damage): Buffer {
  const start = Math.min(bytes.length - 1, Math.floor(at * bytes.length));
  const end = Math.min(bytes.length, start + length);
  const [before, middle, after] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)];
  switch (kind) {
    case 'change':
      return Buffer.concat([before, middle.map((byte, index) => byte ^ (fill[index % fill.length] || 0x15)), after]);
    case 'cut':
      return Buffer.concat([before, after]);
    case 'double':
      return Buffer.concat([before, middle, middle, after]);
    case 'insert':
      return Buffer.concat([before, fill, middle, after]);
  }
}

export interface Line {
  /** One character for each byte. */
  readonly text: string;
  readonly offset: number;
}

/** The lines that are not empty, and what stands behind the last newline. */
export function linesOf(bytes: Buffer): { readonly lines: readonly Line[]; readonly rest: Line } {
  const lines: Line[] = [];
  let offset = 0;
  const parts = bytes.toString('latin1').split('\n');
  const rest = parts.pop() ?? '';
  for (const text of parts) {
    if (text !== '') lines.push({ text, offset });
    offset += text.length + 1;
  }
  return { lines, rest: { text: rest, offset } };
}

/** The ids of the events of a record's line. */
export function idsIn({ text }: Line): string[] {
  const { record } = JSON.parse(Buffer.from(text, 'latin1').toString()) as {
    readonly record: { readonly events: readonly { readonly id: string }[] };
  };
  return record.events.map(({ id }) => id);
}
