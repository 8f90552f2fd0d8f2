/**
 * Reads files that no other user may have put there or may change: no link is followed, no pipe waited for, nothing
 * taken that is too long.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hasCode, systemCodeOf } from './error-codes.ts';

/** A pipe in the place of a file does not keep us waiting, a terminal does not become ours. Windows knows neither. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Nor is a link in its place followed. */
export const READING_NO_LINK = READING | (constants.O_NOFOLLOW ?? 0);

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** From which others a file or a folder is kept: those who could read it, or those who could change it. */
export type KeptFrom = 'readers' | 'writers';

const FORBIDDEN = { readers: 0o077n, writers: 0o022n } as const satisfies Record<KeptFrom, bigint>;

/**
 * `exposed`: others may have made it or may change it. `damaged`: it is ours, and not what is read here. `unreadable`:
 * the system refuses it.
 */
export type FileTrouble = 'exposed' | 'damaged' | 'unreadable';

/** In words that end a sentence beginning with the file. They hold nothing of what is in it. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  readonly trouble: FileTrouble;
  readonly hint: string | undefined;

  constructor(
    trouble: FileTrouble,
    message: string,
    { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.trouble = trouble;
    this.hint = hint;
  }
}

export interface OwnReading {
  readonly maxBytes: number;
  /** Absent: a link of any owner is followed, as mounted secrets have them. */
  readonly keptFrom?: KeptFrom | undefined;
  /** A file with a second name (a hard link), as copies of a home may have, is read all the same. */
  readonly mayHaveLinks?: boolean | undefined;
}

export interface OwnText {
  readonly text: string;
  readonly stats: BigIntStats;
}

/**
 * In this turn of the event loop: wakes and calls ask, and most files are small or not there. Undefined when it is not
 * there. @throws UnusableFile
 */
export function readOwnText(path: string, { maxBytes, keptFrom, mayHaveLinks }: OwnReading): OwnText | undefined {
  try {
    const descriptor = openSync(path, keptFrom === undefined ? READING : READING_NO_LINK);
    try {
      const stats = fstatSync(descriptor, { bigint: true });
      if (!stats.isFile())
        throw new UnusableFile('exposed', 'is no file', { hint: `Put a real file in its place: ${path}` });
      if (keptFrom !== undefined) requireOwn(path, stats, keptFrom, FILE_MODE);
      if (keptFrom === 'readers' && mayHaveLinks !== true && stats.nlink > 1n)
        throw new UnusableFile('exposed', 'has another name elsewhere (a hard link)', {
          hint: `Make a file of its own of it: cp ${path} ${path}.new && mv ${path}.new ${path}`,
        });
      const bytes = stats.size > BigInt(maxBytes) ? undefined : readFileSync(descriptor);
      if (bytes === undefined || bytes.length > maxBytes)
        throw new UnusableFile('damaged', `has more than ${maxBytes} bytes`);
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), stats };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error instanceof UnusableFile ? error : refusalOf(path, error);
  }
}

/**
 * Of a folder that is there, or is not. @throws UnusableFile when others could put files into it, or a link is in its
 * place
 */
export function requireOwnFolder(folder: string, keptFrom: KeptFrom): void {
  let stats: BigIntStats | undefined;
  try {
    stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw refusalOf(folder, error);
  }
  if (stats === undefined) return;
  if (!stats.isDirectory())
    throw new UnusableFile('exposed', 'is no folder, or a link to one', {
      hint: `Put a real folder in its place: ${folder}`,
    });
  requireOwn(folder, stats, keptFrom, FOLDER_MODE);
}

/**
 * Lets `work` read a plain file. Undefined when nothing, a link or something else is there. @throws what the system
 * says otherwise
 */
export async function withPlainFile<Result>(
  path: string,
  work: (file: FileHandle, size: number) => Promise<Result>,
): Promise<Result | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, READING_NO_LINK);
  } catch (error) {
    if (isNoPlainFile(error)) return undefined;
    throw error;
  }
  try {
    const stats = await file.stat();
    return stats.isFile() ? await work(file, stats.size) : undefined;
  } finally {
    await file.close();
  }
}

/** From `position` on, as far as the file goes: a short read is no end of it. */
export async function bytesOf(file: Pick<FileHandle, 'read'>, length: number, position = 0): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** What the system says where nothing is, or a link, or something that is no file. */
export function isNoPlainFile(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR');
}

function requireOwn(path: string, { mode, uid }: BigIntStats, keptFrom: KeptFrom, privateMode: number): void {
  // Windows has neither modes nor user ids.
  if (process.getuid === undefined) return;
  if (uid !== BigInt(process.getuid()) && uid !== 0n)
    throw new UnusableFile('exposed', `belongs to user ${uid}`, { hint: 'Make it your own, or use another home.' });
  if ((mode & FORBIDDEN[keptFrom]) === 0n) return;
  const how = keptFrom === 'readers' ? 'can be read or changed by others' : 'can be changed by others';
  throw new UnusableFile('exposed', `${how} (mode ${(mode & 0o777n).toString(8)})`, {
    hint: `Keep it to yourself: chmod ${privateMode.toString(8)} ${path}`,
  });
}

function refusalOf(path: string, cause: unknown): UnusableFile {
  const code = systemCodeOf(cause);
  if (code === 'ELOOP' || code === 'EMLINK')
    return new UnusableFile('exposed', 'is a link, which is not followed', {
      hint: `Put a real file in its place: rm ${path}`,
      cause,
    });
  if (code === 'ENXIO')
    return new UnusableFile('exposed', 'is no file', { hint: `Put a real file in its place: rm ${path}`, cause });
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new UnusableFile('damaged', 'is not UTF-8 text', { hint: 'Save it as UTF-8.' });
  if (code === 'EACCES' || code === 'EPERM') return new UnusableFile('unreadable', 'may not be read', { cause });
  return new UnusableFile('unreadable', `cannot be read${code === undefined ? '' : ` (${code})`}`, { cause });
}
