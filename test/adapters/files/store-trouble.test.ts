/** The file store on a disk that refuses one change after another, and what it leaves for the next one. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { keepView } from '../../../src/actors/session/event-store.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { FileEventStoreOptions } from '../../../src/adapters/files/file-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { Activation } from '../../../src/machines/session/activation.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { FailingOperations } from '../../support/failing-operations.ts';
import {
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
  START_MS,
  created,
  foldAll,
  idOf,
  message,
  newEvent,
} from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const clock = createSimulatedClock();
let home: TemporaryHome;
const opened: FileEventStore[] = [];
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await home.remove();
});

function open(options: Partial<FileEventStoreOptions> = {}): FileEventStore {
  const store = new FileEventStore({ home: home.path, clock, segmentBytes: 1, checkpointEvents: 1, ...options });
  opened.push(store);
  return store;
}

const activation = (n: number): Activation => ({
  sessionId: SESSION_ID,
  agentId: AGENT_ID,
  causeId: idOf(n),
  kind: 'ingress',
  dueAtMs: START_MS,
  priority: 'normal',
});
const due = async (store: FileEventStore): Promise<string[]> =>
  (await store.activations.due({ nowMs: START_MS + 1, limit: 10 })).due.flatMap(({ activations }) =>
    activations.map(({ causeId }) => causeId),
  );

/** All that a session's life asks of a disk. Gives back what was acknowledged. */
async function live(store: FileEventStore): Promise<string[]> {
  const acknowledged: string[] = [];
  const attempt = async (work: Promise<{ readonly events: readonly { readonly id: string }[] }>): Promise<void> => {
    try {
      acknowledged.push(...(await work).events.map(({ id }) => id));
    } catch (error) {
      if (!RuntimeError.is(error) || !['STORAGE_FAILED', 'SESSION_NOT_FOUND'].includes(error.code)) throw error;
    }
  };
  await attempt(store.create(IDENTITY, [newEvent(1, created)]));
  for (const n of [2, 3, 4]) {
    await attempt(
      store.append(SESSION_ID, [newEvent(n, message(`m${n}`))], {
        activate: [activation(n)],
        settle: n === 3 ? [activation(2)] : [],
      }),
    );
    const state = await store.read(SESSION_ID).then(foldAll, () => undefined);
    if (state !== undefined) await keepView(store, state);
  }
  return acknowledged;
}

describe('whatever change to the disk fails', () => {
  it.each([
    ['ENOSPC', 0],
    ['EIO', 1],
  ])('with %s, what was acknowledged is in the log, which stays readable and goes on', async (code, first) => {
    const count = await (async () => {
      const disk = new FailingOperations();
      expect(await live(open({ operations: disk.operations }))).toEqual([1, 2, 3, 4].map(idOf));
      return disk.done.length;
    })();
    expect(count).toBeGreaterThan(40);
    // Every other one each: which code it is makes no difference to what is done about it.
    for (let number = first; number < count; number += 2) {
      await Promise.all(opened.splice(0).map((store) => store.close()));
      await rm(join(home.path, 'agents'), { recursive: true, force: true });
      const disk = new FailingOperations();
      disk.failWith = (_operation, at) => (at === number ? code : undefined);
      const acknowledged = await live(open({ operations: disk.operations }));
      const what = `change ${number}, ${disk.done[number] ?? ''}`;
      const after = open();
      const found = await after.read(SESSION_ID).then(
        (events) => events.map(({ id }) => id),
        (): string[] => [],
      );
      expect([what, acknowledged.filter((id) => !found.includes(id))]).toEqual([what, []]);
      expect([what, new Set(found).size]).toEqual([what, found.length]);
      if (found.length > 0)
        expect([what, (await after.append(SESSION_ID, [newEvent(9, message('on'))])).events[0]?.seq]).toEqual([
          what,
          found.length + 1,
        ]);
    }
  });

  it('for a copy or a hint after the append, the append is not refused', async () => {
    const disk = new FailingOperations();
    const store = open({ operations: disk.operations, segmentBytes: Infinity });
    await store.create(IDENTITY, [newEvent(1, created)]);
    const isStored = (): boolean => disk.done.some((operation) => operation.startsWith('sync events'));
    disk.failWith = () => (isStored() ? 'EIO' : undefined);
    expect(
      await codeOf(
        store.append(SESSION_ID, [newEvent(2, message('x'))], { activate: [activation(2)], settle: [activation(7)] }),
      ),
    ).toBe('it succeeded');
    expect(await due(open())).toEqual([idOf(2)]);
  });

  it('for the hint before the append, nothing is written at all', async () => {
    const disk = new FailingOperations();
    const store = open({ operations: disk.operations });
    await store.create(IDENTITY, [newEvent(1, created)]);
    disk.failWith = (operation) => (operation.startsWith('createFile') ? 'ENOSPC' : undefined);
    expect(await codeOf(store.append(SESSION_ID, [newEvent(2, message('x'))], { activate: [activation(2)] }))).toBe(
      'STORAGE_FAILED',
    );
    expect(disk.done.filter((operation) => operation.startsWith('append'))).toEqual([]);
    expect(await open().head(SESSION_ID)).toBe(1);
  });
});

describe('the file store', () => {
  it('makes what an append makes due, and takes away what it settles', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await store.append(SESSION_ID, [newEvent(2, message('x'))], { activate: [activation(2)] });
    expect(await due(store)).toEqual([idOf(2)]);
    await store.append(SESSION_ID, [newEvent(3, message('x'))], { settle: [activation(2)] });
    expect(await due(store)).toEqual([]);
  });

  it('lists the others when one session cannot be read, and says what is wrong with that one', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await mkdir(join(home.path, 'agents', AGENT_ID, 'sessions', idOf(70), 'events.jsonl'), { recursive: true });
    expect(await store.list()).toMatchObject([IDENTITY, { sessionId: idOf(70), error: { code: 'STORAGE_FAILED' } }]);
  });

  it('takes a session away with all of its files, also from those who have it open', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    const other = open();
    await other.head(SESSION_ID);
    await store.delete(SESSION_ID, { epoch: 0, isOpen: false });
    expect(await readdir(join(home.path, 'agents', AGENT_ID, 'sessions'))).toEqual([]);
    for (const each of [store, other])
      expect(await codeOf(each.append(SESSION_ID, [newEvent(2, message('x'))]))).toBe('SESSION_NOT_FOUND');
  });

  it('does not take away a session that somebody wakes', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    const right = await store.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
    expect(await codeOf(open().delete(SESSION_ID, { epoch: 0, isOpen: false }))).toBe('SESSION_BUSY');
    await right.release();
    expect(await store.head(SESSION_ID)).toBe(1);
  });

  it('keeps a view of where it stands, and writes no checkpoint again that says the same', async () => {
    const disk = new FailingOperations();
    const store = open({ operations: disk.operations });
    await store.create(IDENTITY, [newEvent(1, created), newEvent(2, message('hello'))]);
    const state = foldAll(await store.read(SESSION_ID));
    await store.saveView(state);
    expect(await readdir(join(home.path, 'agents', AGENT_ID, 'sessions', SESSION_ID, 'runtime'))).toEqual(
      expect.arrayContaining(['checkpoint.json']),
    );
    disk.done.length = 0;
    await store.saveView(state);
    expect(disk.done.filter((operation) => /rename|overwrite/.test(operation))).toEqual(['overwriteFile session.json']);
  });
});
