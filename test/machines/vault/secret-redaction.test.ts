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
    const both = new SecretRedaction(
      new Map([
        ['a/one', ['first-half-4711']],
        ['a/two', ['half-4711-and-more']],
      ]),
    );
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

const TOKEN = 'Zx81-QQ-topsecret-5551212';
const tokens = new SecretRedaction(new Map([['v/t', [TOKEN]]]));
const each = (write: (character: string) => string): string => Array.from(TOKEN, write).join('');
const code = (character: string, base: number): string => character.charCodeAt(0).toString(base);

/** As the programs print it, sixteen bytes in a line. */
function dumpOf(text: string, line: (bytes: Buffer, offset: number) => string): string {
  const bytes = bytesOf(text);
  return Array.from(
    { length: Math.ceil(bytes.length / 16) },
    (_, index) => `${line(bytes.subarray(index * 16, index * 16 + 16), index * 16)}\n`,
  ).join('');
}

const pairs = (bytes: Buffer): string[] => bytes.toString('hex').match(/../g) ?? [];
const octal = (offset: number): string => offset.toString(8).padStart(7, '0');
const hexadecimal = (offset: number): string => offset.toString(16).padStart(8, '0');

describe('a secret that is written in an unusual way', () => {
  it.each([
    ['in capitals', TOKEN.toUpperCase()],
    ['with commas between its characters', Array.from(TOKEN).join(',')],
    ['with dashes, of which it has some itself', Array.from(TOKEN).join('-')],
    ['as a list of characters', JSON.stringify(Array.from(TOKEN))],
    ['as a list of characters in JSON', JSON.stringify(JSON.stringify(Array.from(TOKEN)))],
    ['as a list of another language', Array.from(TOKEN, (character) => `'${character}'`).join(', ')],
    ['in numbered entities', each((character) => `&#${code(character, 10)};`)],
    ['in hexadecimal entities', each((character) => `&#x${code(character, 16)};`)],
    ['in entities in HTML', each((character) => `&amp;#${code(character, 10)};`)],
    ['in octal escapes', each((character) => `\\${code(character, 8)}`)],
    ['in octal escapes of three digits', each((character) => `\\${code(character, 8).padStart(3, '0')}`)],
    [
      'in a URL six times over',
      Array.from({ length: 5 }).reduce<string>(
        (text) => encodeURIComponent(text),
        each((character) => `%${code(character, 16)}`),
      ),
    ],
    ['with digits of an escape that are escaped', each((character) => `%%3${code(character, 16)}`)],
  ])('is taken out %s', (_how, written) => {
    const redacted = tokens.text(`before (${written}) after`);
    expect(redacted).toMatch(/^before \(.{0,6}\[redacted v\/t\].{0,6}\) after$/);
  });

  it('is taken out of a dump whose first line stands after something else', () => {
    const dump = `end${dumpOf(TOKEN, (bytes, offset) => `${octal(offset)}${bytes.toString().replaceAll(/./gs, (character) => `   ${character}`)}`)}0000031\n`;
    expect(tokens.text(dump)).toBe('end0000000   [redacted v/t]\n0000031\n');
  });

  it.each([
    [
      'od -c',
      (bytes: Buffer, offset: number) =>
        `${octal(offset)}${bytes.toString().replaceAll(/./gs, (character) => `   ${character}`)}`,
    ],
    [
      'od -tx1z',
      (bytes: Buffer, offset: number) => `${octal(offset)} ${pairs(bytes).join(' ').padEnd(47)}  >${bytes.toString()}<`,
    ],
    ['od -An -tx1z', (bytes: Buffer) => ` ${pairs(bytes).join(' ').padEnd(47)}  >${bytes.toString()}<`],
    [
      'hexdump -C',
      (bytes: Buffer, offset: number) =>
        `${hexadecimal(offset)}  ${pairs(bytes).slice(0, 8).join(' ')}  ${pairs(bytes).slice(8).join(' ').padEnd(23)}  |${bytes.toString()}|`,
    ],
    [
      'xxd',
      (bytes: Buffer, offset: number) =>
        `${hexadecimal(offset)}: ${(bytes.toString('hex').match(/.{1,4}/g) ?? []).join(' ').padEnd(39)}  ${bytes.toString()}`,
    ],
  ])('is taken out of what %s prints, wherever in it it begins and however it comes', (_program, line) => {
    for (let before = 0; before < 20; before += 1) {
      const dump = dumpOf(`${'.'.repeat(before)}${TOKEN} and more`, line);
      const stream = tokens.bytes();
      const streamed = Buffer.concat([
        ...(dump.match(/.{1,7}/gs) ?? []).map((piece) => stream.add(bytesOf(piece))),
        stream.end(),
      ]).toString();
      for (const redacted of [tokens.text(dump), streamed]) {
        expect(redacted).toContain('[redacted v/t]');
        for (const rest of ['topsec', '5551212', '746f 7073', '74 6f 70', '35 35 35', '3535'])
          expect(redacted).not.toContain(rest);
      }
    }
  });
});

