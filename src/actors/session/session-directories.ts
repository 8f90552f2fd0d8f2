/** The port that says where the files of agents and sessions are. */
import type { SessionIdentity } from './event-store.ts';

/** A session, and the folder it works in where that is not one of its own. */
export interface SessionPlace extends SessionIdentity {
  readonly workspace?: string | undefined;
}

/** Where a session works, told from its state. */
export function placeOfSession({ sessionId, agentId, workspace }: SessionPlace): SessionPlace {
  return { sessionId, agentId, ...(workspace === undefined ? {} : { workspace }) };
}

export interface SessionDirectories {
  /** The folder of an agent's file; relative paths in that file start here. */
  agentDirectory(agentId: string): string;
  /**
   * The folder in which a session works: the one it was given, as long as that is there, else one of its own, which is
   * made when it is not there.
   */
  workspaceDirectory(session: SessionPlace): Promise<string>;
}
