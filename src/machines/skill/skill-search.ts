/** Finds skills by words: the same words over the same skills always give the same answer. */
import { headingsOf } from './skill-definition.ts';
import type { Skill, SkillSummary } from './skill-definition.ts';

export const MAX_SKILL_QUERY_CHARACTERS = 500;
export const DEFAULT_SKILL_HITS = 5;
export const MAX_SKILL_HITS = 50;

/** What a word of the query is worth where it is found; in the body each time, up to a bound. */
const WEIGHTS = { name: 10, tags: 6, description: 5, headings: 3, body: 1 } as const;
const MAX_BODY_COUNT = 3;

/** A word that begins with one of the query is worth this share of one that is the same. */
const PREFIX_SHARE = 0.5;
const MIN_PREFIX_CHARACTERS = 4;

/** Words that say nothing about what is searched for. */
const EMPTY_WORDS: ReadonlySet<string> = new Set([
  'a',
  'an',
  'and',
  'are',
  'at',
  'by',
  'for',
  'from',
  'how',
  'i',
  'in',
  'is',
  'it',
  'of',
  'on',
  'or',
  'the',
  'this',
  'to',
  'use',
  'when',
  'with',
]);

export interface SkillHit extends SkillSummary {
  /** Above 0; only its order means something. */
  readonly score: number;
  /** Where the words were found. */
  readonly foundIn: readonly (keyof typeof WEIGHTS)[];
}

/** Best first; of equal ones by name. Those in which no word of the query is found are left out. */
export function searchSkills(
  skills: readonly Skill[],
  query: string,
  limit: number = DEFAULT_SKILL_HITS,
): readonly SkillHit[] {
  const all = wordsOf(query);
  const telling = all.filter((word) => !EMPTY_WORDS.has(word));
  const words = [...new Set(telling.length > 0 ? telling : all)];
  return skills
    .flatMap((skill) => hitOf(skill, words) ?? [])
    .toSorted((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1))
    .slice(0, limit);
}

function hitOf(skill: Skill, words: readonly string[]): SkillHit | undefined {
  const places = {
    name: counted(wordsOf(skill.name)),
    tags: counted(skill.tags.flatMap(wordsOf)),
    description: counted(wordsOf(skill.description)),
    headings: counted(headingsOf(skill.instructions).flatMap(wordsOf)),
    body: counted(wordsOf(skill.instructions)),
  };
  const scores = (Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]).map((place) => {
    const count = words.reduce(
      (sum, word) => sum + Math.min(timesOf(word, places[place]), place === 'body' ? MAX_BODY_COUNT : 1),
      0,
    );
    return { place, score: count * WEIGHTS[place] };
  });
  const score = scores.reduce((sum, each) => sum + each.score, 0);
  if (score === 0) return undefined;
  const { name, description, scope, tags } = skill;
  return {
    name,
    description,
    scope,
    tags,
    score,
    foundIn: scores.filter((each) => each.score > 0).map(({ place }) => place),
  };
}

function timesOf(word: string, counts: ReadonlyMap<string, number>): number {
  const exact = counts.get(word) ?? 0;
  if (exact > 0 || word.length < MIN_PREFIX_CHARACTERS) return exact;
  return [...counts.keys()].some(
    (other) => other.startsWith(word) || (other.length >= MIN_PREFIX_CHARACTERS && word.startsWith(other)),
  )
    ? PREFIX_SHARE
    : 0;
}

function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
