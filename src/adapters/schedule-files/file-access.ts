/** Reading files that others append to, and the errors of doing so. */
import { open } from 'node:fs/promises';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { systemCodeOf, unlessCode } from '../system/error-codes.ts';
import { bytesOf } from '../system/own-files.ts';

const NEWLINE = 0x0a;

/** The bytes of a file from `offset` on: to its end, or `maxBytes` of them. */
export async function readFrom(path: string, offset: number, maxBytes = Infinity): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return await bytesOf(file, Math.min(Math.max(size - offset, 0), maxBytes), offset);
  } finally {
    await file.close();
  }
}

export interface TextLine {
  readonly text: string;
  /** Offset behind the line and its newline. */
  readonly end: number;
  /** Whether its newline has come. Without one it may be whole or the beginning of a line. */
  readonly isEnded: boolean;
}

/** The lines in `bytes` that are not empty. */
export function* linesIn(bytes: Buffer): Generator<TextLine> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const stop = newline === -1 ? bytes.length : newline;
    const text = bytes.toString('utf8', start, stop);
    start = stop + 1;
    if (text !== '') yield { text, end: Math.min(start, bytes.length), isEnded: newline !== -1 };
  }
}

/** For `catch`: what does not exist is undefined, any other trouble is passed on. */
export const absent = unlessCode('ENOENT');

export function damaged(path: string, what: string): RuntimeError {
  return new RuntimeError('SCHEDULE_STORE', `${path}: ${what}`, {
    category: 'storage',
    hint: 'Check the file and at the disk it lies on.',
  });
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full; free some space.',
  EDQUOT: 'The disk quota is used up; free some space.',
  EACCES: 'Give this user read and write access to the directory.',
  EPERM: 'Give this user read and write access to the directory.',
  EROFS: 'The file system is read-only; choose another directory.',
  ENOTDIR: 'A part of the path is a file; choose another directory.',
  EMFILE: 'Too many files are open; raise the limit.',
};

/** Whatever the file system threw, as an error of the store. */
export function storeError(thrown: unknown, what: string): RuntimeError {
  if (RuntimeError.is(thrown)) return thrown;
  const code = systemCodeOf(thrown) ?? 'unknown';
  return new RuntimeError('SCHEDULE_STORE', `cannot ${what}: ${messageOf(thrown)}`, {
    category: 'storage',
    hint: HINTS[code] ?? 'Check the directory and at the disk it lies on.',
    details: { code },
    cause: thrown,
  });
}
