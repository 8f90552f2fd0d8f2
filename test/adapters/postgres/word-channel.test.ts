/** Words over a real server. */
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { decodeWords, encodeWords } from '../../../src/adapters/postgres/word-payload.ts';
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
