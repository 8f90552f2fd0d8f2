/**
 * Files that came with messages: `.wakechart-runtime/attachments/<sha256><.ext>` in the workspace of the session. They
 * are copied aside first and put in their places together, so that a file that cannot be had leaves nothing of the
 * others.
 */
import { randomUUID } from 'node:crypto';
import { rename, unlink } from 'node:fs/promises';
import type { AttachmentStore } from '../../actors/session/attachment-store.ts';
import type { SessionDirectories } from '../../actors/session/session-directories.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { attachmentFileName } from '../../machines/session/attachment-name.ts';
import type { Attachment } from '../../machines/session/event-parts.ts';
import { hasCode } from '../system/error-codes.ts';
import { HeldFolder } from '../system/held-folder.ts';
import { realPlaceOf } from '../system/real-path.ts';
import { copyAttachment } from './attachment-copy.ts';
import type { CopiedFile } from './attachment-copy.ts';
import { storageFailed } from './storage-errors.ts';

/** From the workspace, one folder in the other. */
const FOLDERS = ['.wakechart-runtime', 'attachments'] as const;

export function createAttachmentFiles(directories: Pick<SessionDirectories, 'workspaceDirectory'>): AttachmentStore {
  return {
    async keep(session, sources) {
      const folder = await openFolder(await directories.workspaceDirectory(session));
      const drafts: string[] = [];
      try {
        const copies: CopiedFile[] = [];
        for (const source of sources) {
          const draft = `.${randomUUID()}.tmp`;
          drafts.push(draft);
          copies.push(await copyAttachment(source, folder.at(draft)));
        }
        return await place(folder, copies, drafts);
      } catch (error) {
        throw storageFailed('keep the attachments', error);
      } finally {
        // Those that are in their places are not here any more.
        await Promise.all(drafts.map((draft) => unlink(folder.at(draft)).catch(() => undefined)));
        await folder.close();
      }
    },
  };
}

/** A content that is there already is put there again: a process in the workspace may have changed it. */
async function place(
  folder: HeldFolder,
  copies: readonly CopiedFile[],
  drafts: readonly string[],
): Promise<readonly Attachment[]> {
  const kept: Attachment[] = [];
  for (const [index, { sha256, ...copy }] of copies.entries()) {
    const file = attachmentFileName(sha256, copy.name);
    await rename(folder.at(drafts[index] ?? ''), folder.at(file));
    kept.push({ ...copy, sha256, path: [...FOLDERS, file].join('/') });
  }
  await folder.sync();
  return kept;
}

/** The folder itself, made when it is not there; never one that a link leads to. */
async function openFolder(workspace: string): Promise<HeldFolder> {
  let folder = await HeldFolder.open(await realPlaceOf(workspace));
  for (const name of FOLDERS)
    folder = await folder.into([name], {}).catch((error: unknown) => {
      throw hasCode(error, 'ELOOP', 'ENOTDIR')
        ? inTheWay(name, error)
        : storageFailed('make the folder of the attachments', error);
    });
  return folder;
}

function inTheWay(name: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'STORAGE_FAILED',
    `could not keep the attachments: expected "${name}" in the workspace of the session to be a folder, it is a link or a file`,
    {
      category: 'storage',
      hint: 'Remove what is in its place, then send again.',
      cause,
    },
  );
}
