/** Words on their way to one follower hold no secret, however the model cuts it and whenever the follower joins. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../../src/actors/vault/known-secrets.ts';
import { LiveWords } from '../../../src/actors/words/live-words.ts';
import { tellWords } from '../../../src/actors/words/told-words.ts';
import type { SessionWord } from '../../../src/machines/words/session-word.ts';
import type { TextRedaction } from '../../../src/machines/vault/text-redaction.ts';

const event = { runId: 'r', seq: 1, ts: '' };

function redactionOf(...secrets: readonly string[]): { readonly redact: TextRedaction; readonly known: KnownSecrets } {
  const known = new KnownSecrets();
  for (const [index, secret] of secrets.entries()) known.learn(`vault/${index}`, secret);
  const redact = Object.assign((text: string) => known.redaction?.text(text) ?? text, {
    longest: () => known.redaction?.longest ?? 0,
    pieces: () => known.pieces(),
  });
  return { redact, known };
}

function stage(redact: TextRedaction | undefined) {
  const live = new LiveWords();
  const step = live.step('s', () => 7);
  const say = (text: string, kind: 'text' | 'reasoning' = 'text'): void =>
    step.hear({ ...event, stream: 'assistant', data: { kind, text } });
  const follow = () => {
    const words: SessionWord[] = [];
    const leave = tellWords({ live, sessionId: 's', redact, of: 'everywhere' }, (word) => words.push(word));
    const text = (): string => words.map((word) => (word.type === 'said' ? word.text : '')).join('');
    return { words, leave, text };
  };
  return { live, step, say, follow };
}

/** A text cut into pieces of any length. */
function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const character = fc.constantFrom(...'abcXYZ0189-_/+ .äß字🎉');
const secret = fc.string({ unit: character, minLength: 10, maxLength: 60 }).filter((text) => text.trim() === text);
const filler = fc.string({ unit: character, maxLength: 80 });
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe('the words that are told', () => {
  it('hold no secret, however it comes in pieces, and all else as it was said', () => {
    fc.assert(
      fc.property(
        secret,
        fc.array(filler, { minLength: 1, maxLength: 5 }),
        lengths,
        fc.nat(),
        (value, fillers, cuts, at) => {
          const { redact } = redactionOf(value);
          const { say, step, follow } = stage(redact);
          const said = `${fillers.join(value)}.`;
          const pieces = cut(said, cuts);
          const early = follow();
          const joined = at % (pieces.length + 1);
          for (const piece of pieces.slice(0, joined)) say(piece);
          const late = follow();
          for (const piece of pieces.slice(joined)) say(piece);
          step.end();
          expect(early.text()).toBe(redact(said));
          expect(late.text()).toBe(redact(said));
          expect(early.words.at(-1)?.type).toBe('logged');
        },
      ),
    );
  });

  it('hold no secret that becomes known while it is said, nor the rest of one where the beginning is not kept', () => {
    const value = 'correct horse battery staple';
    const { redact, known } = redactionOf();
    const { say, step, follow } = stage(redact);
    const { text } = follow();
    say('It is ');
    known.learn('vault/late', value);
    for (const letter of value) say(letter);
    say('. ');
    for (let count = 0; count < 5_000; count += 1) say(`${count} ${value} `);
    const late = follow();
    say('the end');
    step.end();
    for (const told of [text(), late.text()]) {
      expect(told).toMatch(/the end$/);
      expect(told).not.toContain('horse');
      expect(told).not.toContain('staple');
    }
    expect(text()).toMatch(/^It is \[redacted vault\/late\]\. 0 /);
    expect(late.words[0]).toEqual({ type: 'lost' });
  });

  it('hold none in thoughts beside what is said, nor in how far a call has come', () => {
    const { redact } = redactionOf('s3cr3t-w0rd-1');
    const { live, say, step, follow } = stage(redact);
    const { words } = follow();
    say('s3cr3t-', 'reasoning');
    say('s3cr3t-');
    say('w0rd-1');
    step.end();
    live.progress('s', { callId: 'c', name: 's3cr3t-w0rd-1' }, { message: 'with s3cr3t-w0rd-1', done: 1 });
    expect(words).toEqual([
      { type: 'said', kind: 'reasoning', text: 's3cr3t-' },
      { type: 'said', kind: 'text', text: '[redacted vault/0]' },
      { type: 'logged', after: 7 },
      {
        type: 'progress',
        callId: 'c',
        name: '[redacted vault/0]',
        progress: { message: 'with [redacted vault/0]', done: 1 },
      },
    ]);
  });

  it('hold none where all that is known is a function that takes them out of whole texts; one that throws costs the text', () => {
    const plain = stage((text) => text.replaceAll('s3cr3t', '[secret]'));
    const { text } = plain.follow();
    for (const piece of ['It is s3c', 'r', '3t, and', ' more']) plain.say(piece);
    plain.step.end();
    expect(text()).toBe('It is [secret], and more');
    const failing = stage(() => {
      throw new Error('no');
    });
    const { words } = failing.follow();
    failing.say('anything at all');
    failing.step.end();
    expect(words.map(({ type }) => type)).toEqual(['lost', 'logged']);
  });
});
