/**
 * Which terms a search searches for: those of the query that tell something, and for words that hardly any document holds
 * what is written nearly so.
 */
import type { QueryTerm } from '../../machines/retrieval/query.ts';
import { hashOfTerm } from './part-layout.ts';
import type { NearTerm, Vocabulary } from './vocabulary.ts';

export interface SoughtTerm {
  readonly term: string;
  readonly number: number;
  /** By which parts find it. */
  readonly hash: number;
  /** Of the query: what it is sought for. */
  readonly source: string;
  /** The place of the source among all: terms of one source stand together. */
  readonly sourceIndex: number;
  readonly weight: number;
}

/** Places that one search checks, summed over its terms, unless that would leave too few words. */
const MAX_POSTINGS = 150_000;
const ENOUGH_WORDS = 2;

const FUZZY_WEIGHT = 0.5;
const PREFIX_WEIGHT = 0.6;
/** What a character more tells against a longer word. */
const PREFIX_DISTANCE_SHARE = 0.3;

/** A word that hardly any document holds may be misspelt or cut short. Shorter ones would fit too much. */
const RARE_DOCUMENTS = 2;
const LEAST_FUZZY_CHARACTERS = 5;
const TWO_EDITS_FROM_CHARACTERS = 8;

/** Words that stand for one that is misspelt or cut short; the nearest. */
const MAX_NEAR_TERMS = 64;

export function soughtTerms(terms: readonly QueryTerm[], vocabulary: Vocabulary): readonly SoughtTerm[] {
  return worthFinding(terms, vocabulary).flatMap(({ term, weight }, sourceIndex) => {
    const named = { source: term, sourceIndex };
    const number = vocabulary.numberOf(term);
    const exact: readonly SoughtTerm[] =
      number === undefined ? [] : [{ ...named, term, number, hash: hashOfTerm(term), weight }];
    const near = nearTerms(term, vocabulary).map((each) => ({
      ...named,
      term: each.term,
      number: each.number,
      hash: hashOfTerm(each.term),
      weight: weight * each.weight,
    }));
    return [...exact, ...near];
  });
}

/**
 * The rarest first, words before what stands for them, until so much is to be checked that a search would take long:
 * what is left out tells least.
 */
function worthFinding(terms: readonly QueryTerm[], vocabulary: Vocabulary): readonly QueryTerm[] {
  const costs = terms.map((term) => ({ term, isWord: term.weight === 1, cost: vocabulary.documentsWith(term.term) }));
  const known = costs
    .filter(({ isWord, cost }) => isWord || cost > 0)
    .map((each) => ({ ...each, rank: each.cost / each.term.weight }));
  const kept: QueryTerm[] = [];
  let [words, postings] = [0, 0];
  for (const { term, isWord, cost } of known.sort((one, other) => one.rank - other.rank)) {
    if (postings + cost > MAX_POSTINGS && words >= ENOUGH_WORDS) break;
    if (!isWord && postings + cost > MAX_POSTINGS) continue;
    kept.push(term);
    postings += cost;
    if (isWord && cost > 0) words += 1;
  }
  return kept;
}

interface WeighedTerm {
  readonly term: string;
  readonly number: number;
  readonly weight: number;
}

function nearTerms(term: string, vocabulary: Vocabulary): readonly WeighedTerm[] {
  const holding = vocabulary.documentsWith(term);
  if (term.length < LEAST_FUZZY_CHARACTERS || holding > RARE_DOCUMENTS) return [];
  const weighed = (near: NearTerm, share: number, distanceShare: number): readonly [number, WeighedTerm] => [
    near.number,
    {
      term: near.term,
      number: near.number,
      weight: (share * near.term.length) / (near.term.length + distanceShare * near.distance),
    },
  ];
  const edits = term.length >= TWO_EDITS_FROM_CHARACTERS ? 2 : 1;
  const fuzzy = /^\p{L}+$/u.test(term)
    ? vocabulary.writtenLike(term, edits).map((near) => weighed(near, FUZZY_WEIGHT, 1))
    : [];
  const longer =
    holding === 0
      ? vocabulary.startingWith(term).map((near) => weighed(near, PREFIX_WEIGHT, PREFIX_DISTANCE_SHARE))
      : [];
  // What is both counts as the longer word.
  const found = [...new Map([...fuzzy, ...longer]).values()];
  return found
    .sort((one, other) => other.weight - one.weight || (one.term < other.term ? -1 : 1))
    .slice(0, MAX_NEAR_TERMS);
}
