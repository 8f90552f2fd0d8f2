/** How a database is named in a command that is shown. */
import { describe, expect, it } from 'vitest';
import { storeWord } from '../../../src/adapters/postgres/store-word.ts';

describe('a database in a command', () => {
  it.each([
    [{ url: 'postgres://worker@db.example.com:5432/work' }, 'postgres://worker@db.example.com:5432/work'],
    [{ url: 'postgresql://db/work', schema: 'team_a' }, 'postgres://db/work?schema=team_a'],
    [{ url: 'postgres://worker:geheim@db/work' }, 'URL'],
    [{ url: 'postgres://worker@db/work?password=geheim' }, 'URL'],
    [{ url: 'host=db password=geheim' }, 'URL'],
  ])('%j is %s', (place, word) => {
    expect(storeWord(place)).toBe(word);
  });
});
