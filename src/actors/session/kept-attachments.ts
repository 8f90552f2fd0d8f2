/** Keeps the files of a message before the message is stored, where it can be stored at all. */
import { RuntimeError } from '../../machines/errors.ts';
import type { Attachment } from '../../machines/session/event-parts.ts';
import type { CheckedIngress } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AttachmentStore } from './attachment-store.ts';
import { placeOfSession } from './session-directories.ts';

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
