import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoted } from '../../../../src/machines/turn/shell/shell-script.ts';

describe('a quoted word', () => {
  it('is the same text to a shell, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({
            unit: fc.constantFrom("'", '"', '\\', '$', '`', '\n', ' ', '!', '*', 'a', 'é', '#', '\r', '\t'),
          }),
          { minLength: 1, maxLength: 40 },
        ),
        (words) => {
          const script = words.map((word) => `printf '%s\\036' ${quoted(word)}`).join('\n');
          expect(
            execFileSync('/bin/sh', ['-s'], { input: script, encoding: 'utf8' }).split('\u{1e}').slice(0, -1),
          ).toEqual(words);
        },
      ),
      { numRuns: 50 },
    );
  });
});
