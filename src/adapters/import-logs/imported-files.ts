/** Puts what belongs to an imported session and is no event into `imported/` of its workspace: all of it, or nothing. */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const IMPORTED_FOLDER = 'imported';

/** What stands there already stays as it is. @throws RuntimeError STORAGE_FAILED; nothing is there then */
export async function keepImportedFiles(workspace: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  if (files.size === 0) return;
  const place = join(workspace, IMPORTED_FOLDER);
  if (await isThere(place)) return;
  const aside = join(workspace, `.${IMPORTED_FOLDER}-${randomUUID()}`);
  try {
    await mkdir(aside, { mode: 0o700 });
    for (const [path, content] of files) await writeFile(join(aside, path), content);
    await syncFolder(aside);
    await rename(aside, place);
    await syncFolder(workspace);
  } catch (cause) {
    await rm(aside, { recursive: true, force: true }).catch(() => undefined);
    // Somebody else imports the same, and was faster.
    if (await isThere(place)) return;
    throw new RuntimeError('STORAGE_FAILED', `could not write what goes along with the session to ${place}: ${messageOf(cause)}`, { category: 'storage', hint: 'Check the space on that disk and who owns the home, then import again.', cause });
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(() => true, () => false);
}

async function writeFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and has no need to.
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
