/** What is shown of a step while it is spoken, and what in the end: the log counts, whatever the words were. */
import { describe, expect, it } from 'vitest';
import type { SessionWord } from '../../../src/machines/words/session-word.ts';
import { SpokenStep } from '../../../src/adapters/http-handler/spoken-step.ts';
import type { TurnPart } from '../../../src/adapters/http-handler/turn-part.ts';

type Word = Exclude<SessionWord, { readonly type: 'progress' }>;
type Move = Word | { readonly stored: string } | { readonly ended: number };

const said = (text: string): Word => ({ type: 'said', kind: 'text', text });
const logged = (after: number): Word => ({ type: 'logged', after });

/** What a reader sees after all of it. */
function shown(parts: readonly TurnPart[]): readonly string[] {
  let texts: string[] = [];
  for (const part of parts)
    if (part.type === 'step-taken-back') texts = [];
    else if (part.type === 'speech-started') texts.push('');
    else if (part.type === 'speech') texts.push(`${texts.pop() ?? ''}${part.text}`);
  return texts;
}

function played(moves: readonly Move[]): readonly TurnPart[] {
  const step = new SpokenStep({ id: 's', seq: 10 });
  let seq = 10;
  return moves.flatMap((move) => {
    if ('stored' in move) return step.store('text', move.stored, (seq += 1));
    return 'ended' in move ? step.end((seq += 1)) : step.hear(move);
  });
}

describe('a step', () => {
  it.each<[string, readonly Move[], readonly string[]]>([
    ['said and stored', [said('On'), said('ce'), logged(10), { stored: 'Once' }], ['Once']],
    ['stored before the end of its words came', [said('On'), { stored: 'Once' }], ['Once']],
    ['stored without words', [{ stored: 'Once' }], ['Once']],
    ['said in vain', [said('Wrong'), { type: 'taken_back' }, said('Once'), logged(10), { stored: 'Once' }], ['Once']],
    ['said with a gap', [said('O'), { type: 'lost' }, said('e'), logged(10), { stored: 'Once' }], ['Once']],
    ['joined after a gap', [{ type: 'lost' }, said('e'), logged(10), { stored: 'Once' }], ['Once']],
    ['said in other words than stored', [said('Twice'), logged(10), { stored: 'Once' }], ['Once']],
    ['said and never stored', [said('Twice'), { ended: 1 }], []],
    ['of two parts', [said('One'), logged(10), said('Two'), { stored: 'One' }, { stored: 'Two' }], ['One', 'Two']],
    [
      'that hears words of the one before',
      [said('Old'), logged(9), said('Once'), logged(10), { stored: 'Once' }],
      ['Once'],
    ],
  ])('%s shows what is stored', (_, moves, texts) => {
    expect(shown(played(moves))).toEqual(texts);
  });

  it('shows words as they come, and nothing twice', () => {
    const parts = played([said('On'), said('ce'), logged(10), { stored: 'Once' }]);
    expect(parts.map((part) => (part.type === 'speech' ? part.text : part.type))).toEqual([
      'speech-started',
      'On',
      'ce',
      'speech-ended',
    ]);
  });

  it('keeps words of the next step until that begins', () => {
    const before = new SpokenStep();
    expect(before.hear(said('Once'))).toEqual([]);
    const { parts } = before.next({ id: 's', seq: 10 });
    expect(parts.map(({ type }) => type)).toEqual(['step-started', 'speech-started', 'speech']);
  });
});
