import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_DIRECTIVE_CHARACTERS,
  MAX_REJECTED_CHARACTERS,
  readDirective,
} from '../../../src/machines/wake/directive.ts';
import type { DirectiveReading } from '../../../src/machines/wake/directive.ts';

const fenced = (json: string): string => `Before.\n\n\`\`\`wakechart-directive\n${json}\n\`\`\``;
const read = (text: string, ...structured: unknown[]): DirectiveReading => readDirective({ text, structured });
const SLEEP = { outcome: 'sleep', summary: 'Done.' };
const queuedWake = { reason: 'check', delaySeconds: 60 };
const learning = { kind: 'lesson', title: 't', detail: 'd' };

describe('a directive is understood', () => {
  it.each<[string, object, object]>([
    ['at its smallest', SLEEP, { outcome: 'sleep', queuedWakes: [], learnings: [] }],
    ['to continue', { ...SLEEP, outcome: 'continue' }, { outcome: 'continue' }],
    ['with a follow-up', { ...SLEEP, followUpSeconds: 86_400 }, { followUpSeconds: 86_400 }],
    [
      'with three wakes',
      {
        ...SLEEP,
        queuedWakes: [queuedWake, { ...queuedWake, delaySeconds: 0 }, { ...queuedWake, delaySeconds: 86_400 }],
      },
      { queuedWakes: [{ priority: 'normal' }, {}, {}] },
    ],
    [
      'with three learnings',
      { ...SLEEP, learnings: [learning, learning, { ...learning, title: 'x'.repeat(120), detail: 'x'.repeat(400) }] },
      {},
    ],
    [
      'with a custom tool request',
      { ...SLEEP, customToolRequest: { name: 'ask', input: { a: 1 } } },
      { customToolRequest: { name: 'ask' } },
    ],
  ])('%s', (_name, directive, expected) => {
    expect(read('Hello.', directive)).toMatchObject({ kind: 'accepted', text: 'Hello.', directive: expected });
    expect(read(fenced(JSON.stringify(directive)))).toMatchObject({
      kind: 'accepted',
      text: 'Before.',
      directive: expected,
    });
  });

  it('in the block that ends the text, whatever blocks and blank lines are around it', () => {
    const text = `See:\n\`\`\`ts\nconst a = 1;\n\`\`\`\n${fenced(JSON.stringify({ ...SLEEP, summary: 'quoted' }))}\nSo:\n${fenced(JSON.stringify(SLEEP))}\n \n`;
    expect(read(text)).toMatchObject({
      kind: 'accepted',
      directive: { summary: 'Done.' },
      text: text.slice(0, text.lastIndexOf('\n\n```wakechart')),
    });
  });

  it('in a block with Windows line ends', () => {
    expect(read(fenced(JSON.stringify(SLEEP)).replaceAll('\n', '\r\n'))).toMatchObject({ kind: 'accepted' });
  });

  it('as data, whatever the text says', () => {
    expect(read(fenced('{'), SLEEP)).toMatchObject({ kind: 'accepted' });
  });
});

