/**
 * What redaction promises: the only list of it. `docs/vaults.md` shows it, and a test takes each of them to each place
 * where text leaves the process.
 */

export const DISGUISES = {
  plain: 'as it is, in small letters and in capitals',
  escaped:
    'in JSON, also in JSON in JSON, with every escape; in URLs and forms; in HTML, in entities of numbers too (`&#90;`, `&#x5a;`); in octal escapes (`\\132`); escaped or quoted for a shell',
  base64: 'in base64 and base64url, also as a part of something longer (`user:token`)',
  hex: 'in hex, with colons, dashes, spaces or `0x` between its pairs',
  bytes: 'as a list of the numbers of its bytes, as a buffer is written in JSON',
  dumped: 'in dumps of `od -c`, `od -tx1`, `hexdump -C` and `xxd`',
  spaced:
    'with these between its characters, up to 64 bytes at a time: white space of every kind (`U+00A0`, `U+2003`), characters of no width (`U+200B`), color codes (`ESC [ … m`); so also in lines that were wrapped or indented, and in UTF-16',
  spelled: 'with the same one to four signs between all its characters (`Z,x,8`, `["Z", "x", "8"]`)',
  torn: 'in pieces: of a stream, of what a model says. Four characters of a secret are kept back until it is clear what they are; three may be told before that',
  cut: 'where a text was cut: its beginning in front of the cut, its end after one, from 8 characters on that are no word, name or address',
  part: 'in parts of 8 characters or more that are no word, name or address: lines, values of settings (`key=value`, also several in a line, as in connection strings) and of JSON, what follows `password` in a `.netrc`, name and password, path and query of a URL',
} as const satisfies Record<string, string>;

export type Disguise = keyof typeof DISGUISES;

export const NOT_FOUND: readonly string[] = [
  'any other part of a secret, and one that was transformed: those who get a secret can encrypt, pack, reverse or shift it, write it in base32 or in words of two bytes (`od`, `hexdump` without `-C`), or put other text between its characters. A command that gets one can always do so',
  'one whose halves stand in two texts: two values of a JSON result, standard output and error output of a log on disk',
  'what a command writes into files of its own; what people send in messages from a process that has opened no vault, and a secret that only another process knows, of a session that this one does not work for',
  'what is in images and other files that are no text, but for files of MCP servers, which are left out when one is in them',
  'values of fewer than 6 characters, and keys of accounts of fewer than 12 characters in what a model says',
];
