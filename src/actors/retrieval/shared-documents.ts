/** Learnings and memory as documents. */
import { beginningOf } from '../../machines/cut-text.ts';
import { passagesOf } from '../../machines/retrieval/passages.ts';
import { bounded } from '../../machines/retrieval/retrieval-document.ts';
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import type { RetrievalLearning, RetrievalMemoryEntry } from './retrieval-sources.ts';

const MAX_TITLE_CHARACTERS = 300;
const MAX_ID_CHARACTERS = 240;

export function learningDocuments(learnings: readonly RetrievalLearning[]): readonly RetrievalDocument[] {
  return learnings.map(({ learningId, kind, title, detail, at, sessionId, seq }) => ({
    id: `learning:${beginningOf(learningId, MAX_ID_CHARACTERS)}`,
    kind: 'learning',
    ...(sessionId === undefined ? {} : { sessionId }),
    seqs: seq === undefined ? [] : [seq],
    ...(at === undefined ? {} : { at }),
    title: bounded(`${kind}: ${title}`, MAX_TITLE_CHARACTERS),
    text: passagesOf(detail)[0] ?? '',
  }));
}

export function memoryDocuments(entries: readonly RetrievalMemoryEntry[]): readonly RetrievalDocument[] {
  return entries.flatMap(({ entryId, heading, text, at, path }) =>
    passagesOf(text).map((passage, index) => ({
      id: `memory:${beginningOf(entryId, MAX_ID_CHARACTERS)}${index === 0 ? '' : `.${index}`}`,
      kind: 'memory' as const,
      seqs: [],
      ...(at === undefined ? {} : { at }),
      title: bounded(heading, MAX_TITLE_CHARACTERS),
      text: passage,
      ...(path === undefined ? {} : { path }),
    })),
  );
}
