/** Secrets are taken out of whatever they were written into, however it is cut and wrapped. */
import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';

const SECRET = 'gh"p_S3cr3t/\\+Val ue-Ω%41';
const redaction = new SecretRedaction(new Map([['github/token', [SECRET]]]));
const MARK = '[redacted github/token]';

const bytesOf = (text: string): Buffer => Buffer.from(text);
const hexOf = (text: string): string => bytesOf(text).toString('hex');

function wrapped(text: string, width: number, separator: string): string {
  return (text.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? []).join(separator);
}

describe('a secret in a text', () => {
  it.each([
    ['as it is', SECRET],
    ['in JSON', JSON.stringify(SECRET)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ key: SECRET }))],
    ['in JSON of ASCII only', JSON.stringify(SECRET).replace('Ω', '\\u03a9')],
    ['in JSON whose slashes are escaped', JSON.stringify(SECRET).replaceAll('/', '\\/')],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in a URL in a URL', encodeURIComponent(encodeURIComponent(SECRET))],
    ['in a form', new URLSearchParams({ a: SECRET }).toString()],
    ['in a URL with every byte escaped', [...bytesOf(SECRET)].map((byte) => `%${byte.toString(16)}`).join('')],
    ['in base64', bytesOf(SECRET).toString('base64')],
    ['in base64 after a user', bytesOf(`user:${SECRET}`).toString('base64')],
    ['in base64 with something around it', bytesOf(`ab${SECRET}xyz`).toString('base64')],
    ['in base64url', bytesOf(`abc:${SECRET}`).toString('base64url')],
    ['in base64 in lines', wrapped(bytesOf(`key=${SECRET}\n`).toString('base64'), 7, '\n')],
    ['in base64 in indented lines', wrapped(bytesOf(SECRET).toString('base64'), 9, '\r\n    ')],
    ['in base64 in lines in JSON', JSON.stringify(wrapped(bytesOf(SECRET).toString('base64'), 11, '\n'))],
    ['in base64 in a URL', encodeURIComponent(bytesOf(SECRET).toString('base64'))],
    ['in hex', hexOf(SECRET)],
    ['in upper-case hex', hexOf(SECRET).toUpperCase()],
    ['in hex in pairs', wrapped(hexOf(SECRET), 2, ' ')],
    ['in hex with colons', wrapped(hexOf(SECRET), 2, ':')],
    ['in hex as of xxd', wrapped(hexOf(SECRET), 4, ' ')],
    ['in hex escapes', [...bytesOf(SECRET)].map((byte) => `\\x${byte.toString(16)}`).join('')],
    ['in lines', wrapped(SECRET, 5, '\n')],
    ['letter by letter', Array.from(SECRET).join('   ')],
    ['in UTF-16', Array.from(SECRET).join('\0')],
    ['as a word of a shell', SECRET.replaceAll(/[^\w]/g, '\\$&')],
    ['in HTML', SECRET.replaceAll('"', '&quot;')],
    ['after a sign that it could belong to', `%${SECRET} \\${SECRET}`],
  ])('is taken out %s', (_how, written) => {
    const redacted = redaction.text(`before ${written} after`);
    expect(redacted).toContain(MARK);
    expect(redacted.startsWith('before ') || redacted.startsWith('before "')).toBe(true);
    expect(redacted.endsWith(' after')).toBe(true);
    expect(redacted.length).toBeLessThan(80);
  });

  it('leaves everything else as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        expect(redaction.text(text)).toBe(text);
      }),
    );
  });

  it('is gone whole where two secrets overlap', () => {
    const both = new SecretRedaction(new Map([['a/one', ['first-half-4711']], ['a/two', ['half-4711-and-more']]]));
    expect(both.text('x first-half-4711-and-more y')).toBe('x [redacted a/one] y');
  });

  it('is still taken out after it has got another value', () => {
    const renewed = new SecretRedaction(new Map([['a/token', ['old-value-1', 'new-value-2']]]));
    expect(renewed.text('old-value-1 new-value-2')).toBe('[redacted a/token] [redacted a/token]');
  });

  it('is taken out line by line when it is a key of several lines, and in an account of a service', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
    const other = 'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu';
    const key = `-----BEGIN PRIVATE KEY-----\n${line}\n${other}\n-----END PRIVATE KEY-----\n`;
    for (const value of [key, JSON.stringify({ type: 'service_account', private_key: key }, null, 2)]) {
      const keys = new SecretRedaction(new Map([['cloud/key', [value]]]));
      expect(keys.text(`head: ${line}`)).toBe('head: [redacted cloud/key]');
      expect(keys.text(`tail: ${Buffer.from(other).toString('base64')}`)).toContain('[redacted cloud/key]');
      expect(keys.text('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----');
    }
  });
});

