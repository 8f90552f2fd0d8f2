/** Messages that are checked before they are parsed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkShape } from '../../../src/adapters/child-process/exchange-folder.ts';

const check = (text: string) => (): void => checkShape(Buffer.from(text));

describe('a long message', () => {
  it('may be one long text, whatever is in it', () => {
    expect(check(JSON.stringify({ output: '[{,:"\\'.repeat(200_000) }))).not.toThrow();
  });

  it('is refused for many small values, and for many in each other', () => {
    expect(check(JSON.stringify(new Array<number>(4_001).fill(0)))).toThrow(/4000 values/);
    expect(check(JSON.stringify({ output: 'x', values: Array.from({ length: 2_001 }, () => ({})) }))).toThrow(
      /4000 values/,
    );
    expect(check('['.repeat(65))).toThrow(/64 lists and objects/);
    expect(check('['.repeat(64))).not.toThrow();
  });

  it('is never refused where it has little in it', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => check(JSON.stringify(value))()));
  });

  it('that is no JSON is left to the parser', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 50, unit: fc.constantFrom('"', '\\', '{', ']', 'x', ',') }), (text) =>
        check(text)(),
      ),
    );
  });
});
