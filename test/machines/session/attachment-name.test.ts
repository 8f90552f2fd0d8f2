import { describe, expect, it } from 'vitest';
import { attachmentFileName, attachmentKindOf, shownName } from '../../../src/machines/session/attachment-name.ts';

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe('a file that came with a message', () => {
  it.each([
    ['notes.md', '# Hi', undefined, 'file', 'text/markdown'],
    ['notes', '# Hi', undefined, 'file', 'text/plain'],
    ['data.bin', 'a\0b', undefined, 'file', 'application/octet-stream'],
    [
      'sums.xlsx',
      'PK\u0003\u0004',
      undefined,
      'file',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
    ['paper.txt', '%PDF-1.7', undefined, 'file', 'application/pdf'],
    ['drawing.svg', '<svg/>', undefined, 'file', 'image/svg+xml'],
    ['photo.jpg', 'not a photo', 'image/jpeg', 'file', 'image/jpeg'],
    ['photo.txt', '\u00FF\u00D8\u00FF\u00E0', 'text/plain', 'image', 'image/jpeg'],
    ['table.md', 'a,b', 'text/csv', 'file', 'text/csv'],
  ] as const)('called %s that begins with %j is told as what it is', (name, head, mediaType, kind, expected) => {
    expect(attachmentKindOf({ name, head: bytes(head), mediaType })).toEqual({ kind, mediaType: expected });
  });

  it.each([
    ['notes.MD', 'ff.md'],
    ['archive.tar.gz', 'ff.gz'],
    ['.bashrc', 'ff'],
    ['no ending', 'ff'],
    ['evil./../x', 'ff'],
    ['odd.éé', 'ff'],
    [`long.${'x'.repeat(17)}`, 'ff'],
  ])('called %j is kept as %s', (name, expected) => {
    expect(attachmentFileName('ff', name)).toBe(expected);
  });

  it('is shown under a name that drives nothing and has an end', () => {
    expect(shownName('a\u001B[2J\u202Eb\n')).toBe('a\uFFFD[2J\uFFFDb\uFFFD');
    expect(shownName('')).toBe('file');
    expect(shownName('x'.repeat(300))).toHaveLength(200);
    expect(shownName(`${'x'.repeat(199)}\u{1F389}`)).toBe('x'.repeat(199));
    expect(shownName(`${'x'.repeat(198)}\u{1F389}`)).toBe(`${'x'.repeat(198)}\u{1F389}`);
  });
});
