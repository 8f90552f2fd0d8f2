/** What a caller looks for, as weighted terms and a few wishes that can be told from its words. */
import { MAX_QUERY_TERMS } from './retrieval-limits.ts';
import { synonymsOf } from './synonyms.ts';
import { termsOf } from './terms.ts';

export interface QueryTerm {
  readonly term: string;
  /** 1 for a word of the query, less for one that means about the same. */
  readonly weight: number;
  /** The word of the query that it stands for. */
  readonly word: string;
}

export interface PreparedQuery {
  /** The different words, in order. */
  readonly words: readonly string[];
  /** Those and their synonyms, each once. */
  readonly terms: readonly QueryTerm[];
  /** `newest`: it asks how things are now; `oldest`: how they were at first. */
  readonly wants: QueryWishes;
}

/** What kind of thing would answer. */
export type AnswerKind = 'time' | 'number' | 'person' | 'place';

export interface QueryWishes {
  readonly time?: 'newest' | 'oldest' | undefined;
  readonly trouble: boolean;
  readonly action: boolean;
  readonly answer?: AnswerKind | undefined;
}

const SYNONYM_WEIGHT = 0.4;

const NEWEST = /\b(?:latest|newest|current|currently|now|today|last|recent|recently|most recent)\b/i;
const OLDEST = /\b(?:first|originally|initially|oldest|at the beginning)\b/i;
const TROUBLE =
  /\b(?:errors?|fail(?:s|ed|ure|ures|ing)?|exceptions?|crash(?:es|ed)?|broke|broken|wrong|stack ?trace)\b/i;
const ACTION = /\b(?:commands?|ran|run|executed|script|tool)\b/i;

const ANSWERS: readonly (readonly [AnswerKind, RegExp])[] = [
  ['time', /\b(?:when|what (?:time|day|date)|which (?:day|date|month)|(?:due|launch|release) date|deadline)\b/i],
  [
    'number',
    /\b(?:how (?:many|much|large|big|long|often|fast|old)|what (?:port|version)|minimum|maximum|limit|size|interval|timeout|period)\b/i,
  ],
  ['person', /\b(?:who|whom|whose|which person)\b/i],
  ['place', /\b(?:where|which file|what file|file|path|folder|directory|location)\b/i],
];

export function prepareQuery(text: string): PreparedQuery {
  const words = [...new Set(termsOf(text))].slice(0, MAX_QUERY_TERMS);
  const terms = new Map<string, QueryTerm>(words.map((word) => [word, { term: word, weight: 1, word }]));
  for (const word of words) {
    for (const synonym of synonymsOf(word))
      if (!terms.has(synonym)) terms.set(synonym, { term: synonym, weight: SYNONYM_WEIGHT, word });
  }
  const time = NEWEST.test(text) ? 'newest' : OLDEST.test(text) ? 'oldest' : undefined;
  return {
    words,
    terms: [...terms.values()],
    wants: {
      time,
      trouble: TROUBLE.test(text),
      action: ACTION.test(text),
      answer: ANSWERS.find(([, pattern]) => pattern.test(text))?.[0],
    },
  };
}
