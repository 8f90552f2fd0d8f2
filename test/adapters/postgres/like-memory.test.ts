/** Whatever is done to it, in any order: PostgreSQL answers as the store in memory does. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { EventStore, NewSessionEvents } from '../../../src/actors/session/event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { hint } from '../../../src/testing/hints.ts';
import { claimOf, creation, idOf, messageOf } from '../../../src/testing/session-fixtures.ts';
import { emptyStores } from './empty-stores.ts';

const { open } = emptyStores();

type Command = (store: EventStore) => Promise<unknown>;

const session = fc.integer({ min: 0, max: 2 }).map(idOf);
const eventNumber = fc.integer({ min: 10, max: 40 });
const epoch = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
/** Two that differ in half a character only, and one that holds what ends a text elsewhere. */
const keyName = fc.constantFrom('a', 'b', 'ключ', 'cut \ud83d', 'cut \ud83e', 'a\0', 'json:"a"');
const key = fc.option(keyName, { nil: undefined });
const place = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: -1, max: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 31, 2 ** 40) },
);

const eventsOf = (numbers: readonly number[], under: number | undefined): NewSessionEvents => {
  const [first = messageOf(10, under), ...rest] = numbers.map((n) => messageOf(n, under));
  return [first, ...rest];
};

const someEvents = fc
  .tuple(fc.uniqueArray(eventNumber, { minLength: 1, maxLength: 4 }), epoch)
  .map(([numbers, under]) => eventsOf(numbers, under));
const hints = fc.array(
  fc
    .record({ causeId: fc.constantFrom('x', 'y', 'z'), sessionId: session, dueAtMs: fc.constantFrom(1, 2) })
    .map((part) => hint(part)),
  { maxLength: 2 },
);

const command: fc.Arbitrary<readonly [text: string, run: Command]> = fc.oneof(
  fc
    .tuple(session, eventNumber)
    .map(
      ([id, n]) =>
        [
          `create ${id} ${n}`,
          (store: EventStore) => store.create({ sessionId: id, agentId: 'tester' }, creation(n)),
        ] as const,
    ),
  fc
    .tuple(session, someEvents, key, fc.option(place, { nil: undefined }), hints, hints)
    .map(
      ([sessionId, events, idempotencyKey, expectedHead, activate, settle]) =>
        [
          `append ${JSON.stringify({ sessionId, events, idempotencyKey, expectedHead })}`,
          (store: EventStore) => store.append(sessionId, events, { idempotencyKey, expectedHead, activate, settle }),
        ] as const,
    ),
  fc
    .tuple(session, eventNumber, fc.integer({ min: 1, max: 4 }))
    .map(
      ([id, n, claimed]) =>
        [`claim ${id} ${n} ${claimed}`, (store: EventStore) => store.append(id, claimOf(n, claimed))] as const,
    ),
  fc
    .tuple(session, place, place)
    .map(
      ([id, from, limit]) =>
        [`read ${id} ${from} ${limit}`, (store: EventStore) => store.read(id, { from, limit })] as const,
    ),
  fc
    .tuple(session, place, place)
    .map(
      ([id, from, limit]) =>
        [`records ${id} ${from} ${limit}`, (store: EventStore) => store.records(id, { from, limit })] as const,
    ),
  fc
    .tuple(session, eventNumber)
    .map(([id, n]) => [`find ${id} ${n}`, (store: EventStore) => store.findById(id, idOf(n))] as const),
  fc
    .tuple(session, keyName)
    .map(
      ([id, name]) => [`find ${id} ${JSON.stringify(name)}`, (store: EventStore) => store.findByKey(id, name)] as const,
    ),
  fc.constant(['due', (store: EventStore) => store.activations.due({ nowMs: 1, limit: 10 })] as const),
  fc
    .tuple(session, fc.integer({ min: 0, max: 3 }))
    .map(
      ([id, at]) => [`delete ${id}`, (store: EventStore) => store.delete(id, { epoch: at, isOpen: false })] as const,
    ),
  fc.constant(['list', async (store: EventStore) => (await store.list()).map(({ sessionId }) => sessionId)] as const),
);

/**
 * A database takes a session that is made with the same first event again for a retry whose answer was lost. Nothing is
 * lost on the way to memory.
 */
function madeOnce<Made extends readonly [text: string, ...rest: unknown[]]>(
  commands: readonly Made[],
): readonly Made[] {
  return commands.filter(
    ([text], index) => !text.startsWith('create ') || commands.findIndex(([other]) => other === text) === index,
  );
}

/** What came of it, as far as it has to be the same everywhere. */
async function outcome(store: EventStore, run: Command): Promise<unknown> {
  try {
    return withoutDurability(await run(store));
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    return { code: error.code, category: error.category, details: error.details };
  }
}

function withoutDurability(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('durability' in value)) return value;
  const { durability: _durability, ...rest } = value;
  return rest;
}

it('PostgreSQL answers like the store in memory, whatever is asked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), async (commands) => {
      const postgres = await open({ news: 'poll', pollMs: 86_400_000, slowPollMs: 86_400_000, poolSize: 1 });
      const memory = new MemoryEventStore();
      try {
        for (const [text, run] of madeOnce(commands))
          expect([text, await outcome(postgres, run)]).toEqual([text, await outcome(memory, run)]);
      } finally {
        await postgres.close();
      }
    }),
    { numRuns: 40 },
  );
});
