/**
 * From what the words fit to what is worth opening, by numbers that are the same for the same log:
 *
 *   words      how well the words fit (BM25), weighed by how many of the query's telling words are there at all
 *   neighbors  an answer is found by its question: what follows upon a question shares in its score, and other neighbors a little
 *   session    a session in which much fits is about it
 *   kind       learning, memory, checkpoint, text, trace; a question answers nothing
 *   answer     what holds the kind of thing that is asked for: a time, a number, a person, a place
 *   time       what is newer counts a little more, and more where the query asks how things are now
 *   kin        sessions that are related to the one that asks count a little more
 */
import type { AnswerKind, PreparedQuery } from './query.ts';
import type { RetrievalDocument, RetrievalKind } from './retrieval-document.ts';
import { wholeSessionId } from './session-documents.ts';
import type { Relationship } from './session-relations.ts';
import { termsOf } from './terms.ts';

// Tells whether two documents say nearly the same: a summary that repeats a message, a message that was sent twice.

/** The share of all their different terms that both have. */
const LEAST_SIMILARITY = 0.85;

/** Shorter ones are alike by chance. */
const LEAST_TERMS = 4;

const KNOWN = new WeakMap<RetrievalDocument, ReadonlySet<string>>();

/** The place of the first in the list that says nearly the same as `document`; undefined when none does. */
function nearDuplicateOf(document: RetrievalDocument, others: readonly RetrievalDocument[]): number | undefined {
  const terms = setOf(document);
  const index = others.findIndex((other) => isAlike(terms, setOf(other)));
  return index < 0 ? undefined : index;
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const smaller = Math.min(one.size, other.size);
  const larger = Math.max(one.size, other.size);
  if (smaller < LEAST_TERMS || smaller < LEAST_SIMILARITY * larger) return false;
  let common = 0;
  for (const term of one) if (other.has(term)) common += 1;
  return common >= LEAST_SIMILARITY * (one.size + other.size - common);
}

function setOf(document: RetrievalDocument): ReadonlySet<string> {
  const known = KNOWN.get(document) ?? new Set(termsOf(`${document.title} ${document.text}`));
  KNOWN.set(document, known);
  return known;
}

export interface TextHit {
  readonly document: RetrievalDocument;
  /** By BM25, above 0. Comparable within one search only. */
  readonly score: number;
  /** Words of the query that are there, or something that stands for them: 0 to 1 for how well. */
  readonly words: ReadonlyMap<string, number>;
  /** Terms of the document that fit. */
  readonly terms: readonly string[];
}

