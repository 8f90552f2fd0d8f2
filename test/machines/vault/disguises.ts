/** Each promised disguise of a secret, written as programs write it: one writer for each, or this does not compile. */
import { Buffer } from 'node:buffer';
import type { Disguise } from '../../../src/machines/vault/redaction-promises.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text);
const between = (text: string, separator: string): string => Array.from(text).join(separator);
const each = (text: string, write: (character: string, index: number) => string): string =>
  Array.from(text, write).join('');
const pairsOf = (bytes: Buffer): string[] => bytes.toString('hex').match(/../g) ?? [];
const wrapped = (text: string, width: number, separator: string): string =>
  (text.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? []).join(separator);
const code = (character: string, base: number): string => (character.codePointAt(0) ?? 0).toString(base);

function dumpOf(text: string, line: (bytes: Buffer, offset: number) => string): string {
  const bytes = bytesOf(text);
  return Array.from(
    { length: Math.ceil(bytes.length / 16) },
    (_, index) => `${line(bytes.subarray(index * 16, index * 16 + 16), index * 16)}\n`,
  ).join('');
}

const octal = (offset: number): string => offset.toString(8).padStart(7, '0');
const hexadecimal = (offset: number): string => offset.toString(16).padStart(8, '0');

/** What shows nothing, or stands between lines. */
const INVISIBLE = [
  ' ',
  '   ',
  '\t',
  '\n',
  '\r\n        ',
  '\u0000',
  '\u00a0',
  '\u00ad',
  '\u1680',
  '\u2003',
  '\u2009',
  '\u200b',
  '\u200d',
  '\u2028',
  '\u202f',
  '\u2060',
  '\u3000',
  '\ufeff',
  '\u001b[0m',
  '\u001b[1;31m',
  '\u001b[38;2;255;255;255m\u001b[0m',
  '\u001b(B\u001b[m',
];

export const WRITERS: Readonly<Record<Disguise, (secret: string) => readonly string[]>> = {
  plain: (secret) => [
    secret,
    secret.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
    secret.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
    `Bearer ${secret}`,
    `https://user:${secret}@host/`,
    `\u001b]0;${secret}\u0007`,
    `\u001b]8;;https://x/${secret}\u001b\\here`,
  ],
  escaped: (secret) => [
    JSON.stringify(secret),
    JSON.stringify(JSON.stringify({ key: secret })),
    JSON.stringify(secret).replaceAll('/', '\\/'),
    each(secret, (character) => `\\u${code(character, 16).padStart(4, '0')}`),
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    new URLSearchParams({ a: secret }).toString(),
    [...bytesOf(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    each(secret, (character) => `&#${code(character, 10)};`),
    each(secret, (character) => `&#x${code(character, 16)};`),
    each(secret, (character) => `&amp;#${code(character, 10)};`),
    [...bytesOf(secret)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
    [...bytesOf(secret)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    secret.replaceAll(/[^\w]/gu, '\\$&'),
    `'${secret.replaceAll("'", `'\\''`)}'`,
  ],
  base64: (secret) => [
    ...['', 'a', 'ab', 'user:', 'x-token:'].flatMap((before) => [
      bytesOf(before + secret).toString('base64'),
      bytesOf(`${before}${secret}!`).toString('base64url'),
    ]),
    `Basic ${bytesOf(`user:${secret}`).toString('base64')}`,
    wrapped(bytesOf(`key=${secret}\n`).toString('base64'), 16, '\n'),
    encodeURIComponent(bytesOf(secret).toString('base64')),
    JSON.stringify(wrapped(bytesOf(secret).toString('base64'), 11, '\r\n')),
  ],
  hex: (secret) =>
    [':', '-', ' ', '']
      .map((sign) => pairsOf(bytesOf(secret)).join(sign))
      .concat(
        bytesOf(secret).toString('hex').toUpperCase(),
        [', ', ' ', ''].map((sign) =>
          pairsOf(bytesOf(secret))
            .map((pair) => `0x${pair}`)
            .join(sign),
        ),
      ),
  bytes: (secret) => [JSON.stringify(bytesOf(secret)), `[${[...bytesOf(secret)].join(', ')}]`],
  dumped: (secret) =>
    ['', 'key: '].flatMap((before) => [
      // What is no ASCII stands there in numbers.
      ...(/^[ -~]*$/.test(secret)
        ? [
            dumpOf(
              before + secret,
              (bytes, offset) =>
                `${octal(offset)}${bytes.toString('latin1').replaceAll(/./gs, (character) => `   ${character}`)}`,
            ),
          ]
        : []),
      dumpOf(before + secret, (bytes, offset) => `${octal(offset)} ${pairsOf(bytes).join(' ')}`),
      dumpOf(
        before + secret,
        (bytes, offset) =>
          `${hexadecimal(offset)}  ${pairsOf(bytes).slice(0, 8).join(' ')}  ${pairsOf(bytes).slice(8).join(' ').padEnd(23)}  |${bytes.toString('latin1').replaceAll(/[^ -~]/g, '.')}|`,
      ),
      dumpOf(
        before + secret,
        (bytes, offset) =>
          `${hexadecimal(offset)}: ${(bytes.toString('hex').match(/.{1,4}/g) ?? []).join(' ').padEnd(39)}  ${bytes.toString('latin1').replaceAll(/[^ -~]/g, '.')}`,
      ),
    ]),
  spaced: (secret) => [
    ...INVISIBLE.map((sign) => between(secret, sign)),
    ...INVISIBLE.filter((sign) => sign !== '\u0000').map((sign) => JSON.stringify(between(secret, sign))),
    ...(secret.includes('\\') ? [] : [between(secret, '&nbsp;')]),
    encodeURIComponent(between(secret, '\u00a0')),
    each(secret, (character, index) => `\u001b[3${index % 8}m${character}\u001b[0m`),
    `\u001b[31m${secret.slice(0, 7)}\u001b[0m${secret.slice(7)}`,
    wrapped(secret, 5, '\n    '),
    // Not the same at each place, so that they are no signs that spell it out.
    ...['\u034f', '\ufe0f', '\u{e0020}', '\u3164', '\u2800'].map((sign) => wrapped(secret, 5, sign)),
    ...(secret.includes('\\') ? [] : ['&shy;', '&zwnj;', '&emsp;'].map((entity) => wrapped(secret, 5, entity))),
  ],
  spelled: (secret) => [
    between(secret, ','),
    between(secret, '-'),
    ...(secret.includes(' ') ? [] : [between(secret, ' | ')]),
    between(secret, '\u00b7'),
    JSON.stringify(Array.from(secret)),
    JSON.stringify(JSON.stringify(Array.from(secret))),
    Array.from(secret, (character) => `'${character}'`).join(', '),
    between(secret, '\u00a0, '),
  ],
  torn: (secret) => [
    secret,
    between(secret, '\u200b'),
    bytesOf(`user:${secret}`).toString('base64'),
    JSON.stringify(JSON.stringify(secret)),
  ],
  cut: (secret) =>
    [12, 17, secret.length - 1].flatMap((count) => {
      const [head, tail] = [secret.slice(0, count), secret.slice(-count)];
      return [
        `…${tail}`,
        `${head}…`,
        `${head}\n[… 12 characters left out …]\n${tail}`,
        `expected a name, received ${JSON.stringify(head)}`,
        `${head} [and 20 more characters]`,
        head,
        tail,
      ];
    }),
  // No secret of one piece has parts: `redaction-promises.test.ts` walks a list of secrets that have some.
  part: () => [],
};
