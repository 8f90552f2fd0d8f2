/** What every event store does, whatever it stands on. Each adapter runs this suite against itself. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { MAX_RECORD_BYTES } from '../../src/machines/session/limits.ts';
import { MAX_READ_EVENTS } from '../../src/actors/session/event-store.ts';
import type { EventStore, NewSessionEvents } from '../../src/actors/session/event-store.ts';
import { AGENT_ID, IDENTITY, SESSION_ID, created, foldAll, idOf, message, newEvent, wakeStarted } from '../support/session-events.ts';

export interface StoreUnderTest {
  readonly store: EventStore;
  /** Lets go of everything, the store included. */
  dispose(): Promise<void>;
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'it succeeded',
    (error: unknown) => (RuntimeError.is(error) ? error.code : `not a RuntimeError: ${String(error)}`),
  );
}

const events = (...numbers: number[]): NewSessionEvents => {
  const [first = 0, ...rest] = numbers;
  return [newEvent(first, message(`m${first}`)), ...rest.map((n) => newEvent(n, message(`m${n}`)))];
};
const claim = (n: number, epoch: number): NewSessionEvents => [newEvent(n, wakeStarted(epoch), epoch)];
const FIRST: NewSessionEvents = [newEvent(1, created)];

export function describeEventStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name}, as an event store,`, () => {
    let store: EventStore;
    let dispose: () => Promise<void>;

    beforeEach(async () => {
      ({ store, dispose } = await open());
      await store.create(IDENTITY, FIRST);
    });
    afterEach(() => dispose());

    const texts = async (from?: number): Promise<unknown[]> => (await store.read(SESSION_ID, { from })).map(({ seq, id }) => [seq, id]);

    describe('creating a session', () => {
      it('stores its first events', async () => {
        expect(await store.read(SESSION_ID)).toEqual([{ ...FIRST[0], seq: 1, sessionId: SESSION_ID }]);
        expect(await store.identify(SESSION_ID)).toEqual(IDENTITY);
        expect(await store.head(SESSION_ID)).toBe(1);
      });

      it('is refused when the session is there, which stays as it is', async () => {
        expect(await codeOf(store.create(IDENTITY, events(9)))).toBe('SESSION_EXISTS');
        expect(await texts()).toEqual([[1, idOf(1)]]);
      });
    });

    it.each<[string, (store: EventStore, id: string) => Promise<unknown>]>([
      ['identified', (s, id) => s.identify(id)],
      ['appended to', (s, id) => s.append(id, events(2))],
      ['read', (s, id) => s.read(id)],
      ['measured', (s, id) => s.head(id)],
      ['searched', (s, id) => s.findByKey(id, 'k')],
    ])('a session that is not there cannot be %s', async (_what, use) => {
      expect(await codeOf(use(store, idOf(99)))).toBe('SESSION_NOT_FOUND');
      expect(await codeOf(use(store, '../../etc'))).toBe('SESSION_NOT_FOUND');
    });

    describe('appending', () => {
      it('gives each event the next number and says how durable it is', async () => {
        const result = await store.append(SESSION_ID, events(2, 3));
        expect(result).toMatchObject({ isDuplicate: false, durability: store.durability });
        expect(result.events.map(({ seq, id }) => [seq, id])).toEqual([[2, idOf(2)], [3, idOf(3)]]);
        expect(await texts()).toEqual([[1, idOf(1)], [2, idOf(2)], [3, idOf(3)]]);
      });

      it('returns exactly what a reader gets', async () => {
        const { events: appended } = await store.append(SESSION_ID, [newEvent(2, { type: 'agent.tool_use', data: { callId: 'c', name: 'n', input: { a: [1, 'ü\u2028\n', null] }, spanId: 's' } })]);
        expect(await store.read(SESSION_ID, { from: 2 })).toEqual(appended);
      });

      it('keeps nothing that the caller can still change', async () => {
        const input = { list: ['before'] };
        await store.append(SESSION_ID, [newEvent(2, { type: 'agent.tool_use', data: { callId: 'c', name: 'n', input, spanId: 's' } })]);
        input.list[0] = 'after';
        expect(JSON.stringify(await store.read(SESSION_ID, { from: 2 }))).toContain('before');
      });

      it('keeps the numbers dense under many appenders', async () => {
        const results = await Promise.all(Array.from({ length: 64 }, (_, index) => store.append(SESSION_ID, events(100 + index))));
        const numbers = results.map(({ events: [event] }) => event?.seq).toSorted((one = 0, other = 0) => one - other);
        expect(numbers).toEqual(Array.from({ length: 64 }, (_, index) => index + 2));
        expect(await store.head(SESSION_ID)).toBe(65);
      });

      it('stores once under one key, and gives the first result again', async () => {
        const first = await store.append(SESSION_ID, events(2, 3), { idempotencyKey: 'k' });
        await store.append(SESSION_ID, events(4));
        const again = await store.append(SESSION_ID, events(5), { idempotencyKey: 'k' });
        expect(again).toEqual({ ...first, isDuplicate: true });
        expect(await store.findByKey(SESSION_ID, 'k')).toEqual(again);
        expect(await store.findByKey(SESSION_ID, 'other')).toBeUndefined();
        expect(await store.head(SESSION_ID)).toBe(4);
      });

      it('stores once under one key when it is used many times at once', async () => {
        const results = await Promise.all(Array.from({ length: 16 }, (_, index) => store.append(SESSION_ID, events(100 + index), { idempotencyKey: 'k' })));
        expect(new Set(results.map((result) => JSON.stringify(result.events))).size).toBe(1);
        expect(results.filter(({ isDuplicate }) => !isDuplicate)).toHaveLength(1);
        expect(await store.head(SESSION_ID)).toBe(2);
      });

      it('stores an event once, however often it is appended', async () => {
        const first = await store.append(SESSION_ID, events(2));
        expect(await store.append(SESSION_ID, events(2))).toEqual({ ...first, isDuplicate: true });
        expect(await store.head(SESSION_ID)).toBe(2);
      });

      it('is refused when the head was expected elsewhere, and leaves no trace', async () => {
        await store.append(SESSION_ID, events(2));
        expect(await codeOf(store.append(SESSION_ID, events(3), { expectedHead: 1 }))).toBe('HEAD_MOVED');
        expect(await store.head(SESSION_ID)).toBe(2);
        expect(await codeOf(store.append(SESSION_ID, events(3), { expectedHead: 2 }))).toBe('it succeeded');
      });

      it('at an expected head is won by exactly one of many', async () => {
        const codes = await Promise.all(Array.from({ length: 16 }, (_, index) => codeOf(store.append(SESSION_ID, events(100 + index), { expectedHead: 1 }))));
        expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(1);
        expect(codes.filter((code) => code === 'HEAD_MOVED')).toHaveLength(15);
        expect(await store.head(SESSION_ID)).toBe(2);
      });

      it('is refused to a wake that was superseded', async () => {
        await store.append(SESSION_ID, claim(2, 1));
        await store.append(SESSION_ID, claim(3, 2));
        expect(await codeOf(store.append(SESSION_ID, [newEvent(4, message('zombie'), 1)]))).toBe('EPOCH_SUPERSEDED');
        expect(await store.head(SESSION_ID)).toBe(3);
      });

      it('lets exactly one of many claim an epoch', async () => {
        const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => codeOf(store.append(SESSION_ID, claim(100 + index, 1)))));
        expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(1);
        expect(codes.filter((code) => code === 'EPOCH_SUPERSEDED')).toHaveLength(7);
      });

      it('refuses what is too large, and what is no JSON', async () => {
        const large = [newEvent(2, { type: 'agent.tool_result', data: { callId: 'c', name: 'n', outcome: 'completed', output: 'x'.repeat(MAX_RECORD_BYTES) } })] as const;
        expect(await codeOf(store.append(SESSION_ID, large))).toBe('RECORD_TOO_LARGE');
        const cyclic: { self?: unknown } = {};
        cyclic.self = cyclic;
        expect(await codeOf(store.append(SESSION_ID, [{ ...newEvent(2, message('x')), data: cyclic }]))).toBe('SESSION_EVENT_INVALID');
        expect(await codeOf(store.append(SESSION_ID, [{ ...newEvent(2, message('x')), id: 'no uuid' }]))).toBe('SESSION_EVENT_INVALID');
        expect(await codeOf(store.append(SESSION_ID, [newEvent(2, message('x'), 1), newEvent(3, message('y'), 2)]))).toBe('SESSION_EVENT_INVALID');
        expect(await store.head(SESSION_ID)).toBe(1);
      });

      it('of a bad one does not hurt the good ones beside it', async () => {
        const outcomes = await Promise.all([
          codeOf(store.append(SESSION_ID, events(2))),
          codeOf(store.append(SESSION_ID, [{ ...newEvent(3, message('x')), id: 'no uuid' }])),
          codeOf(store.append(SESSION_ID, events(4))),
        ]);
        expect(outcomes).toEqual(['it succeeded', 'SESSION_EVENT_INVALID', 'it succeeded']);
        expect(await store.head(SESSION_ID)).toBe(3);
      });
    });

    describe('reading', () => {
      beforeEach(async () => {
        for (let n = 2; n < 1_500; n += 100) await store.append(SESSION_ID, events(...Array.from({ length: 100 }, (_, index) => n + index)));
      });

      it('begins at any number and goes on page by page', async () => {
        expect(await store.read(SESSION_ID, { from: 700, limit: 3 })).toMatchObject([{ seq: 700, id: idOf(700) }, { seq: 701 }, { seq: 702, id: idOf(702) }]);
        const pages = [await store.read(SESSION_ID), await store.read(SESSION_ID, { from: MAX_READ_EVENTS + 1 })];
        expect(pages.map((page) => page.length)).toEqual([MAX_READ_EVENTS, 501]);
        expect(pages.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 1_501 }, (_, index) => index + 1));
        expect(foldAll(pages.flat()).messages).toBe(1_500);
      });

      it('ends where the log ends, and begins at the start when asked for less', async () => {
        expect(await store.read(SESSION_ID, { from: 1_502 })).toEqual([]);
        expect(await store.read(SESSION_ID, { from: -5, limit: 1 })).toMatchObject([{ seq: 1 }]);
        expect(await store.read(SESSION_ID, { limit: 0 })).toEqual([]);
      });

      it('of one page never gives more than the most', async () => {
        expect(await store.read(SESSION_ID, { limit: 1_000_000 })).toHaveLength(MAX_READ_EVENTS);
      });
    });

    describe('listing', () => {
      it('knows every session, oldest first, and those of one agent', async () => {
        const other = { sessionId: idOf(50), agentId: 'other' };
        const third = { sessionId: idOf(40), agentId: AGENT_ID };
        await store.create(other, [newEvent(51, created)]);
        await store.create(third, [newEvent(52, created)]);
        expect((await store.list()).map(({ sessionId }) => sessionId)).toEqual([SESSION_ID, idOf(40), idOf(50)]);
        expect(await store.list({ agentId: 'other' })).toMatchObject([other]);
        expect(await store.list({ agentId: 'nobody' })).toEqual([]);
      });

      it('offers a kept view until the log goes on', async () => {
        const state = foldAll(await store.read(SESSION_ID));
        await store.saveView(state);
        expect(await store.list()).toMatchObject([{ sessionId: SESSION_ID, view: JSON.parse(JSON.stringify(state)) as object }]);
        await store.append(SESSION_ID, events(2));
        expect((await store.list())[0]).not.toHaveProperty('view');
      });
    });

    describe('a kept state', () => {
      it('is there to fold on from, also when the log has gone on', async () => {
        expect(await store.checkpoint(SESSION_ID)).toBeUndefined();
        await store.append(SESSION_ID, events(2));
        const kept = foldAll(await store.read(SESSION_ID));
        await store.saveView(kept);
        await store.append(SESSION_ID, events(3));
        const state = await store.checkpoint(SESSION_ID);
        expect(state).toEqual(kept);
        expect(foldAll(await store.read(SESSION_ID, { from: 3 }), state)).toEqual(foldAll(await store.read(SESSION_ID)));
      });

      it('cannot be changed by whoever gets it', async () => {
        await store.saveView(foldAll(await store.read(SESSION_ID)));
        const state = await store.checkpoint(SESSION_ID);
        expect(Object.isFrozen(state) && Object.isFrozen(state?.pending)).toBe(true);
      });

      it('of a session that is not there is not found', async () => {
        expect(await codeOf(store.checkpoint(idOf(99)))).toBe('SESSION_NOT_FOUND');
      });
    });

    describe('watching', () => {
      it('tells when something was appended, until it is ended', async () => {
        let heard = 0;
        let notify: () => void = () => undefined;
        const stop = store.watch(SESSION_ID, () => {
          heard += 1;
          notify();
        });
        const told = (): Promise<void> =>
          new Promise((resolve) => {
            notify = resolve;
          });
        const change = told();
        await store.append(SESSION_ID, events(2));
        await change;
        stop();
        stop();
        const before = heard;
        await store.append(SESSION_ID, events(3));
        expect(heard).toBe(before);
      });

      it('of a session that is not there harms nobody', () => {
        expect(() => store.watch(idOf(99), () => undefined)()).not.toThrow();
      });
    });

    it('refuses everything once it is closed', async () => {
      await store.close();
      await store.close();
      expect(await codeOf(store.append(SESSION_ID, events(2)))).toBe('STORE_CLOSED');
      expect(await codeOf(store.read(SESSION_ID))).toBe('STORE_CLOSED');
      expect(await codeOf(store.list())).toBe('STORE_CLOSED');
      expect(await codeOf(store.create({ sessionId: idOf(60), agentId: AGENT_ID }, FIRST))).toBe('STORE_CLOSED');
    });
  });
}
