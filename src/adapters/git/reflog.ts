/**
 * The histories that git keeps of its references, read as the files that they are: no git that could be led astray
 * stands between.
 */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../system/error-codes.ts';

/** A history of a million entries is shorter. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface ReflogEntry {
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/** Oldest first; empty when there is none. Bytes as characters. */
export async function readReflog(path: string): Promise<readonly ReflogEntry[]> {
  const text = await readBytes(path);
  return (text ?? '').split('\n').flatMap((line) => {
    const found = /^(?<from>[\da-f]{40,64}) (?<to>[\da-f]{40,64}) (?<who>[^\t]*)(?:\t(?<message>.*))?$/.exec(
      line,
    )?.groups;
    return found === undefined
      ? []
      : [{ from: found['from'] ?? '', to: found['to'] ?? '', message: found['message'] ?? '' }];
  });
}

/** The commits of the stash entries that the repository has. */
export async function parseStashes(commonDirectory: string): Promise<readonly string[]> {
  return (await readReflog(join(commonDirectory, 'logs', 'refs', 'stash'))).map(({ to }) => to);
}

export interface OwnStash {
  readonly commit: string;
  /** As git calls it. */
  readonly name: string;
}

/**
 * Stash entries made since `before` that are not plainly of another branch than `branches`: all checkouts share one
 * stash.
 */
export async function stashesSince(
  commonDirectory: string,
  before: readonly string[],
  branches: ReadonlySet<string>,
): Promise<readonly OwnStash[]> {
  const entries = await readReflog(join(commonDirectory, 'logs', 'refs', 'stash'));
  const known = new Set(before);
  return entries.flatMap(({ to, message }, index) => {
    const branch = /^(?:WIP on|On) (?<branch>[^:]+): /.exec(message)?.groups?.['branch'];
    const isOthers = branch !== undefined && branch !== '(no branch)' && !branches.has(branch);
    return known.has(to) || isOthers ? [] : [{ commit: to, name: `stash@{${entries.length - 1 - index}}` }];
  });
}

/** Every commit that a file of git's own folder names. */
export function commitsIn(text: string): string[] {
  return text.match(/\b(?:[\da-f]{64}|[\da-f]{40})\b/g) ?? [];
}

/** The content of a file as bytes; undefined when there is none. */
export async function readBytes(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, at most ${MAX_BYTES} are read`);
      return await readFile(handle, 'latin1');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
