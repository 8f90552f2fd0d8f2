/**
 * The port to the index of an agent: a cache beside the store of what its sessions hold. Losing it costs time and
 * nothing else, and nothing that goes wrong with it may cost more.
 */
import type { QueryTerm } from '../../machines/retrieval/query.ts';
import type { TextHit } from '../../machines/retrieval/ranking.ts';
import type { DocumentFacts, RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';

export interface IndexSearch {
  readonly terms: readonly QueryTerm[];
  readonly accepts: (facts: DocumentFacts) => boolean;
  /** Hits at most. */
  readonly limit: number;
}

export interface IndexSize {
  readonly sessions: number;
  readonly documents: number;
  /** Of all documents. */
  readonly characters: number;
}

export interface SessionUpdate {
  readonly cursor: SessionCursor;
  /** New ones, and those that are other than before. */
  readonly documents: readonly RetrievalDocument[];
  /** Whether what is known of the session is to be forgotten first. */
  readonly isAnew: boolean;
}

/** Everything of one agent. */
export interface AgentIndex {
  size(): IndexSize;
  cursors(): ReadonlyMap<string, SessionCursor>;
  /**
   * Takes documents of a session in. Lets others run while it does. What it keeps on the disk is whole or not there.
   */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** The session is gone. */
  forget(sessionId: string): Promise<void>;
  /** In place of all learnings, or of all memory. */
  share(kind: 'learning' | 'memory', documents: readonly RetrievalDocument[]): Promise<void>;
  /** The best first. Lets others run while it checks. */
  search(search: IndexSearch): Promise<readonly TextHit[]>;
  /** How much a word tells: the rarer it is the more, above 0. */
  rarity(word: string): number;
  /** The messages before and after a message that a search gave, in its session. */
  around(document: RetrievalDocument): {
    readonly before?: RetrievalDocument | undefined;
    readonly after?: RetrievalDocument | undefined;
  };
}

export interface RetrievalIndex {
  /**
   * The index of an agent, with what is kept of it. Damaged, foreign and outdated parts are as if they were not there.
   */
  of(agentId: string): Promise<AgentIndex>;
  /** Forgets everything, on the disk too. */
  clear(agentId: string): Promise<void>;
  /** Resolves when others have had their turn, if this has gone on for some milliseconds; at once otherwise. */
  breathe(): Promise<void>;
  /** Releases what is in memory. */
  close(): Promise<void>;
}
