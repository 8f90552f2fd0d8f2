/**
 * Brings the index of an agent up to where its logs are: reads what is new of each session, and all of one whose log is
 * another one.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { passagesOf } from '../../machines/retrieval/passages.ts';
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import { bounded } from '../../machines/retrieval/retrieval-document.ts';
import { MAX_DOCUMENTS_PER_AGENT } from '../../machines/retrieval/retrieval-limits.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';
import { CURSOR_AT_START, SessionDocuments } from '../../machines/retrieval/session-documents.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AgentIndex, RetrievalIndex } from './retrieval-index.ts';
import type { RetrievalLearning, RetrievalMemoryEntry, RetrievalSources } from './retrieval-sources.ts';

// Learnings and memory as documents.

const MAX_TITLE_CHARACTERS = 300;
const MAX_ID_CHARACTERS = 240;

function learningDocuments(learnings: readonly RetrievalLearning[]): readonly RetrievalDocument[] {
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

function memoryDocuments(entries: readonly RetrievalMemoryEntry[]): readonly RetrievalDocument[] {
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

export interface RefreshPorts {
  readonly index: RetrievalIndex;
  readonly sources: RetrievalSources;
  /** Hears why something could not be read; the rest is found all the same. */
  readonly onTrouble: (error: unknown) => void;
}

export interface RefreshReport {
  /** Sessions of which something was read. */
  readonly sessionsRead: number;
  readonly eventsRead: number;
  /** Sessions that are left out, since there is no room for them. */
  readonly sessionsLeftOut: number;
}

/** Events that are read before what came of them is kept: a log of any length is read in bounded memory. */
const EVENTS_PER_UPDATE = 4_000;

/** Sessions, with their newest first: where there is no room for all, the newest are found. */
export async function refreshSessions(
  index: AgentIndex,
  states: readonly SessionState[],
  ports: RefreshPorts,
): Promise<RefreshReport> {
  const readable = states.filter(({ unreadable }) => unreadable === undefined);
  await forgetGone(index, new Set(readable.map(({ sessionId }) => sessionId)));
  const newest = readable.toSorted((one, other) => ((other.updatedAt ?? '') < (one.updatedAt ?? '') ? -1 : 1));
  let [sessionsRead, eventsRead, sessionsLeftOut] = [0, 0, 0];
  for (const state of newest) {
    const cursor = index.cursors().get(state.sessionId);
    // A session that was deleted and brought back may be as long as before.
    if (cursor?.seq === state.head && cursor.at === state.updatedAt) continue;
    if (cursor === undefined && index.size().documents >= MAX_DOCUMENTS_PER_AGENT) {
      sessionsLeftOut += 1;
      continue;
    }
    const events = await refreshSession(index, state.sessionId, ports).catch((error: unknown) => {
      ports.onTrouble(error);
      return 0;
    });
    sessionsRead += 1;
    eventsRead += events;
  }
  return { sessionsRead, eventsRead, sessionsLeftOut };
}

/** @returns how many events were read */
export async function refreshSession(index: AgentIndex, sessionId: string, ports: RefreshPorts): Promise<number> {
  const known = index.cursors().get(sessionId);
  const isSame = known !== undefined && (await holds(sessionId, known, ports));
  return readOn({ index, sessionId, cursor: isSame ? known : CURSOR_AT_START, isAnew: !isSame }, ports);
}

/** Learnings and memory are few; they are taken anew each time. */
export async function refreshShared(
  index: AgentIndex,
  agentId: string,
  { sources, onTrouble }: RefreshPorts,
): Promise<void> {
  const { learnings, memory } = sources;
  try {
    if (learnings !== undefined) await index.share('learning', learningDocuments(await learnings.learnings(agentId)));
  } catch (error) {
    onTrouble(error);
  }
  try {
    if (memory !== undefined) await index.share('memory', memoryDocuments(await memory.memoryEntries(agentId)));
  } catch (error) {
    onTrouble(error);
  }
}

async function forgetGone(index: AgentIndex, there: ReadonlySet<string>): Promise<void> {
  for (const sessionId of [...index.cursors().keys()]) if (!there.has(sessionId)) await index.forget(sessionId);
}

/** A session that was deleted and brought back, or a log that was repaired, may hold something else there. */
async function holds(sessionId: string, { seq, eventId }: SessionCursor, { sources }: RefreshPorts): Promise<boolean> {
  if (seq === 0) return true;
  for await (const event of sources.sessions.events(sessionId, { from: seq, limit: 1 }))
    return event.seq === seq && event.id === eventId;
  return false;
}

interface ReadingOn {
  readonly index: AgentIndex;
  readonly sessionId: string;
  readonly cursor: SessionCursor;
  readonly isAnew: boolean;
}

async function readOn(
  { index, sessionId, cursor, isAnew }: ReadingOn,
  { index: whole, sources }: RefreshPorts,
): Promise<number> {
  const documents = new SessionDocuments(sessionId, cursor);
  let read = 0;
  for (let isFirst = true, more = true; more; isFirst = false) {
    let page = 0;
    for await (const event of sources.sessions.events(sessionId, {
      from: documents.cursor.seq + 1,
      limit: EVENTS_PER_UPDATE,
    })) {
      documents.ingest(event);
      page += 1;
      await whole.breathe();
    }
    read += page;
    more = page === EVENTS_PER_UPDATE;
    if (page > 0 || (isFirst && isAnew))
      await index.update(sessionId, {
        cursor: documents.cursor,
        documents: documents.take(),
        isAnew: isFirst && isAnew,
      });
  }
  return read;
}