describe('a secret in a JSON value', () => {
  it('is taken out of texts and keys, and two keys stay two', () => {
    const value = { [SECRET]: 1, [encodeURIComponent(SECRET)]: [SECRET, { deep: `x${SECRET}` }], fine: 'text' };
    expect(redaction.json(value)).toEqual({ [MARK]: 1, [`${MARK} (2)`]: [MARK, { deep: `x${MARK}` }], fine: 'text' });
  });

  it('is taken out where digits were taken for a number', () => {
    const digits = new SecretRedaction(new Map([['bank/pin', ['4815162342']]]));
    expect(digits.json({ pin: 4_815_162_342, other: 17 })).toEqual({ pin: '[redacted bank/pin]', other: 17 });
  });

  it('gives the same value when there is none', () => {
    const value = { a: [1, 'two', null, { b: true }] };
    expect(redaction.json(value)).toBe(value);
  });

  it('cuts what is nested beyond measure', () => {
    let deep: unknown = SECRET;
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    expect(JSON.stringify(redaction.json(deep))).toContain('nested too deeply');
  });
});

const forms = [SECRET, JSON.stringify(SECRET), encodeURIComponent(SECRET), bytesOf(`u:${SECRET}`).toString('base64'), wrapped(hexOf(SECRET), 6, '\n')];

describe('a secret in a stream', () => {
  it('is taken out wherever the stream is cut, up to three characters of it', () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...forms), fc.string({ maxLength: 20 })), { maxLength: 8 });
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 40 }), { maxLength: 60 }), (parts, lengths) => {
        const whole = bytesOf(parts.join('\n~\n'));
        const stream = redaction.bytes();
        const told: Uint8Array[] = [];
        let at = 0;
        for (const length of lengths) {
          told.push(stream.add(whole.subarray(at, at + length)));
          at = Math.min(whole.length, at + length);
        }
        told.push(stream.add(whole.subarray(at)), stream.end());
        const said = Buffer.concat(told).toString();
        expect(redaction.text(said)).toBe(said);
        for (const form of forms) expect(said).not.toContain(form.slice(4, -2));
      }),
      { numRuns: 300 },
    );
  });

  it('tells everything that is no secret at once', () => {
    const stream = redaction.bytes();
    for (const line of ['ready\n', 'listening on gh\n', 'progress 41%', ' \\', 'u00']) expect(Buffer.from(stream.add(bytesOf(line))).toString()).toBe(line);
    expect(stream.end()).toHaveLength(0);
  });

  it('tells the beginning of a secret when nothing more comes', () => {
    const stream = redaction.bytes();
    expect(Buffer.from(stream.add(bytesOf('key: gh"p_S3c'))).toString()).toBe('key: ');
    expect(Buffer.from(stream.end()).toString()).toBe('gh"p_S3c');
  });

  it('does not wait for the end of endless white space', () => {
    const stream = redaction.bytes();
    stream.add(bytesOf('gh"p_S3c'));
    expect(stream.add(bytesOf(' '.repeat(1_000))).length).toBeGreaterThan(900);
  });
});

it('one megabyte is read in a moment, with twenty secrets', () => {
  const secrets = new Map(Array.from({ length: 20 }, (_, index) => [`v/s${index}`, [`ghp_${Buffer.from(`secret number ${index} of many`).toString('base64')}`]] as const));
  const many = new SecretRedaction(secrets);
  const text = JSON.stringify(Array.from({ length: 9_000 }, (_, index) => ({ index, path: `src/file-${index}.ts`, text: 'const value = "a\\n";\tghp_ return `${value}`; %20' }))).slice(0, 1_000_000);
  expect(many.text(text)).toBe(text);
  const began = performance.now();
  for (let round = 0; round < 5; round += 1) many.text(text);
  // It takes about 10 ms. Nothing but another order of growth breaks this bound, on any machine.
  expect((performance.now() - began) / 5).toBeLessThan(1_000);
});
