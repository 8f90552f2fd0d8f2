/**
 * Reads and replaces policy files, and refuses those that another user may have put there: links, and what others may
 * write.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { hasCode } from '../system/error-codes.ts';
import { UnusableFile, readOwnText, requireOwnFolder } from '../system/own-files.ts';
import { makeFolder, replaceFile } from '../system/whole-files.ts';
import { policyExposed, policyUnreadable, policyUnwritable } from './policy-errors.ts';
import { MAX_POLICY_BYTES } from './policy-text.ts';

const OWN_IT = 'Make it a real file in a real folder that only you can write (chmod go-w).';

/**
 * The content of the file; undefined when it is not there. Every call of a tool asks, and most files are not there.
 * @throws RuntimeError POLICY_INVALID
 */
export function readPolicyFile(path: string): string | undefined {
  try {
    requireOwnFolder(dirname(path), 'writers');
    return readOwnText(path, { maxBytes: MAX_POLICY_BYTES, keptFrom: 'writers' })?.text;
  } catch (error) {
    throw unreliable(path, error);
  }
}

/** Makes the folder of the policy, for its owner only. @throws RuntimeError POLICY_INVALID or STORAGE_FAILED */
export async function makePolicyFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    requireOwnFolder(folder, 'writers');
  } catch (error) {
    throw error instanceof UnusableFile ? unreliable(folder, error) : policyUnwritable(folder, error);
  }
}

/** Puts the content in the place of the file. @throws RuntimeError STORAGE_FAILED */
export async function replacePolicyFile(path: string, content: string): Promise<void> {
  await replaceFile(path, content).catch((error: unknown) => {
    throw policyUnwritable(path, error);
  });
}

/**
 * A policy that lies where an agent writes is none. Both folders are followed to where they really are.
 * @throws RuntimeError POLICY_INVALID
 */
export async function assertPolicyOutside({
  directory,
  workspaceDirectory,
}: {
  readonly directory: string;
  readonly workspaceDirectory: string;
}): Promise<void> {
  const [policy, workspace] = await Promise.all([realPlace(directory), realPlace(workspaceDirectory)]);
  const from = relative(workspace, policy);
  const isOutside = from === '..' || from.startsWith(`..${sep}`) || join(workspace, from) !== policy;
  if (!isOutside)
    throw policyExposed(
      directory,
      `it lies in the workspace ${workspaceDirectory}, where its agent can write`,
      'Keep the policy in a folder that is in no workspace.',
    );
}

/** Where a path really is; of what does not exist yet, where the folder is in which it would be made. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw policyUnreadable(path, error);
    return join(await realPlace(dirname(path)), basename(path));
  }
}

function unreliable(path: string, error: unknown): unknown {
  if (!(error instanceof UnusableFile)) return policyUnreadable(path, error);
  if (error.trouble === 'unreadable') return policyUnreadable(path, error.cause);
  return policyExposed(
    path,
    `it ${error.message}`,
    error.trouble === 'damaged' ? 'Remove the rules that are not needed, and save it as UTF-8.' : OWN_IT,
  );
}
