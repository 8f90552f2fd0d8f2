/** Messages that are looked at before they are parsed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkShape } from '../../../src/adapters/child-process/exchange-folder.ts';

const look = (text: string) => (): void => checkShape(Buffer.from(text));

describe('a long message', () => {
  it('may be one long text, whatever is in it', () => {
    expect(look(JSON.stringify({ output: '[{,:"\\'.repeat(200_000) }))).not.toThrow();
  });

  it('is refused for many small values, and for many in each other', () => {
    expect(look(JSON.stringify(new Array<number>(4_001).fill(0)))).toThrow(/4000 values/);
    expect(look(JSON.stringify({ output: 'x', values: Array.from({ length: 2_001 }, () => ({})) }))).toThrow(
      /4000 values/,
    );
    expect(look('['.repeat(65))).toThrow(/64 lists and objects/);
    expect(look('['.repeat(64))).not.toThrow();
  });

  it('is never refused where it has little in it', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => look(JSON.stringify(value))()));
  });

  it('that is no JSON is left to the parser', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 50, unit: fc.constantFrom('"', '\\', '{', ']', 'x', ',') }), (text) =>
        look(text)(),
      ),
    );
  });
});