describe('a secret in numbers', () => {
  it.each([
    ['of a buffer in JSON', JSON.stringify(Buffer.from(TOKEN))],
    ['of bytes in Python', `[${Array.from(Buffer.from(TOKEN)).join(', ')}]`],
  ])('is taken out: %s', (_what, written) => {
    expect(tokens.text(`before ${written} after`)).toMatch(/^before .{0,30}\[redacted v\/t\].{0,10} after$/);
  });

  it('leaves numbers that say something else', () => {
    const text = JSON.stringify(Array.from({ length: 500 }, (_, index) => index % 256));
    expect(tokens.text(text)).toBe(text);
  });
});

describe('a part of a secret', () => {
  const known = (value: string): SecretRedaction => new SecretRedaction(new Map([['v/t', [value]]]));

  it.each([
    ['a line', '[default]\naws_id=AKIA55512\naws_pw=hunter2-Xy77\n', 'aws_pw=hunter2-Xy77'],
    ['the value of a setting', '[default]\naws_id=AKIA55512\naws_pw=hunter2-Xy77\n', 'hunter2-Xy77'],
    ['the password of a URL', 'postgres://svc:pa55-w0rd-Q9@db.example.com/prod', 'pa55-w0rd-Q9'],
    ['the login of a URL', 'postgres://svc:correcthorse@db.example.com/prod', 'svc:correcthorse'],
    ['a password with escapes in a URL', 'postgres://svc:pa55%2Fw0rd-Q9@db.example.com/prod', 'pa55/w0rd-Q9'],
    ['a piece of the path of a URL', 'https://hooks.example.com/services/T0ABC1234/abcDEFghi123', 'abcDEFghi123'],
    ['a value in JSON', '{"type":"service_account","nested":{"pin":"k3y-k3y-k3y"}}', 'k3y-k3y-k3y'],
  ])('is taken out by itself: %s', (_what, value, part) => {
    expect(known(value).text(`x ${part} y`)).toContain('[redacted v/t]');
    expect(known(value).text(`x ${part} y`)).not.toContain(part);
  });

  it.each([
    [
      '[default]\nregion=us-east-1\nkey=hunter2-Xy77\noutput = formatted',
      ['[default]', 'us-east-1', 'formatted', 'region=us-east-1'],
    ],
    ['postgres://svc:pa55-w0rd-Q9@db.example.com:5432/production', ['db.example.com', 'production', 'postgres://']],
    [
      '{"type":"service_account","mail":"a@b.example.com","at":"https://accounts.example.com/auth","key":"hunter2-Xy77"}',
      ['service_account', 'a@b.example.com', 'https://accounts.example.com/auth'],
    ],
  ])('stays where it is a word, a name or an address: %s', (value, words) => {
    for (const word of words) expect(known(value).text(`x ${word} y`)).toBe(`x ${word} y`);
  });
});