export interface RankingContext {
  readonly query: PreparedQuery;
  /** How much a word tells: the rarer the more, above 0. */
  readonly rarity: (word: string) => number;
  /** The messages before and after one, in its session. Undefined at the ends, and for what is no message. */
  readonly around: (document: RetrievalDocument) => {
    readonly before?: RetrievalDocument | undefined;
    readonly after?: RetrievalDocument | undefined;
  };
  readonly relationshipOf: (sessionId: string | undefined) => Relationship;
  /** Whether a document may be a candidate at all. */
  readonly accepts: (document: RetrievalDocument) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface RankedDocument {
  readonly document: RetrievalDocument;
  /** 0 to about 2; comparable within one search only. */
  readonly score: number;
  /** The share of the query's words that are there, weighed by how much each tells: 0 to 1. */
  readonly coverage: number;
  readonly terms: readonly string[];
  /** It stands beside what fits, and does not fit itself. */
  readonly isBeside: boolean;
  /** How many others say nearly the same and are left out. */
  readonly duplicates: number;
}

const KIND_PRIOR = { learning: 1.2, memory: 1.15, checkpoint: 1.05, text: 1, trace: 0.9 } as const satisfies Record<
  RetrievalKind,
  number
>;

const UNCOVERED_SHARE = 0.35;
/** What follows upon a question, upon anything else, and what precedes. */
const ANSWER_SHARE = 0.6;
const AFTER_SHARE = 0.1;
const BEFORE_SHARE = 0.05;
/** Neighbors of so many of the best are checked. */
const SPREADING_HITS = 40;
const SESSION_SHARE = 0.1;
const HITS_OF_SESSION = 3;
const QUESTION_PRIOR = 0.75;
const ANSWER_BOOST = 1.5;
const WHOLE_SESSION_PRIOR = 0.5;
const TROUBLE_BOOST = 1.5;
const ACTION_BOOST = 1.3;
const KIN_BOOST = 1.1;
const RECENCY_SHARE = 0.1;
const WANTED_RECENCY_SHARE = 0.6;
const HALF_LIFE_MS = 30 * 86_400_000;

interface Scored {
  readonly document: RetrievalDocument;
  readonly coverage: number;
  readonly terms: readonly string[];
  readonly isBeside: boolean;
  score: number;
}

/** The best first; of what says nearly the same only the best. @param limit of the result */
export function rank(hits: readonly TextHit[], context: RankingContext, limit: number): readonly RankedDocument[] {
  const scored = scoreWords(hits, context);
  spreadToNeighbors(scored, context);
  liftSessions(scored);
  for (const each of scored.values()) each.score *= priorOf(each.document, context);
  const sorted = [...scored.values()].filter(({ document }) => context.accepts(document)).sort(byScore);
  return withoutDuplicates(sorted, limit);
}

function byScore(one: Scored, other: Scored): number {
  if (other.score !== one.score) return other.score - one.score;
  return one.document.id < other.document.id ? -1 : 1;
}

function scoreWords(hits: readonly TextHit[], { query, rarity }: RankingContext): Map<string, Scored> {
  const most = hits.reduce((max, { score }) => Math.max(max, score), 0) || 1;
  const total = query.words.reduce((sum, word) => sum + rarity(word), 0) || 1;
  const scored = new Map<string, Scored>();
  for (const { document, score, words, terms } of hits) {
    const covered = [...words].reduce((sum, [word, share]) => sum + share * rarity(word), 0) / total;
    const coverage = Math.min(1, covered);
    scored.set(document.id, {
      document,
      coverage,
      terms,
      isBeside: false,
      score: (score / most) * (UNCOVERED_SHARE + (1 - UNCOVERED_SHARE) * coverage),
    });
  }
  return scored;
}

/** By the scores as the words gave them, so that nothing is passed on twice. */
function spreadToNeighbors(scored: Map<string, Scored>, { around }: RankingContext): void {
  const best = [...scored.values()]
    .sort(byScore)
    .slice(0, SPREADING_HITS)
    .map((each) => ({ ...each }));
  for (const { document, score, coverage } of best) {
    const { before, after } = around(document);
    if (after !== undefined)
      give(scored, after, { share: (isQuestion(document) ? ANSWER_SHARE : AFTER_SHARE) * score, coverage });
    if (before !== undefined) give(scored, before, { share: BEFORE_SHARE * score, coverage });
  }
}

function give(
  scored: Map<string, Scored>,
  document: RetrievalDocument,
  { share, coverage }: { readonly share: number; readonly coverage: number },
): void {
  const known = scored.get(document.id);
  if (known === undefined)
    scored.set(document.id, { document, coverage: coverage / 2, terms: [], isBeside: true, score: share });
  else known.score += share;
}

function liftSessions(scored: ReadonlyMap<string, Scored>): void {
  const bySession = new Map<string, number[]>();
  for (const { document, score } of scored.values()) {
    if (document.sessionId !== undefined)
      bySession.set(document.sessionId, [...(bySession.get(document.sessionId) ?? []), score]);
  }
  const sums = new Map(
    [...bySession].map(([sessionId, scores]) => [
      sessionId,
      scores
        .sort((one, other) => other - one)
        .slice(0, HITS_OF_SESSION)
        .reduce((sum, score) => sum + score, 0),
    ]),
  );
  const most = Math.max(0, ...sums.values()) || 1;
  for (const each of scored.values())
    each.score *= 1 + SESSION_SHARE * ((sums.get(each.document.sessionId ?? '') ?? 0) / most);
}

function priorOf(document: RetrievalDocument, { query, relationshipOf, now }: RankingContext): number {
  const { wants } = query;
  const isTrace = document.kind === 'trace';
  const trouble = wants.trouble && isTrace && document.outcome === 'failed' ? TROUBLE_BOOST : 1;
  const action = wants.action && isTrace ? ACTION_BOOST : 1;
  const question = isQuestion(document) ? QUESTION_PRIOR : 1;
  const answer =
    wants.answer !== undefined && holdsAnswer(`${document.title} ${document.text}`, wants.answer) ? ANSWER_BOOST : 1;
  // It stands for all that is in it, and says little of each.
  const whole =
    document.sessionId !== undefined && document.id === wholeSessionId(document.sessionId) ? WHOLE_SESSION_PRIOR : 1;
  const kin = document.sessionId !== undefined && relationshipOf(document.sessionId) !== 'none' ? KIN_BOOST : 1;
  return (
    KIND_PRIOR[document.kind] *
    trouble *
    action *
    question *
    answer *
    whole *
    kin *
    recencyOf(document.at, now, wants.time)
  );
}

function isQuestion({ kind, text }: RetrievalDocument): boolean {
  return kind === 'text' && text.trimEnd().endsWith('?');
}

/**
 * 1 for what is old, and up to 1 and the share for what is new; the other way round where the query asks how it was at
 * first.
 */
function recencyOf(at: string | undefined, now: number, time: PreparedQuery['wants']['time']): number {
  const ageMs = at === undefined ? Number.NaN : now - Date.parse(at);
  if (Number.isNaN(ageMs)) return 1;
  const freshness = 0.5 ** (Math.max(0, ageMs) / HALF_LIFE_MS);
  if (time === 'oldest') return 1 + WANTED_RECENCY_SHARE * (1 - freshness);
  return 1 + (time === 'newest' ? WANTED_RECENCY_SHARE : RECENCY_SHARE) * freshness;
}

function withoutDuplicates(sorted: readonly Scored[], limit: number): readonly RankedDocument[] {
  const kept: (Scored & { duplicates: number })[] = [];
  for (const each of sorted) {
    const twin = nearDuplicateOf(
      each.document,
      kept.map(({ document }) => document),
    );
    if (twin !== undefined) {
      const known = kept[twin];
      if (known !== undefined) known.duplicates += 1;
    } else if (kept.length < limit) kept.push({ ...each, duplicates: 0 });
    else break;
  }
  return kept;
}

const NUMBER =
  /\p{N}|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b/iu;

const SIGNS: Readonly<Record<AnswerKind, RegExp>> = {
  time: /\b(?:\d{1,2}[:.]\d{2}|\d{4}-\d{2}|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|yesterday|noon|midnight)/i,
  number: NUMBER,
  // A name within a sentence; what begins one may be any word.
  person: /[\p{Ll},;] \p{Lu}\p{Ll}+|^\p{Lu}\p{Ll}+ (?:\p{Ll}+ed|is|has|was|will|owns|wrote|said|found)\b/u,
  place: /[\w-]+\/[\w./-]+|\b[\w-]+\.(?:ts|js|mjs|py|go|rs|md|json|ya?ml|toml|sh|sql|css|html|txt|conf|cfg)\b/i,
};

/** Whether the text holds the kind of thing that would answer a question. */
function holdsAnswer(text: string, kind: AnswerKind): boolean {
  return SIGNS[kind].test(text);
}
