/** The port to what takes out of events what no log may keep. */
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';

export interface LogRedaction {
  /**
   * What has to be found out before these can be stored in the log of a session; undefined when it is known. Never
   * rejects.
   */
  lookUp(drafts: readonly SessionEventDraft[], state: SessionState): Promise<void> | undefined;
  /** Those in which there is nothing to take out stay the same. */
  drafts(drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[];
}