describe('a directive is malformed', () => {
  it.each<[string, unknown, RegExp]>([
    ['that is no object', 'sleep', /expected object/],
    ['with no outcome', { summary: 'x' }, /outcome: /],
    ['with another outcome', { ...SLEEP, outcome: 'explode' }, /outcome: expected one of "sleep"\|"continue"/],
    ['without a summary', { outcome: 'sleep' }, /summary: /],
    ['with four wakes', { ...SLEEP, queuedWakes: Array.from({ length: 4 }, () => queuedWake) }, /queuedWakes: .*3/],
    [
      'with a wake in more than a day',
      { ...SLEEP, queuedWakes: [{ ...queuedWake, delaySeconds: 86_401 }] },
      /queuedWakes\[0\]\.delaySeconds: .*86400/,
    ],
    ['with a wake in the past', { ...SLEEP, queuedWakes: [{ ...queuedWake, delaySeconds: -1 }] }, /delaySeconds/],
    ['with half a second', { ...SLEEP, queuedWakes: [{ ...queuedWake, delaySeconds: 0.5 }] }, /delaySeconds/],
    ['with a wake without a reason', { ...SLEEP, queuedWakes: [{ delaySeconds: 1 }] }, /reason/],
    ['with four learnings', { ...SLEEP, learnings: Array.from({ length: 4 }, () => learning) }, /learnings/],
    [
      'with a learning of another kind',
      { ...SLEEP, learnings: [{ ...learning, kind: 'rumour' }] },
      /learnings\[0\]\.kind/,
    ],
    ['with a long title', { ...SLEEP, learnings: [{ ...learning, title: 'x'.repeat(121) }] }, /title/],
    ['with a long detail', { ...SLEEP, learnings: [{ ...learning, detail: 'x'.repeat(401) }] }, /detail/],
    ['with a key nobody knows', { ...SLEEP, sleepSeconds: 5 }, /Unrecognized key.*sleepSeconds/i],
    ['with a follow-up in more than a day', { ...SLEEP, followUpSeconds: 86_401 }, /followUpSeconds/],
  ])('%s', (_name, directive, reason) => {
    const reading = read('Hello.', directive);
    expect(reading).toMatchObject({ kind: 'malformed', text: 'Hello.' });
    expect(reading.kind === 'malformed' && reading.reason).toMatch(reason);
  });

  it.each<[string, string, RegExp]>([
    ['that is not JSON', fenced('{ "outcome": '), /not JSON/],
    ['that never closes', '```wakechart-directive\n{}', /no closing/],
    [
      'that is quoted in another, which ends the text',
      `So I was told:\n\`\`\`\n${fenced(JSON.stringify(SLEEP))}`,
      /inside of another block/,
    ],
    [
      'that is quoted in another, which never closes',
      `\`\`\`\`\n${fenced(JSON.stringify(SLEEP))}`,
      /inside of another block/,
    ],
    ['that is huge', fenced(JSON.stringify({ x: 'x'.repeat(MAX_DIRECTIVE_CHARACTERS) })), /at most/],
  ])('in a block %s, and the text stays as it was said', (_name, text, reason) => {
    const reading = read(text);
    expect(reading).toMatchObject({ kind: 'malformed', text });
    expect(reading.kind === 'malformed' && reading.reason).toMatch(reason);
    expect(reading.kind === 'malformed' && reading.received.length).toBeLessThanOrEqual(MAX_REJECTED_CHARACTERS);
  });

  it('when a turn gives two', () => {
    expect(read('', SLEEP, SLEEP)).toMatchObject({ kind: 'malformed', reason: 'expected one directive, received 2' });
  });
});

describe('a turn', () => {
  it.each([
    ['before something else that it says', `${fenced(JSON.stringify(SLEEP))}\nThat is what I was told.`],
    [
      'between what it says',
      `My instructions:\n${fenced(JSON.stringify({ ...SLEEP, outcome: 'continue' }))}\nand a table.`,
    ],
    ['in a longer fence', `The page says:\n\`\`\`\`markdown\n${fenced(JSON.stringify(SLEEP))}\n\`\`\`\``],
    ['in a fence of another kind', `The page says:\n~~~\n${fenced(JSON.stringify(SLEEP))}\n~~~`],
    ['in code that is indented', fenced(JSON.stringify(SLEEP)).replaceAll(/^/gm, '    ')],
    ['in a quotation', fenced(JSON.stringify(SLEEP)).replaceAll(/^/gm, '> ')],
    ['that is malformed and not at the end', `${fenced('{')}\nis what I read.`],
  ])('that shows a block %s has no directive, and its text stays as it is', (_, text) => {
    expect(read(text)).toEqual({ kind: 'none', text });
  });

  it.each(['', 'Just text.', '```json\n{"outcome":"sleep"}\n```', 'Say ```wakechart-directive``` to sleep.'])(
    'without a directive has none: %j',
    (text) => {
      expect(read(text)).toEqual({ kind: 'none', text });
    },
  );

  it('is always read, whatever it says', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json().map(fenced),
      fc.string().map(fenced),
      fc.string().map((inside) => `\`\`\`wakechart-directive\n${inside}`),
    );
    fc.assert(
      fc.property(
        text,
        fc.array(fc.anything(), { maxLength: 2 }),
        (said, structured) => void readDirective({ text: said, structured }),
      ),
    );
  });

  it('is read in a time that grows with its length, not faster', () => {
    const reading = read('```wakechart-directive \n'.repeat(20_000));
    expect(reading.kind).toBe('malformed');
  });
});
