/** What lies at a path, with every symbolic link followed. */
import type { Stats } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing } from '../system/error-codes.ts';
import { READING_NO_LINK, bytesOf } from '../system/own-files.ts';

export interface Existing {
  /** Of the thing, or of where it would be. */
  readonly realPath: string;
  readonly kind: 'file' | 'folder' | 'other' | 'missing';
}

/** @throws CheckFailed for a link that leads nowhere: something may be put there at any time */
export async function existing(path: string): Promise<Existing> {
  try {
    const realPath = await realpath(path);
    return { realPath, kind: kindOf(await stat(realPath)) };
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if ((await lstatOf(path)) !== undefined) throw new CheckFailed(`"${basename(path)}" is a link that leads nowhere`);
  const parent = dirname(path);
  if (parent === path) throw new CheckFailed('its folder is gone');
  return { realPath: join((await existing(parent)).realPath, basename(path)), kind: 'missing' };
}

/** Of the thing itself, were it a link; undefined when there is none. */
export async function lstatOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * The bytes of an ordinary file that is no link; undefined when there is none. @throws CheckFailed when it is something
 * else, or too large
 */
export async function readSmallFile(
  path: string,
  { what, maxBytes }: { readonly what: string; readonly maxBytes: number },
): Promise<Buffer | undefined> {
  const found = await lstatOf(path);
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new CheckFailed(`${what} is no ordinary file`);
  // Windows knows neither flag.
  const handle = await open(path, READING_NO_LINK);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new CheckFailed(`${what} is larger than ${maxBytes} bytes`);
    const bytes = await bytesOf(handle, size + 1);
    if (bytes.length > size) throw new CheckFailed(`${what} changes while it is checked`);
    return bytes;
  } finally {
    await handle.close();
  }
}

function kindOf(stats: Stats): Existing['kind'] {
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : 'other';
}

/** Ends a search of the disk with what people are told. Never leaves this folder. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
  readonly because: string;

  constructor(because: string) {
    super(because);
    this.because = because;
  }
}
