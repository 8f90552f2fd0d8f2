/** Reads and replaces policy files, and refuses those that somebody else may have put there: links, and what others may write. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { mkdir, open, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { policyExposed, policyUnreadable, policyUnwritable, systemCodeOf } from './policy-errors.ts';
import { MAX_POLICY_BYTES } from './policy-text.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const WRITABLE_BY_OTHERS = 0o022;

const OWN_IT = 'Make it a real file in a real folder that only you can write (chmod go-w).';

/** A link is not followed, and a pipe does not keep us waiting. */
const READING = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The content of the file; undefined when it is not there. Every call of a tool asks, and most files are not there. @throws RuntimeError POLICY_INVALID */
export function readPolicyFile(path: string): string | undefined {
  try {
    assertOwnFolder(dirname(path));
    const descriptor = openSync(path, READING);
    try {
      const stats = fstatSync(descriptor);
      assertOwn(path, stats, stats.isFile());
      if (stats.size > MAX_POLICY_BYTES) throw policyExposed(path, `it holds more than ${MAX_POLICY_BYTES} bytes`, 'Remove the rules that nobody needs.');
      return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    if (RuntimeError.is(error)) throw error;
    if (systemCodeOf(error) === 'ELOOP') throw policyExposed(path, 'it is a link', OWN_IT);
    throw policyUnreadable(path, error);
  }
}

/** Makes the folder of the policy, for its owner only. @throws RuntimeError POLICY_INVALID or STORAGE_FAILED */
export async function makePolicyFolder(folder: string): Promise<void> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    assertOwnFolder(folder);
    if (made !== undefined) await syncFolder(dirname(made));
  } catch (error) {
    throw RuntimeError.is(error) ? error : policyUnwritable(folder, error);
  }
}

/** Puts the content in the place of the file, whole and on the disk before it is there. @throws RuntimeError STORAGE_FAILED */
export async function replacePolicyFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx', FILE_MODE);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw policyUnwritable(path, error);
  }
}

/**
 * A policy that lies where an agent writes is none. Both folders are followed to where they really are.
 * @throws RuntimeError POLICY_INVALID
 */
export async function assertPolicyOutside({ directory, workspaceDirectory }: { readonly directory: string; readonly workspaceDirectory: string }): Promise<void> {
  const [policy, workspace] = await Promise.all([realPlace(directory), realPlace(workspaceDirectory)]);
  const from = relative(workspace, policy);
  const isOutside = from === '..' || from.startsWith(`..${sep}`) || join(workspace, from) !== policy;
  if (!isOutside) throw policyExposed(directory, `it lies in the workspace ${workspaceDirectory}, where its agent can write`, 'Keep the policy in a folder that is in no workspace.');
}

/** Where a path really is; of what does not exist yet, where the folder is in which it would be made. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT' || dirname(path) === path) throw policyUnreadable(path, error);
    return join(await realPlace(dirname(path)), basename(path));
  }
}

function assertOwnFolder(folder: string): void {
  const stats = lstatSync(folder);
  assertOwn(folder, stats, stats.isDirectory());
}

function assertOwn(path: string, { mode, uid }: Stats, isExpectedKind: boolean): void {
  if (!isExpectedKind) throw policyExposed(path, 'it is a link or another thing that was not expected there', OWN_IT);
  // Windows has neither modes nor user ids.
  if (process.getuid === undefined) return;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) throw policyExposed(path, 'others than its owner may write it', OWN_IT);
  if (uid !== process.getuid() && uid !== 0) throw policyExposed(path, `it belongs to user ${uid}`, OWN_IT);
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
