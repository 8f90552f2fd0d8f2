/** What the filters of a search ask of a document. An index answers it without opening the document. */
import type { RetrievalDocument, RetrievalKind } from './retrieval-document.ts';

export interface DocumentFacts {
  readonly kind: RetrievalKind;
  readonly sessionId?: string | undefined;
  /** The newest event that it was made of; 0 where no event says it. */
  readonly lastSeq: number;
  /** Milliseconds since the epoch; NaN where no time is known. */
  readonly atMs: number;
  /** Of a trace. */
  readonly tool?: string | undefined;
}

export function factsOf({ kind, sessionId, seqs, at, tool }: RetrievalDocument): DocumentFacts {
  return { kind, sessionId, lastSeq: seqs.at(-1) ?? 0, atMs: at === undefined ? Number.NaN : Date.parse(at), tool };
}
