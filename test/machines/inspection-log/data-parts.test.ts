/** Input and output of tools part by part. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, partsOf } from '../../../src/machines/inspection-log/data-parts.ts';

describe('what somebody has to judge', () => {
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
