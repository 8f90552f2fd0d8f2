/** A candidate: a hint at where something can be read, with how sure that is and how to read it. */
import type { RankedDocument } from './ranking.ts';
import type { RetrievalDocument, RetrievalKind } from './retrieval-document.ts';
import { bounded } from './retrieval-document.ts';
import { MAX_EVIDENCE_CHARACTERS } from './retrieval-limits.ts';
import { termsOf } from './terms.ts';

type Confidence = 'low' | 'medium' | 'high';

export interface RetrievalCandidate {
  /**
   * The same each time that it is found: `learning:` with the id of the learning, `memory:` with the place in the
   * memory, or a place in a session.
   */
  readonly id: string;
  readonly kind: RetrievalKind;
  readonly sessionId?: string | undefined;
  /** The events that it was found in. Empty for learnings and memory that no event of a session holds. */
  readonly seqs: readonly number[];
  /** ISO-8601. */
  readonly at?: string | undefined;
  /** Comparable within one search only: the best has 1. */
  readonly score: number;
  readonly confidence: Confidence;
  /** The rule by which the confidence was given, with its numbers. */
  readonly because: string;
  /** The words that fit stand in «guillemets». */
  readonly evidence: string;
  readonly expansionPlan: readonly PlannedCall[];
}

/** The share of the query's telling words that must be there, and how near to the best. */
const HIGH = { coverage: 0.7, score: 0.75 } as const;
const MEDIUM = { coverage: 0.4, score: 0.4 } as const;

export function candidateOf(ranked: RankedDocument, best: number): RetrievalCandidate {
  const { document, coverage, terms, duplicates } = ranked;
  const score = best > 0 ? ranked.score / best : 0;
  const { confidence, because } = confidenceOf(ranked, score);
  return {
    id: document.id,
    kind: document.kind,
    ...(document.sessionId === undefined ? {} : { sessionId: document.sessionId }),
    seqs: document.seqs,
    ...(document.at === undefined ? {} : { at: document.at }),
    score: rounded(score),
    confidence,
    because: `${because} (words found ${rounded(coverage)}, score ${rounded(score)} of the best)${duplicates === 0 ? '' : `; ${duplicates} more say nearly the same`}`,
    evidence: evidenceOf(document, new Set(terms)),
    expansionPlan: expansionPlan(document),
  };
}

function confidenceOf(
  { coverage, isBeside }: RankedDocument,
  score: number,
): { readonly confidence: Confidence; readonly because: string } {
  if (isBeside) return { confidence: 'low', because: 'it stands beside what fits, and none of the words is in it' };
  if (coverage >= HIGH.coverage && score >= HIGH.score)
    return { confidence: 'high', because: 'most of the telling words are in it, and little fits better' };
  if (coverage >= MEDIUM.coverage && score >= MEDIUM.score)
    return { confidence: 'medium', because: 'a good part of the telling words is in it' };
  return { confidence: 'low', because: 'few of the telling words are in it, or others fit far better' };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

// The part of a document that shows why it was found, with the words that fit in «guillemets».

const WORD = /[\p{L}\p{N}]+(?:[._/:@#-]+[\p{L}\p{N}]+)*/gu;

/** How far the first word that fits stands from the beginning of the part, in characters. */
const LEAD_CHARACTERS = 60;

/** Marks take room; a part without any is a little shorter than it may be. */
const ROOM_FOR_MARKS = 40;

/** @param found the terms of the document that fit */
function evidenceOf(document: { readonly title: string; readonly text: string }, found: ReadonlySet<string>): string {
  const whole = [document.title, document.text]
    .filter((part) => part !== '')
    .join(' — ')
    .replaceAll(/\s+/g, ' ');
  const room = MAX_EVIDENCE_CHARACTERS - ROOM_FOR_MARKS;
  const start = startOfWindow(whole, found, room);
  const part = `${start > 0 ? '…' : ''}${bounded(whole.slice(start), room)}`;
  let marks = 0;
  return part.replaceAll(WORD, (word) => {
    if (marks >= ROOM_FOR_MARKS / 2 || !fits(word, found)) return word;
    marks += 1;
    return `«${word}»`;
  });
}

/** Where as many different words as possible stand close together. */
function startOfWindow(text: string, found: ReadonlySet<string>, room: number): number {
  if (text.length <= room) return 0;
  const places = [...text.matchAll(WORD)].flatMap((match) =>
    fits(match[0], found) ? [{ index: match.index, word: match[0].toLowerCase() }] : [],
  );
  let best = { index: 0, words: 0 };
  for (const { index } of places) {
    const words = new Set(
      places
        .filter((place) => place.index >= index && place.index < index + room - LEAD_CHARACTERS)
        .map(({ word }) => word),
    ).size;
    if (words > best.words) best = { index, words };
  }
  const from = Math.max(0, best.index - LEAD_CHARACTERS);
  return from === 0 ? 0 : Math.max(0, text.indexOf(' ', from)) + 1;
}

function fits(word: string, found: ReadonlySet<string>): boolean {
  return termsOf(word).some((term) => found.has(term));
}

// How to open again what a candidate points to.

interface PlannedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Events that are read before the one that was found, and in all. */
const EVENTS_BEFORE = 3;
const EVENTS_READ = 12;

const MEMORY_PATH = '/workspace/agent/MEMORY.md';
const LEARNINGS_PATH = '/memory/learnings/learnings.md';

/** Calls of tools, the most telling first. */
function expansionPlan({ kind, sessionId, seqs, callId, path }: RetrievalDocument): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];
  const [seq] = seqs;
  if (sessionId !== undefined && seq !== undefined) {
    if (callId !== undefined) calls.push({ tool: 'session_get_trace', input: { sessionId, callId, nearSeq: seq } });
    calls.push({
      tool: 'session_get_events',
      input: { sessionId, from: Math.max(1, seq - EVENTS_BEFORE), limit: EVENTS_READ },
    });
    if (kind === 'checkpoint') calls.push({ tool: 'session_get_snapshot', input: { sessionId } });
  }
  if (kind === 'memory') calls.push({ tool: 'read', input: { path: path ?? MEMORY_PATH } });
  if (kind === 'learning') calls.push({ tool: 'read', input: { path: path ?? LEARNINGS_PATH } });
  return calls;
}
