/**
 * Puts a file of a workspace in place all at once: others see what was there before, or all of what is there now.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, unlink } from 'node:fs/promises';
import { hasCode } from './error-codes.ts';
import type { HeldFolder } from './held-folder.ts';

/** What a file is called until it is in its place; a process that is killed in between leaves it there. */
const DRAFT = /^\.wakechart-[0-9a-f-]{36}\.draft$/;

const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const PRIVATE_MODE = 0o600;
const USUAL_MODE = 0o666;
const MODE_BITS = 0o777;

export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}

export interface WholeFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** The mode it must have; that of any new file when absent. */
  readonly mode?: number | undefined;
  /** `create`: it must not be there yet, or EEXIST is thrown. */
  readonly as: 'create' | 'replace';
  /** Asked last of all; when it throws nothing has changed. */
  readonly confirm?: (() => Promise<void>) | undefined;
}

export async function putWholeFile(folder: HeldFolder, { name, content, mode, as, confirm }: WholeFile): Promise<void> {
  const draft = folder.at(`.wakechart-${randomUUID()}.draft`);
  try {
    await writeDraft(draft, content, mode);
    await confirm?.();
    await folder.confirm();
    await (as === 'create' ? settle(draft, folder.at(name)) : rename(draft, folder.at(name)));
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

async function writeDraft(draft: string, content: Uint8Array, mode: number | undefined): Promise<void> {
  // No other user may read what a private file is to hold before it has its mode.
  const handle = await open(draft, DRAFT_FLAGS, mode === undefined ? USUAL_MODE : PRIVATE_MODE);
  try {
    await handle.writeFile(content);
    // It was made with that of a private file.
    if (mode !== undefined && (mode & MODE_BITS) !== PRIVATE_MODE) await handle.chmod(mode & MODE_BITS);
  } finally {
    await handle.close();
  }
}

/** Unlike a rename, a link never replaces what came there in the meantime. */
async function settle(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    // Some file systems have no links.
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
    await rename(draft, path);
    return;
  }
  await unlink(draft).catch(() => undefined);
}
