/** Reads files that must be nobody else's: no links where none is expected, no pipes, nothing too long, nothing that others could have changed. */
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open } from 'node:fs/promises';

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** A pipe does not keep us waiting. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Whatever others may do with a file that holds secrets. */
const ANYBODY_ELSE = 0o077;
/** What lets others put another file in the place of one. */
const WRITABLE_BY_OTHERS = 0o022;

/** In words that end a sentence beginning with the file. They hold nothing of what is in it. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

export interface FileReading {
  readonly maxBytes: number;
  /** Refuses links and whatever others than the owner may read. */
  readonly isPrivate: boolean;
}

/** Undefined when it is not there. @throws UnusableFile */
export async function readTextFile(path: string, { maxBytes, isPrivate }: FileReading): Promise<string | undefined> {
  try {
    const handle = await open(path, READING | (isPrivate ? NO_FOLLOW : 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new UnusableFile('is no file');
      if (isPrivate) requirePrivate(path, stats);
      if (stats.size > maxBytes) throw new UnusableFile(`has more than ${maxBytes} bytes`);
      const bytes = await handle.readFile();
      if (bytes.length > maxBytes) throw new UnusableFile(`has more than ${maxBytes} bytes`);
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error instanceof UnusableFile ? error : new UnusableFile(reasonOf(code), code === 'ELOOP' ? `Put a real file in its place: rm ${path}` : undefined);
  }
}

/** @throws UnusableFile when somebody else could put files into the folder */
export async function requireOwnFolder(folder: string): Promise<void> {
  const stats = await lstat(folder).catch((error: unknown) => {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UnusableFile(reasonOf(code));
  });
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new UnusableFile('is no folder, or a link to one', `Put a real folder in its place: ${folder}`);
  requireOwner(stats);
  if (process.getuid !== undefined && (stats.mode & WRITABLE_BY_OTHERS) !== 0) throw new UnusableFile(`can be changed by others (mode ${(stats.mode & 0o777).toString(8)})`, `Keep it to yourself: chmod 700 ${folder}`);
}

function requirePrivate(path: string, stats: Stats): void {
  // Windows has neither modes nor user ids.
  if (process.getuid === undefined) return;
  requireOwner(stats);
  if ((stats.mode & ANYBODY_ELSE) !== 0) throw new UnusableFile(`can be read or changed by others (mode ${(stats.mode & 0o777).toString(8)})`, `Keep it to yourself: chmod 600 ${path}`);
  if (stats.nlink > 1) throw new UnusableFile('has another name elsewhere (a hard link)', `Make a file of its own of it: cp ${path} ${path}.new && mv ${path}.new ${path}`);
}

function requireOwner({ uid }: Stats): void {
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw new UnusableFile(`belongs to user ${uid}`, 'Make it your own, or use another home.');
}

export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function reasonOf(code: string | undefined): string {
  if (code === 'ELOOP') return 'is a link, which is not followed';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is no UTF-8 text';
  return `cannot be read${code === undefined ? '' : ` (${code})`}`;
}
