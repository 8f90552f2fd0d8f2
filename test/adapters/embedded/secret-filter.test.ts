import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/adapters/embedded/secret-filter.ts';

const SECRET = 'sk-sk-sk-0123';

function filtered(secret: string, pieces: readonly string[]): string {
  const filter = new Secret(secret).filter();
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

describe('a text that comes in pieces', () => {
  it('is told without the secret, and otherwise whole, wherever it is torn', () => {
    const word = fc.oneof(fc.constant(SECRET), fc.constant(SECRET.slice(0, 7)), fc.constant(SECRET.slice(3)), fc.string({ maxLength: 5 }), fc.constantFrom('s', 'sk', 'sk-'));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat(8), { minLength: 1, maxLength: 40 }), (words, cuts) => {
        const text = words.join('');
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          pieces.push(text.slice(at, at + size));
          // Empty pieces come too, but not for ever.
          at += turn % 2 === 0 ? size : Math.max(1, size);
          if (size === 0 && turn % 2 === 1) pieces[pieces.length - 1] = text.slice(at - 1, at);
        }
        expect(filtered(SECRET, pieces)).toBe(text.replaceAll(SECRET, '[redacted]'));
      }),
    );
  });

  it('is not held back where nothing of the secret is in it', () => {
    const filter = new Secret(SECRET).filter();
    expect(['one ', 'two ', 'three'].map((piece) => filter.push(piece))).toEqual(['one ', 'two ', 'three']);
  });

  it('is left alone where the key is but a stand-in', () => {
    expect(filtered('ollama', ['I am ollama.'])).toBe('I am ollama.');
    expect(filtered('', ['', 'x'])).toBe('x');
  });
});

describe('a message of an error', () => {
  it('is told without the secret, as it is, in JSON and in an address', () => {
    const secret = new Secret('a"b/c d');
    expect(secret.redact(`1 a"b/c d 2 ${JSON.stringify({ key: 'a"b/c d' })} 3 ?key=${encodeURIComponent('a"b/c d')}`)).toBe('1 [redacted] 2 {"key":"[redacted]"} 3 ?key=[redacted]');
  });

  it('is left alone where there is no secret worth the name', () => {
    expect(new Secret('no').redact('nothing is known')).toBe('nothing is known');
    expect(new Secret().redact('nothing')).toBe('nothing');
  });
});

describe('what a model said as data', () => {
  it('is told without the secret, however deep it lies', () => {
    const secret = new Secret(SECRET);
    expect(secret.redactJson({ a: [{ [SECRET]: `x${SECRET}` }, 1, null] })).toEqual({ a: [{ '[redacted]': 'x[redacted]' }, 1, null] });
    let deep: unknown = SECRET;
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(JSON.stringify(secret.redactJson(deep))).not.toContain(SECRET);
  });
});
