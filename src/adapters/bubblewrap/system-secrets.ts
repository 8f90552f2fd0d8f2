/**
 * What is secret in the system's folders: what its owner keeps from others, and what is known to be secret even where
 * all users may read it.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode } from '../system/error-codes.ts';

export interface SystemSecrets {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** Scanned, with how many levels of folders: in the others lie programs, which every user may read. */
const SCANNED = new Map([
  ['/etc', 8],
  ['/opt', 3],
  ['/usr/local/etc', 4],
]);

const KNOWN = new Set([
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/krb5.keytab',
  '/etc/security/opasswd',
]);
const HOST_KEY = /^\/etc\/ssh\/ssh_host_[^/]*_key$/;

/** More than any system has: who has more is told, and gets no sandbox that shows what was not checked. */
const MAX_ENTRIES = 100_000;

const READ_BY_OTHERS = 0o004;
const ENTERED_BY_OTHERS = 0o001;

interface Search {
  readonly files: string[];
  readonly folders: string[];
  left: number;
}

/** @param shown the system's folders that a sandbox shows @throws RuntimeError SANDBOX_UNAVAILABLE */
export async function secretsIn(shown: readonly string[]): Promise<SystemSecrets> {
  const search: Search = { files: [], folders: [], left: MAX_ENTRIES };
  for (const [folder, levels] of SCANNED)
    if (shown.some((each) => folder === each || folder.startsWith(`${each}/`))) await scan(folder, levels, search);
  return { files: search.files.toSorted(), folders: search.folders.toSorted() };
}

async function scan(folder: string, levels: number, search: Search): Promise<void> {
  for (const name of await namesIn(folder)) {
    search.left -= 1;
    if (search.left < 0) throw unavailable(`more than ${MAX_ENTRIES} files lie in ${[...SCANNED.keys()].join(', ')}`);
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined || found.isSymbolicLink()) continue;
    const isSecret = KNOWN.has(path) || HOST_KEY.test(path) || (found.mode & READ_BY_OTHERS) === 0;
    if (!found.isDirectory()) {
      if (isSecret) search.files.push(path);
    } else if (isSecret || (found.mode & ENTERED_BY_OTHERS) === 0) search.folders.push(path);
    else if (levels > 1) await scan(path, levels - 1, search);
  }
}

/** None in a folder that is not there, or that we cannot examine ourselves: then the sandbox cannot either. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder, { bufferSize: 256 })) names.push(name);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'ENOTDIR'))
      throw unavailable(`${folder} cannot be scanned: ${messageOf(cause)}`, cause);
  }
  return names;
}

function unavailable(reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('SANDBOX_UNAVAILABLE', `the system's secrets cannot be told from the rest of it: ${reason}`, {
    category: 'process',
    hint: 'Check that folder, or run Wakechart in a container of its own with "sandbox: off".',
    cause,
  });
}
