/** Any user of a database can ask every process for words: what comes of it when one asks for very many. */
import { expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { OnWord } from '../../../src/actors/words/word-channel.ts';
import { PostgresWordChannel } from '../../../src/adapters/postgres/postgres-word-channel.ts';
import { SESSION_ID, idOf } from '../../../src/testing/session-fixtures.ts';

const MANY = 10_000;

const EVIL = { name: 'evil', connection: 1 };
const GOOD = { name: 'good', connection: 2 };

function speaker() {
  const followers = new Map<string, OnWord>();
  const channel = new PostgresWordChannel({
    clock: createSimulatedClock(),
    schemaName: 'wakechart',
    notifications: {
      name: crypto.randomUUID(),
      listen: async () => undefined,
      unlisten: () => undefined,
      notify: async () => undefined,
      askForWords: () => undefined,
    },
    firstEventId: async (sessionId) => sessionId,
  });
  channel.join((sessionId, onWord) => {
    followers.set(sessionId, onWord);
    return () => void followers.delete(sessionId);
  });
  return { channel, followers };
}

it('those who ask for nonsense take no place', () => {
  const { channel, followers } = speaker();
  channel.asked(
    EVIL,
    Array.from({ length: MANY }, (_, each) => String(each)),
  );
  expect(followers.size).toBe(0);
});

it('those who ask for very many sessions keep no other one from being told', () => {
  const { channel, followers } = speaker();
  const others = Array.from({ length: MANY }, (_, each) => idOf(1_000 + each));
  channel.asked(EVIL, others);
  channel.asked(GOOD, [SESSION_ID]);
  expect(followers.has(SESSION_ID)).toBe(true);
  followers.get(SESSION_ID)?.({ type: 'said', kind: 'text', text: 'Hello' });
  channel.asked({ ...EVIL, name: 'worse' }, others);
  expect(followers.has(SESSION_ID)).toBe(true);
});

it('one who takes words back under the name of another takes none from it; what that one takes back is taken', () => {
  const { channel, followers } = speaker();
  const forged = { ...GOOD, connection: EVIL.connection };
  channel.asked(forged, [SESSION_ID]);
  channel.asked(GOOD, [SESSION_ID]);
  for (let times = 0; times < 3; times += 1) channel.asked(forged, [`-${SESSION_ID}`]);
  expect(followers.has(SESSION_ID)).toBe(true);
  channel.asked(GOOD, [`-${SESSION_ID}`]);
  expect(followers.has(SESSION_ID)).toBe(false);
});
