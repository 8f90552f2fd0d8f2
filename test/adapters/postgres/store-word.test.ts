/** How a database is named in a command that is shown. */
import { describe, expect, it } from 'vitest';
import { shownUrl } from '../../../src/adapters/postgres/postgres-url.ts';
import { storeWord } from '../../../src/adapters/postgres/postgres-options.ts';

describe('a database in a command', () => {
  it.each([
    [{ url: 'postgres://worker@db.example.com:5432/work' }, 'postgres://worker@db.example.com:5432/work'],
    [{ url: 'postgresql://db/work', schema: 'team_a' }, 'postgres://db/work?schema=team_a'],
    [{ url: 'postgres://worker:geheim@db/work' }, 'URL'],
    [{ url: 'postgres://worker@db/work?password=geheim' }, 'URL'],
    [{ url: 'host=db password=geheim' }, 'URL'],
    [{ url: 'postgres://user:7/geheim@db/work' }, 'URL'],
    [{ url: 'postgres://user:7?geheim@db/work' }, 'URL'],
    [{ url: 'postgres://user:7#geheim@db/work' }, 'URL'],
    [{ url: 'postgres://user:7@me/geheim@db/work' }, 'URL'],
  ])('%j is %s', (place, word) => {
    expect(storeWord(place)).toBe(word);
  });

  it('is told in errors without user and password, and not at all where a password may have ended it', () => {
    expect(
      [
        'postgres://worker:geheim@db:5432/work?sslmode=require',
        'postgres://user:7/geheim@db/work',
        'postgres://user:42?geheim@db/work',
      ].map(shownUrl),
    ).toEqual(['postgres://db:5432/work', 'postgres://…', 'postgres://…']);
  });
});
