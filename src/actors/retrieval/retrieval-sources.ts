/**
 * The ports to what retrieval finds things in. Each is asked for one agent and answers with what that agent's sessions
 * share, or hold, and with nothing of another agent's.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';

/** Something that the sessions of an agent have learned. Plain data. */
export interface RetrievalLearning {
  readonly learningId: string;
  readonly kind: 'lesson' | 'correction' | 'error';
  readonly title: string;
  readonly detail: string;
  /** ISO-8601. */
  readonly at?: string | undefined;
  /** Where it was learned, and the event that says so. */
  readonly sessionId?: string | undefined;
  readonly seq?: number | undefined;
}

export interface LearningSource {
  /** In any order. */
  learnings(agentId: string): Promise<readonly RetrievalLearning[]>;
}

/** A part of an agent's memory that stands for itself, such as a section of MEMORY.md. Plain data. */
export interface RetrievalMemoryEntry {
  /** The same for the same place in the memory; no two of an agent have the same. */
  readonly entryId: string;
  readonly heading: string;
  readonly text: string;
  /** ISO-8601: when it was last changed, where that is known. */
  readonly at?: string | undefined;
  /** As the agent names the file. Default: `/workspace/agent/MEMORY.md`. */
  readonly path?: string | undefined;
}

export interface MemorySource {
  /** In any order. */
  memoryEntries(agentId: string): Promise<readonly RetrievalMemoryEntry[]>;
}

/** What retrieval needs of the sessions service. */
export interface SessionSource {
  list(filter: { readonly agentId: string }): Promise<readonly SessionState[]>;
  get(sessionId: string): Promise<SessionState>;
  events(sessionId: string, options: { readonly from: number; readonly limit: number }): AsyncIterable<SessionEvent>;
}

export interface RetrievalSources {
  readonly sessions: SessionSource;
  readonly learnings?: LearningSource | undefined;
  readonly memory?: MemorySource | undefined;
}
