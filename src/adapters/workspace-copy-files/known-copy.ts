/**
 * What a workspace copy was when it was last read, beside it: of a file that looks the same, size, times and number,
 * nothing has to be read again. It can be made again at any time, so it costs no sync, and one that is damaged counts
 * as none.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../machines/canonical-json.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { readParts } from '../../machines/workspace-copy/copy-manifest.ts';
import type { CopyEntry, WorkspaceCopyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import { isMissing } from './copy-errors.ts';
import { hashOf } from './piece-batches.ts';

const FILE = 'known';
const FILE_MODE = 0o600;

/**
 * A file that changed so shortly before it was read may have changed again in the same moment, by the clock of the file
 * system.
 */
const MOMENT_NS = 100_000_000n;
/** Of file systems that know no fractions of seconds. */
const COARSE_MOMENT_NS = 2_000_000_000n;
const SECOND_NS = 1_000_000_000n;

/** How each file checked, in the order of the entries; empty for what is no file. */
export interface KnownCopy {
  readonly manifestId: string;
  readonly entries: readonly CopyEntry[];
  readonly checks: readonly string[];
  /** Nanoseconds since the epoch by the clock of the file system: before the first reading. */
  readonly takenNs: bigint;
}

export function checkOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ctimeNs} ${mtimeNs} ${size} ${ino}`;
}

/** Files by path whose content is known as long as they look the same. */
export function trusted({
  entries,
  checks,
  takenNs,
}: KnownCopy): ReadonlyMap<string, { readonly file: WorkspaceCopyFile; readonly check: string }> {
  return new Map(
    entries.flatMap((entry, index) => {
      const check = checks[index] ?? '';
      return entry.kind === 'file' && isSettled(check, takenNs) ? [[entry.path, { file: entry, check }] as const] : [];
    }),
  );
}

/** Whether a file that checks so, and did at that time or later, cannot have changed in the same moment. */
export function isSettled(check: string, takenNs: bigint): boolean {
  if (check === '') return false;
  const changedNs = BigInt(check.split(' ', 1)[0] ?? '0');
  return changedNs + (changedNs % SECOND_NS === 0n ? COARSE_MOMENT_NS : MOMENT_NS) <= takenNs;
}

export async function readKnown(directory: string): Promise<KnownCopy | undefined> {
  try {
    const text = await readFile(join(directory, FILE), 'utf8');
    const [hash = '', manifestId = '', takenNs = '', checks = '', entries = ''] = text.split('\n');
    if (hash !== hashOf(text.slice(hash.length + 1))) return undefined;
    return { manifestId, takenNs: BigInt(takenNs), checks: checks.split(','), entries: readParts([entries]) };
  } catch (error) {
    // Also one of another version.
    if (isMissing(error) || RuntimeError.is(error)) return undefined;
    throw error;
  }
}

export async function writeKnown(
  directory: string,
  { manifestId, takenNs, checks, entries }: KnownCopy,
): Promise<void> {
  const body = [manifestId, String(takenNs), checks.join(','), canonicalJson(entries)].join('\n');
  const draft = join(directory, `.${FILE}.${randomUUID()}.tmp`);
  try {
    await writeFile(draft, `${hashOf(body)}\n${body}`, { flag: 'wx', mode: FILE_MODE });
    await rename(draft, join(directory, FILE));
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

/** What time it is for the file system. */
export async function fileSystemNow(directory: string): Promise<bigint> {
  const probe = join(directory, `.now.${randomUUID()}.tmp`);
  await writeFile(probe, '', { flag: 'wx', mode: FILE_MODE });
  try {
    return (await stat(probe, { bigint: true })).ctimeNs;
  } finally {
    await unlink(probe);
  }
}
