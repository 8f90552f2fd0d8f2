/**
 * Files that come with messages, where a message may come in on one machine and its session be at home on another: kept
 * here, and for the machine that wakes it.
 */
import type { AttachmentStore } from '../session/attachment-store.ts';
import type { WorkspaceCopyStore } from './copy-store.ts';
import type { WorkspaceCopyFolders } from './copy-folders.ts';

export interface SharedAttachmentsOptions {
  readonly attachments: AttachmentStore;
  readonly copies: Pick<WorkspaceCopyStore, 'has' | 'put' | 'add'>;
  readonly folders: Pick<WorkspaceCopyFolders, 'readFile'>;
}

export function createSharedAttachments({ attachments, copies, folders }: SharedAttachmentsOptions): AttachmentStore {
  return {
    async keep(session, sources) {
      const kept = await attachments.keep(session, sources);
      for (const { path } of kept) {
        const { file, pieces } = await folders.readFile(session, `workspace/${path}`);
        await copies.put(session.sessionId, pieces);
        await copies.add(session.sessionId, file);
      }
      return kept;
    },
  };
}
