/** A copy of a whole store: the same logs, under the same keys, whatever interrupted it. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { EventStore, StoredRecord } from '../../../src/actors/session/event-store.ts';
import { copyStore } from '../../../src/actors/session/store-copy.ts';
import type { SessionOutcome, StoreCopy } from '../../../src/actors/session/store-copy.ts';
import { recordText, recordsOfLog } from '../../../src/actors/session/store-copy-log.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import {
  AGENT_ID,
  START_MS,
  claimOf,
  creation,
  idOf,
  messageOf,
  messagesOf,
  numbersTo,
  resultOf,
  toolUseOf,
} from '../../../src/testing/session-fixtures.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const FIRST = { sessionId: idOf(0), agentId: AGENT_ID };
const SECOND = { sessionId: idOf(1_000), agentId: 'other' };

const homes: TemporaryHome[] = [];
const open: EventStore[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  for (const home of homes.splice(0)) await home.remove();
});

async function fileStore(folder = 'home'): Promise<FileEventStore> {
  const home = homes[0] ?? (await temporaryHome());
  if (homes.length === 0) homes.push(home);
  const store = new FileEventStore({
    home: join(home.path, folder),
    clock: createSimulatedClock({ now: START_MS }),
    durability: 'os',
  });
  open.push(store);
  return store;
}

/** Two sessions: one with keys, a wake that has ended and what waits for the next; one that is new. */
async function fill<Store extends EventStore>(store: Store): Promise<Store> {
  await store.create(FIRST, creation(1));
  await store.append(FIRST.sessionId, messagesOf(2, 3), { idempotencyKey: 'k' });
  await store.append(FIRST.sessionId, [toolUseOf(4, { 'ü\u2028': [1e21, -0.5, null], __proto: {} })]);
  await store.append(FIRST.sessionId, [{ ...messageOf(5), type: 'from.tomorrow', v: 7, data: { unheard: 'of' } }]);
  await store.append(FIRST.sessionId, messagesOf(6));
  await store.create(SECOND, creation(1_001));
  return store;
}

async function textOf(store: EventStore, sessionId: string): Promise<readonly string[]> {
  const records: StoredRecord[] = [];
  for await (const record of recordsOfLog(store, sessionId, { from: 1, to: Infinity })) records.push(record);
  return records.map(recordText);
}

const dueIn = async (store: EventStore): Promise<readonly string[]> =>
  (await store.activations.due({ nowMs: START_MS + 1e9, limit: 9 })).due.map(({ sessionId }) => sessionId);
const leftIn = ({ left }: StoreCopy): readonly (readonly [string, string, string])[] =>
  left.map(({ sessionId, kind, error }) => [sessionId, kind, error.code]);

