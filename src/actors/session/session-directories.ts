/** The port that says where the files of agents and sessions are. */
import type { SessionIdentity } from './event-store.ts';

export interface SessionDirectories {
  /** The folder of an agent's file; relative paths in that file start here. */
  agentDirectory(agentId: string): string;
  /** The folder in which a session works; made when it is not there. */
  workspaceDirectory(identity: SessionIdentity): Promise<string>;
}
