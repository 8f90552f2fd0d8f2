import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunPayload } from '../../../src/machines/run/run-output.ts';
import { unsaidPayloads } from '../../../src/machines/turn/unsaid-payloads.ts';

const text = (words: string): RunPayload => ({ type: 'text', text: words });
const thought: RunPayload = { type: 'reasoning', text: 'Hm.' };

describe('what of an answer is not said yet', () => {
  it.each<[string, readonly RunPayload[], string, readonly RunPayload[]]>([
    ['all of it when nothing was', [text('One. '), text('Two.')], '', [text('One. '), text('Two.')]],
    ['the rest of a piece', [text('I check first. All is well.')], 'I check first.', [text('All is well.')]],
    [
      'the pieces after those that were',
      [text('I check first.'), thought, text('\n\nAll is well.')],
      'I check first.',
      [thought, text('All is well.')],
    ],
    ['nothing when all was', [text('Done.')], 'Done.', []],
    ['all of it when what was said is something else', [text('Done.')], 'Other.', [text('Done.')]],
    ['all of it when more was said', [text('Done.')], 'Done. And more.', [text('Done.')]],
  ])('is %s', (_what, payloads, said, expected) => {
    expect(unsaidPayloads(payloads, said)).toEqual(expected);
  });

  it('is what was streamed after it, however it is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 6 }), fc.nat(30), (pieces, at) => {
        const all = pieces.join('');
        const rest = unsaidPayloads(pieces.map(text), all.slice(0, at)).flatMap((payload) =>
          payload.type === 'text' ? [payload.text] : [],
        );
        expect(rest.join('').replace(/\s/g, '')).toBe(all.slice(at).replace(/\s/g, ''));
      }),
    );
  });
});
