/**
 * The port to files that come with messages: copied to where the agent can read them, before anything is said about
 * them.
 */
import type { Attachment } from '../../machines/session/event-parts.ts';
import type { AttachmentSource } from '../../machines/session/session-requests.ts';
import type { SessionPlace } from './session-directories.ts';

export type { AttachmentSource } from '../../machines/session/session-requests.ts';

export interface AttachmentStore {
  /**
   * Keeps all of these files for the session, durably, or none. The same content again is kept once.
   * @returns what the log holds of each, in the same order; paths are from the session's workspace
   * @throws RuntimeError ATTACHMENT_INVALID for what is missing, cannot be read, is no plain file or too large;
   * STORAGE_FAILED. Nothing is kept then
   */
  keep(session: SessionPlace, sources: readonly AttachmentSource[]): Promise<readonly Attachment[]>;
}
