/** The port to the shells of a session, for those who only check. */
import type { SessionIdentity } from '../session/event-store.ts';
import type { ShownShell } from '../../machines/artifact/shell-artifacts.ts';

export interface ShellView {
  /** What is known of them now, the one opened first at the beginning. Cheap: asked before every model step. */
  describe(session: SessionIdentity): readonly ShownShell[] | Promise<readonly ShownShell[]>;
}
