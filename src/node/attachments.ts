/** Files that come with messages, for whichever machine wakes the session. Commands that only send load no more. */
import type { WorkspaceCopyStore } from '../actors/workspace-copy/copy-store.ts';
import { createSharedAttachments } from '../actors/workspace-copy/shared-attachments.ts';
import type { AttachmentStore } from '../actors/session/attachment-store.ts';
import { createAttachmentFiles } from '../adapters/files/attachment-files.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { createHomeCopyFolders } from '../adapters/workspace-copy-files/home-copy-folders.ts';

/** @param copies where the folders of sessions are at home; undefined: no other machine shares the store */
export function attachmentsOf(layout: HomeLayout, copies: WorkspaceCopyStore | undefined): AttachmentStore {
  const attachments = createAttachmentFiles(layout);
  return copies === undefined
    ? attachments
    : createSharedAttachments({ attachments, copies, folders: createHomeCopyFolders({ layout }) });
}
