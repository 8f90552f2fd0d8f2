import { describe, expect, it } from 'vitest';
import { fileKindOf } from '../../../../src/machines/turn/files/file-kind.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('the kind of a file', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n\0\0', { kind: 'image', mediaType: 'image/png' }],
    ['\xff\xd8\xff\xe0', { kind: 'image', mediaType: 'image/jpeg' }],
    ['GIF89a', { kind: 'image', mediaType: 'image/gif' }],
    ['RIFF\x10\0\0\0WEBPVP8 ', { kind: 'image', mediaType: 'image/webp' }],
    ['RIFF\x10\0\0\0WAVE', { kind: 'binary', mediaType: 'application/octet-stream' }],
    ['%PDF-1.7', { kind: 'binary', mediaType: 'application/pdf' }],
    ['\x7fELF\x02', { kind: 'binary', mediaType: 'application/x-elf' }],
    ['\xff\xfea\0', { kind: 'binary', mediaType: 'text/plain; charset=utf-16le' }],
    ['a\0b', { kind: 'binary', mediaType: 'application/octet-stream' }],
    ['', { kind: 'text' }],
    ['GIF', { kind: 'text' }],
    ['hello', { kind: 'text' }],
  ])('%j is told from how it begins', (head, expected) => {
    expect(fileKindOf(bytes(head))).toEqual(expected);
  });
});
