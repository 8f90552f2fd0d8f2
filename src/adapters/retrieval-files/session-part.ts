/** What the index holds of one session: its documents in order, and how far its log was read. */
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import { MAX_DOCUMENTS_PER_SESSION } from '../../machines/retrieval/retrieval-limits.ts';
import { CURSOR_AT_START } from '../../machines/retrieval/session-documents.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';

export interface PartChange {
  readonly added: readonly RetrievalDocument[];
  readonly removed: readonly RetrievalDocument[];
}

interface MessageOrder {
  readonly ids: readonly string[];
  readonly places: ReadonlyMap<string, number>;
}

/** The first to go when there are too many. */
const FIRST_TO_GO = ['trace', 'text'] as const;

export class SessionPart {
  cursor: SessionCursor = CURSOR_AT_START;
  readonly #documents = new Map<string, RetrievalDocument>();
  /** The ids of messages, in order, and the place of each; made when it is asked for. */
  #messages: MessageOrder | undefined;

  get documents(): readonly RetrievalDocument[] {
    return [...this.#documents.values()];
  }

  /** Takes documents in, in place of those with the same ids, and drops what is too much. */
  take(documents: readonly RetrievalDocument[]): PartChange {
    this.#messages = undefined;
    const removed: RetrievalDocument[] = [];
    for (const document of documents) {
      const before = this.#documents.get(document.id);
      if (before !== undefined) removed.push(before);
      this.#documents.set(document.id, document);
    }
    const dropped = new Set(this.#dropped());
    for (const document of dropped) this.#documents.delete(document.id);
    const isNew = new Set(documents);
    return { added: documents.filter((document) => !dropped.has(document) && this.#documents.get(document.id) === document), removed: [...removed, ...[...dropped].filter((document) => !isNew.has(document))] };
  }

  around(document: RetrievalDocument): { readonly before?: RetrievalDocument | undefined; readonly after?: RetrievalDocument | undefined } {
    const { ids, places } = (this.#messages ??= this.#inOrder());
    const place = places.get(document.id);
    if (place === undefined) return {};
    return { before: this.#documents.get(ids[place - 1] ?? ''), after: this.#documents.get(ids[place + 1] ?? '') };
  }

  #inOrder(): MessageOrder {
    const ids = this.documents.filter(({ kind }) => kind === 'text').sort(byPlace).map(({ id }) => id);
    return { ids, places: new Map(ids.map((id, index) => [id, index])) };
  }

  #dropped(): readonly RetrievalDocument[] {
    let excess = this.#documents.size - MAX_DOCUMENTS_PER_SESSION;
    const dropped: RetrievalDocument[] = [];
    for (const kind of excess > 0 ? FIRST_TO_GO : []) {
      const oldest = this.documents.filter((document) => document.kind === kind).sort(byPlace).slice(0, Math.max(0, excess));
      dropped.push(...oldest);
      excess -= oldest.length;
    }
    return dropped;
  }
}

/** Parts of one message come in order of their number, which ends their ids. */
function byPlace(one: RetrievalDocument, other: RetrievalDocument): number {
  return (one.seqs[0] ?? 0) - (other.seqs[0] ?? 0) || one.id.length - other.id.length || (one.id < other.id ? -1 : 1);
}
