import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PieceRedaction, Redaction, shortened } from '../../../src/machines/run/redaction.ts';

const SECRET = 'sk-ant-sk-ant-12345';
const redaction = new Redaction(new Map([['KEY', SECRET]]));

describe('a secret', () => {
  it('is taken out of a text however the text is cut to pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('sk-', 'ant-', 'sk-ant-', '12345', SECRET, 'x', ' '), { maxLength: 12 }), fc.integer({ min: 1, max: 7 }), (parts, width) => {
        const text = parts.join('');
        const pieces = new PieceRedaction(redaction);
        const out = [...text.matchAll(new RegExp(`.{1,${width}}`, 'g'))].map(([piece]) => pieces.add(piece)).join('') + pieces.end();
        expect(out).toBe(redaction.text(text));
      }),
    );
  });

  it('is taken out of JSON, of base64 and of addresses', () => {
    const tricky = new Redaction(new Map([['KEY', 'a"b\\c d/e+f?g']]));
    const forms = ['a"b\\c d/e+f?g', JSON.stringify('a"b\\c d/e+f?g'), encodeURIComponent('a"b\\c d/e+f?g'), Buffer.from('a"b\\c d/e+f?g').toString('base64')];
    expect(tricky.text(forms.join(' '))).toBe('[redacted KEY] "[redacted KEY]" [redacted KEY] [redacted KEY]');
  });

  it('is taken out of hex, and of base64 within something longer', () => {
    for (const before of ['', 'a', 'ab', 'user:']) {
      const shown = redaction.text(Buffer.from(`${before}${SECRET}!`).toString('base64'));
      expect(shown).toContain('[redacted KEY]');
      expect(Buffer.from(shown.replace('[redacted KEY]', ''), 'base64').toString()).not.toContain(SECRET.slice(0, 6));
    }
    const hex = Buffer.from(SECRET).toString('hex');
    expect(redaction.text(`${hex} ${hex.toUpperCase()}`)).toBe('[redacted KEY] [redacted KEY]');
  });

  it('that is a mere word is none', () => {
    expect(new Redaction(new Map([['KEY', 'on']])).text('on and on')).toBe('on and on');
  });
});

describe('a long text', () => {
  it('is cut in its middle, and never through a character', () => {
    const text = shortened('😀'.repeat(100), 23);
    expect(text).toMatch(/^😀{5}\n\[… 180 characters left out …\]\n😀{5}$/u);
  });
});