describe('a copy of a store', () => {
  it('has the same events under the same numbers, ids, times, epochs and keys, there and back again', async () => {
    const from = await fill(new MemoryEventStore());
    const files = await fileStore();
    const told: SessionOutcome[] = [];
    const there = await copyStore({ from, to: files, onSession: (outcome) => told.push(outcome) });
    expect(there).toMatchObject({
      sessions: 2,
      copied: 2,
      completed: 0,
      unchanged: 0,
      left: [],
      events: 7,
      added: 7,
      isStopped: false,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(told.map(({ sessionId }) => sessionId).toSorted()).toEqual([FIRST.sessionId, SECOND.sessionId]);
    const back = new MemoryEventStore();
    expect((await copyStore({ from: files, to: back })).sha256).toBe(there.sha256);
    for (const { sessionId } of [FIRST, SECOND]) {
      expect(await textOf(back, sessionId)).toEqual(await textOf(from, sessionId));
      expect(JSON.stringify(await back.read(sessionId))).toBe(JSON.stringify(await from.read(sessionId)));
    }
    expect(await back.identify(SECOND.sessionId)).toEqual(SECOND);
  });

  it('knows a retry of what was appended before, and what is due', async () => {
    const to = await fileStore();
    await copyStore({ from: await fill(new MemoryEventStore()), to });
    const again = await to.append(FIRST.sessionId, messagesOf(90), { idempotencyKey: 'k' });
    expect([again.isDuplicate, again.events.map(({ id }) => id)]).toEqual([true, [idOf(2), idOf(3)]]);
    expect(await dueIn(to)).toEqual([FIRST.sessionId]);
  });

  it('adds what has come since, and nothing when nothing has', async () => {
    const from = await fill(new MemoryEventStore());
    const to = await fileStore();
    const first = await copyStore({ from, to });
    expect(await copyStore({ from, to })).toMatchObject({ copied: 0, unchanged: 2, added: 0, sha256: first.sha256 });
    await from.append(FIRST.sessionId, messagesOf(20, 21), { idempotencyKey: 'later' });
    expect(await copyStore({ from, to })).toMatchObject({ copied: 0, completed: 1, unchanged: 1, added: 2, left: [] });
    expect(await textOf(to, FIRST.sessionId)).toEqual(await textOf(from, FIRST.sessionId));
    expect((await to.append(FIRST.sessionId, messagesOf(91), { idempotencyKey: 'later' })).isDuplicate).toBe(true);
  });

  it('goes on where it was, whenever it was killed', async () => {
    const from = await fill(new MemoryEventStore());
    for (const n of [30, 31])
      await from.append(FIRST.sessionId, [resultOf(n, 1_000)], { idempotencyKey: `large ${n}` });
    const inParts = { firstPartCharacters: 2_500 };
    const whole = await copyStore({ from, to: new MemoryEventStore() });
    const changes = new MortalStore(new MemoryEventStore());
    await copyStore({ from, to: changes, ...inParts });
    expect(changes.changes.filter((change) => change.startsWith('append'))).toHaveLength(1);
    for (const { at, stored } of numbersTo(changes.changes.length).flatMap((n) => [
      { at: n, stored: false },
      { at: n, stored: true },
    ])) {
      const to = new MemoryEventStore();
      await expect(copyStore({ from, to: new MortalStore(to, { at, stored }), ...inParts })).rejects.toThrow('killed');
      expect(await copyStore({ from, to })).toMatchObject({ sha256: whole.sha256, left: [], events: whole.events });
      expect(await textOf(to, FIRST.sessionId)).toEqual(await textOf(from, FIRST.sessionId));
      expect(await dueIn(to)).toEqual([FIRST.sessionId]);
    }
  });

  it('ends between two sessions when it is told to, and can be gone on with', async () => {
    const from = new MemoryEventStore();
    for (const n of numbersTo(40))
      await from.create({ sessionId: idOf(n * 100), agentId: AGENT_ID }, creation(n * 100 + 1));
    const to = new MemoryEventStore();
    const stop = new AbortController();
    const cut = await copyStore({ from, to, signal: stop.signal, onSession: () => stop.abort() });
    expect([cut.isStopped, cut.copied < 40, cut.left]).toEqual([true, true, []]);
    const rest = await copyStore({ from, to });
    expect([rest.isStopped, rest.copied + rest.unchanged, rest.unchanged >= cut.copied]).toEqual([false, 40, true]);
  });
});

describe('a session that is not copied', () => {
  it('is one that went on in the target, or is another one there: it is named and left alone', async () => {
    const from = await fill(new MemoryEventStore());
    const to = await fileStore();
    await copyStore({ from, to });
    await to.append(FIRST.sessionId, messagesOf(50));
    const gone = await copyStore({ from, to });
    expect([leftIn(gone), gone.unchanged]).toEqual([[[FIRST.sessionId, 'diverged', 'STORE_COPY_DIVERGED']], 1]);
    expect(gone.left[0]?.error.message).toContain('ends at event 7, and at event 6 here');
    await from.append(FIRST.sessionId, messagesOf(51, 52));
    const other = await copyStore({ from, to });
    expect(other.left[0]?.error.message).toContain('event 7 is another one there');
    expect(await to.head(FIRST.sessionId)).toBe(7);
  });

  it('has another agent there, or the same events in other records', async () => {
    const from = await fill(new MemoryEventStore());
    const to = new MemoryEventStore();
    await to.create({ ...SECOND, agentId: AGENT_ID }, creation(1_001));
    await to.create(FIRST, [...creation(1), ...messagesOf(2)]);
    expect(leftIn(await copyStore({ from, to })).map(([, kind]) => kind)).toEqual(['diverged', 'diverged']);
  });

  it('is awake; once its wake has ended, or its process has died, it is copied', async () => {
    const from = await fill(await fileStore());
    const right = await from.acquireWakeRight(FIRST.sessionId, { epoch: 0, isOpen: false });
    await from.append(FIRST.sessionId, claimOf(60, right.epoch));
    const to = new MemoryEventStore();
    const busy = await copyStore({ from, to });
    expect([leftIn(busy), busy.copied]).toEqual([[[FIRST.sessionId, 'busy', 'SESSION_BUSY']], 1]);
    await expect(to.head(FIRST.sessionId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await right.release();
    expect(await copyStore({ from, to })).toMatchObject({ left: [], copied: 1, unchanged: 1 });
    expect(await textOf(to, FIRST.sessionId)).toEqual(await textOf(from, FIRST.sessionId));
  });

  it('went on while it was copied, and is not due in the target until the rest is there', async () => {
    const from = await fill(new MemoryEventStore());
    const to = new GrowingTarget(() => from.append(FIRST.sessionId, messagesOf(70)));
    const first = await copyStore({ from, to });
    expect(leftIn(first)).toEqual([[FIRST.sessionId, 'behind', 'STORE_COPY_BEHIND']]);
    expect(await dueIn(to)).toEqual([]);
    expect(await copyStore({ from, to })).toMatchObject({ left: [], completed: 1, added: 1 });
    expect(await dueIn(to)).toEqual([FIRST.sessionId]);
  });

  it('ends all of it only when the target takes nothing more', async () => {
    const from = await fill(new MemoryEventStore());
    const to = new MemoryEventStore();
    await to.close();
    await expect(copyStore({ from, to })).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  });
});

/** The source goes on once, just after the first session was made here. */
class GrowingTarget extends MemoryEventStore {
  #grow: (() => Promise<unknown>) | undefined;

  constructor(grow: () => Promise<unknown>) {
    super();
    this.#grow = grow;
  }

  override async createFromRecords(
    ...given: Parameters<EventStore['createFromRecords']>
  ): ReturnType<EventStore['createFromRecords']> {
    const result = await super.createFromRecords(...given);
    const grow = this.#grow;
    this.#grow = undefined;
    await grow?.();
    return result;
  }
}
