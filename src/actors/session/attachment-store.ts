/**
 * The port to files that come with messages: copied to where the agent can read them, before anything is said about
 * them.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { Attachment } from '../../machines/session/event-parts.ts';
import type { AttachmentSource, CheckedIngress } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionPlace } from './session-directories.ts';
import { placeOfSession } from './session-directories.ts';

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

// Keeps the files of a message before the message is stored, where it can be stored at all.

/** @throws RuntimeError ATTACHMENTS_UNSUPPORTED, and what the store throws */
export async function keepAttachments(
  ingress: CheckedIngress,
  state: SessionState,
  store: AttachmentStore | undefined,
): Promise<readonly Attachment[]> {
  const sources = ingress.type === 'user.message' ? (ingress.attachments ?? []) : [];
  if (sources.length === 0) return [];
  // Nothing is copied for a message that is going to be refused.
  if (state.status === 'terminated') throw refusalError(state.sessionId, ingress.type, terminated(state));
  if (store === undefined) throw unsupported();
  return store.keep(placeOfSession(state), sources);
}

function unsupported(): RuntimeError {
  return new RuntimeError(
    'ATTACHMENTS_UNSUPPORTED',
    'expected a message without files: this runtime has nowhere to keep them',
    {
      category: 'validation',
      hint: 'Give the runtime a store for attachments, as createNodeRuntime does, or say in the message where the files are.',
    },
  );
}
