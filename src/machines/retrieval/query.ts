/** What a caller searches for, as weighted terms and a few wishes that can be told from its words. */
import { MAX_QUERY_TERMS } from './retrieval-limits.ts';
import { stem, termsOf } from './terms.ts';

// Words that people who work on software use for the same thing. A query for one finds the others, for less.

const GROUPS: readonly string[] = [
  'error failure fault bug defect exception problem issue trouble',
  'crash abort die panic segfault',
  'fix repair resolve patch correct solve',
  'delete remove drop erase purge',
  'create add make introduce',
  'change modify edit update alter adjust',
  'start launch boot begin run',
  'stop halt end kill terminate shutdown',
  'deploy release rollout ship publish launch',
  'rollback revert undo',
  'build compile bundle',
  'test spec check verify',
  'configuration config setting option preference',
  'directory folder dir',
  'repository repo codebase',
  'database db datastore postgres postgresql sqlite mysql',
  'authentication auth login signin logon',
  'password credential secret token key',
  'permission access right authorization',
  'environment env staging production prod',
  'dependency package library module',
  'server host machine instance node',
  'request call query',
  'response reply answer',
  'slow latency performance sluggish lag',
  'timeout deadline expire',
  'memory ram heap',
  'customer client user subscriber',
  'price cost fee charge amount',
  'payment billing invoice checkout',
  'email mail message notification',
  'schedule cron timer nightly',
  'queue backlog job worker',
  'document documentation docs readme manual guide',
  'decide decision choose chose choice pick agree settle select',
  'approve approval sign-off accept confirm',
  'reject deny refuse decline',
  'limit maximum max cap quota bound',
  'minimum min least',
  'rename move relocate',
  'merge integrate combine',
  'branch fork',
  'version revision',
  'upgrade update bump',
  'duplicate double twice copy',
  'missing absent lost lacking',
  'wrong incorrect invalid bad',
  'owner responsible charge maintainer',
  'meeting call standup sync',
  'deadline due date',
  'image picture photo screenshot',
  'frontend ui interface',
  'backend api server',
  'javascript js',
  'typescript ts',
  'kubernetes k8s cluster',
  'certificate cert tls ssl',
  'backup snapshot dump',
  'restore recover recovery',
  'flaky unreliable intermittent unstable',
  'leak leaking grow',
  'port address endpoint url',
  'cache cached memoize',
  'country region locale',
  'money currency dollar euro',
  'colour color',
  'holiday vacation leave absence',
  'search find lookup',
  'cause reason culprit why',
  'prefer preference like favour favor',
  'tabs spaces indentation indent',
  'colleague teammate coworker',
];

const BY_TERM: ReadonlyMap<string, readonly string[]> = tableOf(GROUPS);

/** Terms that mean about the same, without the term itself. */
function synonymsOf(term: string): readonly string[] {
  return BY_TERM.get(term) ?? [];
}

function tableOf(groups: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const table = new Map<string, Set<string>>();
  for (const group of groups) {
    const terms = group.split(' ').map(stem);
    for (const term of terms) {
      const others = table.get(term) ?? new Set<string>();
      for (const other of terms) if (other !== term) others.add(other);
      table.set(term, others);
    }
  }
  return new Map([...table].map(([term, others]) => [term, [...others]]));
}

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
  readonly wants: QueryOptions;
}

/** What kind of thing would answer. */
export type AnswerKind = 'time' | 'number' | 'person' | 'place';

export interface QueryOptions {
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
