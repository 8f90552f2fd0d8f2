/** The port to what is kept of open shells outside of this process. */
import type { ShellRecord } from '../../machines/turn/shell/shell-record.ts';
import type { SessionIdentity } from '../session/event-store.ts';

/**
 * One record by session and name. They are a cache of what the log and the processes tell: one that is lost or
 * unreadable is none.
 */
export interface ShellRecords {
  /** Undefined where there is none that can be read. Never throws. */
  read(session: SessionIdentity, name: string): ShellRecord | undefined;
  /** Of all shells of a session of which there is a record. Never throws. */
  names(session: SessionIdentity): readonly string[];
  /**
   * Makes nothing for a session that is not there. @throws when it cannot be written; then there is none, or the one
   * before
   */
  write(session: SessionIdentity, name: string, record: ShellRecord): Promise<void>;
  /** Idempotent. */
  remove(session: SessionIdentity, name: string): Promise<void>;
}
