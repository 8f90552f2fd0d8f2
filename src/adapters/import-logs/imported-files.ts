/**
 * Puts what belongs to an imported session and is no event into `imported/` of its workspace: all of it, or nothing.
 */
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { PRIVATE_FILE_MODE, isThere, makeFolder, syncFolder } from '../system/whole-files.ts';

const IMPORTED_FOLDER = 'imported';

/** What stands there already stays as it is. @throws RuntimeError STORAGE_FAILED; nothing is there then */
export async function keepImportedFiles(
  workspace: string,
  files: ReadonlyMap<string, string | Uint8Array>,
): Promise<void> {
  if (files.size === 0) return;
  const place = join(workspace, IMPORTED_FOLDER);
  if (await isThere(place)) return;
  const aside = join(workspace, `.${IMPORTED_FOLDER}-${randomUUID()}`);
  try {
    await makeFolder(aside);
    for (const [path, content] of files) await writeFile(join(aside, path), content);
    await syncFolder(aside);
    await rename(aside, place);
    await syncFolder(workspace);
  } catch (cause) {
    await rm(aside, { recursive: true, force: true }).catch(() => undefined);
    // Another process imports the same, and was faster.
    if (await isThere(place)) return;
    throw new RuntimeError(
      'STORAGE_FAILED',
      `could not write what goes along with the session to ${place}: ${messageOf(cause)}`,
      { category: 'storage', hint: 'Check the space on that disk and who owns the home, then import again.', cause },
    );
  }
}

async function writeFile(path: string, content: string | Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  // Two names that are one on this disk must not pass for two files.
  const file = await open(path, 'wx', PRIVATE_FILE_MODE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
