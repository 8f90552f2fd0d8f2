/** Words over a real server. */
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { decodeWords, encodeWords } from '../../../src/adapters/postgres/word-payload.ts';
import type { OnWord } from '../../../src/actors/words/word-channel.ts';
import { IDENTITY, SESSION_ID, creation } from '../../../src/testing/session-fixtures.ts';
import type { SessionWord } from '../../../src/machines/words/session-word.ts';
import { describeWordChannel } from '../../contracts/word-channel.contract.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';

describeWordChannel('PostgreSQL', async () => {
  const database = await migratedDatabase();
  const open = async () => {
    const store = await PostgresEventStore.open({ url: database.url, clock: createSystemClock() });
    return { store, words: store.words };
  };
  const [one, other] = await Promise.all([open(), open()]);
  return {
    one,
    other,
    async dispose() {
      await Promise.all([one.store.close(), other.store.close()]);
      await database.drop();
    },
  };
});

it('are not taken from a follower by another user of the database who speaks under its name', async () => {
  const database = await migratedDatabase();
  const open = () => PostgresEventStore.open({ url: database.url, clock: createSystemClock() });
  const [one, other, stranger] = [await open(), await open(), new Client({ connectionString: database.url })];
  await stranger.connect();
  const asked: string[] = [];
  stranger.on('notification', ({ payload = '' }) => void (/ words [^-]/.test(payload) && asked.push(payload)));
  await stranger.query('LISTEN "wakechart_wakechart"');
  await one.create(IDENTITY, creation(1));
  const words: SessionWord[] = [];
  const told = new Set<OnWord>();
  const speaker = one.words.join((_session, onWord) => {
    told.add(onWord);
    return () => told.delete(onWord);
  });
  const follower = other.words.join(() => () => undefined);
  const leave = follower.follow(SESSION_ID, (word) => words.push(word));
  await expect.poll(() => told.size === 1 && asked.length > 0).toBe(true);
  const say = (payload: string) => stranger.query("SELECT pg_notify('wakechart_wakechart', $1)", [payload]);
  await say(asked[0]?.replace(' words ', ' words -') ?? '');
  const began = [...told];
  // Heard behind the forged one.
  await say(`${crypto.randomUUID()} words ${SESSION_ID}`);
  await expect.poll(() => [...told].some((onWord) => !began.includes(onWord))).toBe(true);
  expect([...told].slice(0, 1)).toEqual(began);
  for (const onWord of told) onWord({ type: 'said', kind: 'text', text: 'Still here' });
  await expect.poll(() => words).toContainEqual({ type: 'said', kind: 'text', text: 'Still here' });
  leave();
  await Promise.all([speaker.close(), follower.close(), stranger.end()]);
  await Promise.all([one.close(), other.close()]);
  await database.drop();
});

describe('words as the text of notifications', () => {
  it('come whole, in as many messages as they take, of which none is longer than one may be', () => {
    const words: SessionWord[] = [
      { type: 'said', kind: 'text', text: '🎉“\u0001'.repeat(5_000) },
      { type: 'said', kind: 'reasoning', text: '字'.repeat(5_000) },
      { type: 'logged', after: 7 },
      { type: 'progress', callId: 'c', name: 'tool', progress: { message: 'x'.repeat(2_000), done: 1 } },
    ];
    const messages = encodeWords(words);
    for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(7_900);
    const read = messages.flatMap((message) => decodeWords(message) ?? []);
    const textOf = (kind: string): string =>
      read.map((word) => (word.type === 'said' && word.kind === kind ? word.text : '')).join('');
    expect(textOf('text')).toBe('🎉“\u0001'.repeat(5_000));
    expect(textOf('reasoning')).toBe('字'.repeat(5_000));
    expect(read.slice(-2)).toEqual([
      { type: 'logged', after: 7 },
      { type: 'progress', callId: 'c', name: 'tool', progress: { done: 1 } },
    ]);
  });

  it('are one empty message where there are none, and nothing where they are no words', () => {
    expect(encodeWords([])).toEqual(['[]']);
    expect(decodeWords('[]')).toEqual([]);
    expect(decodeWords('[{"type":"sung"}]')).toEqual([]);
    expect(decodeWords('{}')).toBeUndefined();
    expect(decodeWords('nonsense')).toBeUndefined();
  });
});
