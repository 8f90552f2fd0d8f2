/**
 * Text and numbers that JavaScript has and PostgreSQL has not: they are stored as they are, or refused before anything
 * is sent.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { createPostgresWorkspaceCopyStore } from '../../../src/adapters/postgres/workspace-copy-store.ts';
import type { NewSessionEvent } from '../../../src/machines/session/session-event.ts';
import { IDENTITY, SESSION_ID, creation, idOf, messageOf, messagesOf } from '../../../src/testing/session-fixtures.ts';
import { emptyStores } from './empty-stores.ts';

const { open } = emptyStores();

let store: PostgresEventStore;
beforeEach(async () => {
  store = await open({ news: 'poll' });
  await store.create(IDENTITY, creation(1));
});
afterEach(() => store.close());

describe('an idempotency key', () => {
  it('that was cut in the middle of an emoji is not taken for another one', async () => {
    await store.append(SESSION_ID, messagesOf(2), { idempotencyKey: 'order-\ud83d' });
    const second = await store.append(SESSION_ID, messagesOf(3), { idempotencyKey: 'order-\ud83e' });
    expect([second.isDuplicate, await store.head(SESSION_ID)]).toEqual([false, 3]);
  });

  it.each([
    ['half a character', 'a\udc00b'],
    ['NUL', 'a\0b'],
    ['a quote and a backslash', 'a"\\u0000'],
    ['what looks like an escape', 'json:"a"'],
    ['the beginning of one', 'json:'],
    ['nothing', ''],
    ['200 halves', '\ud83d'.repeat(200)],
  ])(
    'with %s is found again, is a duplicate the second time, and is copied as it is',
    async (_name, idempotencyKey) => {
      await store.append(SESSION_ID, messagesOf(2), { idempotencyKey });
      expect(await store.append(SESSION_ID, messagesOf(3), { idempotencyKey })).toMatchObject({ isDuplicate: true });
      expect((await store.findByKey(SESSION_ID, idempotencyKey))?.events.map(({ id }) => id)).toEqual([idOf(2)]);
      const records = await store.records(SESSION_ID);
      expect(records.map(({ key }) => key)).toEqual([undefined, idempotencyKey]);
      await store.createFromRecords({ ...IDENTITY, sessionId: idOf(90) }, [
        { events: creation(91) },
        { events: messagesOf(92), key: idempotencyKey },
      ]);
      expect(await store.findByKey(idOf(90), idempotencyKey)).toMatchObject({ isDuplicate: true });
    },
  );

  it('that an index cannot take is refused, and nobody has it', async () => {
    const idempotencyKey = Array.from({ length: 4_000 }, (_, index) =>
      String.fromCodePoint(0x4e_00 + ((index * 7_919) % 20_000)),
    ).join('');
    await expect(store.append(SESSION_ID, messagesOf(2), { idempotencyKey })).rejects.toMatchObject({
      code: 'SESSION_EVENT_INVALID',
      message: expect.stringContaining('2048 bytes') as string,
    });
    expect([await store.head(SESSION_ID), await store.findByKey(SESSION_ID, idempotencyKey)]).toEqual([1, undefined]);
  });
});

describe('an event', () => {
  const message = messageOf(2);
  it.each<[string, NewSessionEvent]>([
    ['half a character in its type', { ...message, type: 'custom.\ud83d' }],
    ['NUL in its type', { ...message, type: 'custom.\0' }],
    ['half a character in its time', { ...message, at: '2026\ud83d' }],
    ['a version that no integer holds', { ...message, type: 'custom.one', v: 2 ** 31 }],
    ['an epoch that no integer holds', { ...message, epoch: 2 ** 31 }],
    ['an epoch after which there could be no wake', { ...message, epoch: 2 ** 31 - 1 }],
  ])('with %s is refused', async (_name, event) => {
    await expect(store.append(SESSION_ID, [event])).rejects.toMatchObject({ code: 'SESSION_EVENT_INVALID' });
    await expect(
      store.createFromRecords({ ...IDENTITY, sessionId: idOf(90) }, [{ events: [event] }]),
    ).rejects.toMatchObject({ code: 'SESSION_EVENT_INVALID' });
    expect(await store.head(SESSION_ID)).toBe(1);
  });
});

it('a file for a workspace may have a name with bytes that are no text, or one longer than an index takes', async () => {
  const copies = createPostgresWorkspaceCopyStore({ database: store.database });
  const long = Array.from({ length: 40 }, (_, folder) =>
    Array.from({ length: 90 }, (_entry, index) =>
      String.fromCodePoint(0x4e_00 + (((folder * 90 + index) * 7_919) % 20_000)),
    ).join(''),
  ).join('/');
  const files = ['workspace/\udc80', 'workspace/\udc81', `workspace/${long}`].map((path) => ({
    kind: 'file' as const,
    path,
    mode: 0o644,
    size: 0,
    pieces: [],
  }));
  for (const file of files) await copies.add(SESSION_ID, file);
  expect((await copies.latest(SESSION_ID))?.added).toEqual(files);
  await copies.record(SESSION_ID, {
    epoch: 1,
    host: { id: 'here', name: 'here' },
    settled: ['workspace/\udc80', `workspace/${long}`],
  });
  expect((await copies.latest(SESSION_ID))?.added.map(({ path }) => path)).toEqual(['workspace/\udc81']);
});
