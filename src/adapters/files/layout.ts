/**
 * Where things lie in a home directory:
 *
 *   <home>/agents/<agentId>/agent.md
 *   <home>/agents/<agentId>/sessions/<sessionId>/events.jsonl       the truth
 *                                               /events.000002.jsonl  where a long one goes on, and so forth
 *                                               /events.end         how far the log went when the last receipt was given
 *                                               /session.json       a view of it, rebuilt when it is not true any more
 *                                               /runtime/           what the runtime lays out for the agent
 *                                               /workspace/         where the session works
 *   <home>/activations/<time>/…                                     hints of what is due, rebuilt from the logs when they may be missing
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SessionDirectories, SessionPlace } from '../../actors/session/session-directories.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { makePrivateDirectory } from './durable-files.ts';

export class HomeLayout implements SessionDirectories {
  /** Absolute. */
  readonly home: string;

  constructor(home: string) {
    this.home = resolve(home);
  }

  get agents(): string {
    return join(this.home, 'agents');
  }

  /** Hints of what is due. */
  get activations(): string {
    return join(this.home, 'activations');
  }

  agentDirectory(agentId: string): string {
    return join(this.agents, agentId);
  }

  sessionsOf(agentId: string): string {
    return join(this.agentDirectory(agentId), 'sessions');
  }

  session({ agentId, sessionId }: SessionIdentity): string {
    return join(this.sessionsOf(agentId), sessionId);
  }

  /** What the runtime keeps for a session beside its log. */
  runtimeDirectory(identity: SessionIdentity): string {
    return join(this.session(identity), RUNTIME_FOLDER);
  }

  log(identity: SessionIdentity): string {
    return join(this.session(identity), LOG_FILE);
  }

  async workspaceDirectory({ workspace, ...identity }: SessionPlace): Promise<string> {
    if (workspace !== undefined && isDirectory(workspace)) return workspace;
    const directory = this.ownWorkspace(identity);
    if (!isDirectory(directory)) await makePrivateDirectory(directory);
    return directory;
  }

  /** The folder in which a session works that was given none. */
  ownWorkspace(identity: SessionIdentity): string {
    return join(this.session(identity), WORKSPACE_FOLDER);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

export const LOG_FILE = 'events.jsonl';
export const END_FILE = 'events.end';
export const VIEW_FILE = 'session.json';
export const RUNTIME_FOLDER = 'runtime';
export const WORKSPACE_FOLDER = 'workspace';
export const CHECKPOINT_FILE = 'checkpoint.json';

/**
 * The file of a log's n-th segment, from 1. The first one has the plain name, so that a short log is one file with no
 * number.
 */
export function segmentFile(segment: number): string {
  return segment === 1 ? LOG_FILE : `events.${String(segment).padStart(6, '0')}.jsonl`;
}