it.each([
  ['escapes in escapes', '%25'.repeat(350_000)],
  ['escapes that end each other', '%3'.repeat(500_000)],
  ['entities', '&#37;'.repeat(200_000)],
  ['backslashes', '\\'.repeat(1_000_000)],
  ['characters with commas', 'a,'.repeat(500_000)],
  ['the beginning of the secret, again and again', 'Zx81'.repeat(250_000)],
  ['backslashes and backslashes', '\\\\u'.repeat(300_000)],
  ['color codes that do not end', '\u001b['.repeat(500_000)],
  ['signs of cuts', 'Zx81-QQ-to…'.repeat(100_000)],
  ['nothing, and a secret that is nearly a URL,', ''],
])('one megabyte of %s takes no longer than another order of growth would', (_what, text) => {
  const began = process.cpuUsage();
  if (text === '')
    expect(
      new SecretRedaction(new Map([['v/t', [`${'a'.repeat(30_000)}=${'Aa1:'.repeat(7_000)}`]]])).text('nothing here'),
    ).toBe('nothing here');
  else if (text.includes('…')) expect(tokens.text(text)).not.toContain(TOKEN.slice(0, 8));
  else expect(tokens.text(text)).toBe(text);
  expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
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

const forms = [
  SECRET,
  JSON.stringify(SECRET),
  encodeURIComponent(SECRET),
  bytesOf(`u:${SECRET}`).toString('base64'),
  wrapped(hexOf(SECRET), 6, '\n'),
];

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
    for (const line of ['ready\n', 'listening on gh\n', 'progress 41%', ' \\', 'u00'])
      expect(Buffer.from(stream.add(bytesOf(line))).toString()).toBe(line);
    expect(stream.end()).toHaveLength(0);
  });

  it('tells the beginning of a secret when nothing more comes, unless it is as much as a secret by itself', () => {
    const stream = redaction.bytes();
    expect(Buffer.from(stream.add(bytesOf('key: gh"p_S3'))).toString()).toBe('key: ');
    expect(Buffer.from(stream.end()).toString()).toBe('gh"p_S3');
    stream.add(bytesOf('key: gh"p_S3cr3t'));
    expect(Buffer.from(stream.end()).toString()).toBe(MARK);
  });

  it('does not wait for the end of endless white space', () => {
    const stream = redaction.bytes();
    stream.add(bytesOf('gh"p_S3c'));
    expect(stream.add(bytesOf(' '.repeat(1_000))).length).toBeGreaterThan(900);
  });
});

it('one megabyte is read in a moment, with twenty secrets', () => {
  const secrets = new Map(
    Array.from(
      { length: 20 },
      (_, index) =>
        [`v/s${index}`, [`ghp_${Buffer.from(`secret number ${index} of many`).toString('base64')}`]] as const,
    ),
  );
  const many = new SecretRedaction(secrets);
  const text = JSON.stringify(
    Array.from({ length: 9_000 }, (_, index) => ({
      index,
      path: `src/file-${index}.ts`,
      text: 'const value = "a\\n";\tghp_ return `${value}`; %20',
    })),
  ).slice(0, 1_000_000);
  expect(many.text(text)).toBe(text);
  const began = process.cpuUsage();
  for (let round = 0; round < 3; round += 1) many.text(text);
  // It takes about 40 ms. Nothing but another order of growth breaks this bound, on any machine.
  expect(process.cpuUsage(began).user / 3).toBeLessThan(1_000_000);
});

describe('what is left of a secret where a text was cut', () => {
  const mixed = 'Zx81Q7topS3cretQ5r5t1x9z';
  const cutting = new SecretRedaction(new Map([['v/t', [mixed]]]));
  const long = `${'x'.repeat(50)} ${mixed} ${'y'.repeat(50)}`;

  it('is taken out in front of the cut and after it, wherever the cut is, from eight characters on', () => {
    for (let count = 51; count < 51 + mixed.length; count += 1) {
      const [head, tail] = [long.slice(0, count), long.slice(count)];
      for (const text of [
        head,
        tail,
        `${head}…`,
        `…${tail}`,
        `received ${JSON.stringify(head)} instead`,
        `${head}\n[… 7 characters left out …]\n${tail}`,
        `${head}\nnext line`,
      ]) {
        const told = cutting.text(text);
        for (let at = 0; at + 8 <= mixed.length; at += 1) expect(told).not.toContain(mixed.slice(at, at + 8));
      }
    }
  });

  it('is left where it is a word, a name or an address', () => {
    const database = new SecretRedaction(
      new Map([['v/db', ['postgres://svc:pa55-w0rd-Q9@db.example.com:5432/production']]]),
    );
    for (const text of [
      'postgres://svc',
      'check localhost:5432/production',
      'db.example.com:5432/production',
      'production',
    ])
      expect(database.text(text)).toBe(text);
  });
});
