/** Input and output of tools part by part, and what is written out of texts that are to be judged. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, partsOf } from '../../../src/machines/inspection-log/data-parts.ts';
import { exact, oddities } from '../../../src/machines/inspection-log/exact-text.ts';

describe('what somebody has to judge', () => {
  it('hides nothing', () => {
    expect(exact('a\u202Eb\u200B  \n\u0007')).toBe(String.raw`a\u{202E}b\u{200B}··` + '\n' + String.raw`\u{0007}`);
    expect(oddities('plain\n\ttext')).toBeUndefined();
    expect(oddities('pаy')).toBe('It holds characters beyond plain ASCII: а (U+0430).');
  });

  it('is told part by part, whatever it is', () => {
    expect(partsOf({ command: 'ls', exitCode: 0 })).toEqual([
      { name: 'command', text: 'ls', isShort: false },
      { name: 'exitCode', text: '0', isShort: true },
    ]);
    expect(partsOf('text')).toEqual([{ name: '', text: 'text', isShort: false }]);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const { name, text } of partsOf(value)) expect([typeof name, typeof text]).toEqual(['string', 'string']);
      }),
    );
  });

  it('stays in one line where it is nested so deeply that it would be blanks for the most part', () => {
    expect(jsonText({ a: 1 })).toBe('{\n  "a": 1\n}');
    let value: unknown = 1;
    for (let depth = 0; depth < 30; depth += 1) value = [value];
    expect(jsonText(value)).toBe(JSON.stringify(value));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 12 }), (each) => {
        expect(jsonText(each).length).toBeLessThanOrEqual(4 * JSON.stringify(each).length);
      }),
    );
  });
});
