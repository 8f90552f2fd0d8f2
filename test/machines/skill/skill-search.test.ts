import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headingsOf } from '../../../src/machines/skill/skill-definition.ts';
import type { Skill } from '../../../src/machines/skill/skill-definition.ts';
import { searchSkills } from '../../../src/machines/skill/skill-search.ts';

const skill = (name: string, description: string, instructions = '', tags: readonly string[] = []): Skill => ({
  name,
  description,
  instructions,
  tags,
  scope: 'home',
});

const SKILLS = [
  skill('release-notes', 'Writes the notes of a release.', '# Collect commits\n\nUse `git log`.'),
  skill('code-review', 'Reviews a change before it is merged.', '# Read the diff\n\nCheck for release blockers.', [
    'git',
  ]),
  skill('database-migration', 'Moves a schema on.', '# Steps\n\nWrite a migration, then migrate.'),
];

const namesOf = (query: string): readonly string[] => searchSkills(SKILLS, query).map(({ name }) => name);

describe('a search for skills', () => {
  it('puts names before descriptions, and those before headings and texts', () => {
    expect(namesOf('release')).toEqual(['release-notes', 'code-review']);
    expect(namesOf('How to write the release notes?')[0]).toBe('release-notes');
    expect(searchSkills(SKILLS, 'git')).toMatchObject([
      { name: 'code-review', foundIn: ['tags'] },
      { name: 'release-notes', foundIn: ['body'] },
    ]);
  });

  it('finds beginnings of words, and nothing by words that say nothing', () => {
    expect(namesOf('migrations')).toEqual(['database-migration']);
    expect(namesOf('review')).toEqual(['code-review']);
    expect(namesOf('kubernetes')).toEqual([]);
    expect(namesOf('...')).toEqual([]);
  });

  it('gives the same answer for the same words, bounded, whatever they are and in whatever order the skills come', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.shuffledSubarray(SKILLS, { minLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        (query, skills, limit) => {
          const hits = searchSkills(skills, query, limit);
          expect(hits).toEqual(searchSkills(SKILLS, query, limit));
          expect(hits.length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});

describe('headings', () => {
  it('are those outside of fenced blocks', () => {
    expect(headingsOf('# One\ntext # no\n```sh\n# a comment\n```\n## Two ##\n~~~\n# no\n```\n~~~\n### Three')).toEqual([
      'One',
      'Two',
      'Three',
    ]);
  });
});
