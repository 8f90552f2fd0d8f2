import { appendFile, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { NewSessionEvents } from '../../../src/actors/session/event-store.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { FileEventStoreOptions } from '../../../src/adapters/files/file-event-store.ts';
import { systemFileOperations } from '../../../src/adapters/files/file-operations.ts';
import type { FileOperations } from '../../../src/adapters/files/file-operations.ts';
import { readCheckpoint } from '../../../src/adapters/files/log-checkpoint.ts';
import { LogSegments } from '../../../src/adapters/files/log-segments.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import {
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
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
  const store = new FileEventStore({ home: home.path, clock, durability: 'os', checkpointEvents: 1, ...options });
  opened.push(store);
  return store;
}

const folder = (): string => join(home.path, 'agents', AGENT_ID, 'sessions', SESSION_ID);
const runtime = (name = ''): string => join(folder(), 'runtime', name);
const messages = (...numbers: readonly [number, ...number[]]): NewSessionEvents => {
  const [first, ...rest] = numbers.map((n) => newEvent(n, message(`m${n}`)));
  return first === undefined ? [newEvent(0, created)] : [first, ...rest];
};

async function checkpointed(store: FileEventStore): Promise<void> {
  await store.saveView(foldAll(await store.read(SESSION_ID)));
}

/** A session of five records, a checkpoint behind the fourth, keys on some. */
async function prepare(options: Partial<FileEventStoreOptions> = {}): Promise<void> {
  const store = open(options);
  await store.create(IDENTITY, [newEvent(1, created)]);
  await store.append(SESSION_ID, messages(2), { idempotencyKey: 'two' });
  await store.append(SESSION_ID, messages(3, 4));
  await checkpointed(store);
  await store.append(SESSION_ID, messages(6), { idempotencyKey: 'six' });
  await checkpointed(store);
  await store.append(SESSION_ID, messages(7));
  await store.close();
}

/** Everything that a reader and a writer find. */
async function answersOf(store: FileEventStore): Promise<unknown> {
  return [
    await store.read(SESSION_ID),
    await store.read(SESSION_ID, { from: 2, limit: 2 }),
    (await store.append(SESSION_ID, messages(3))).isDuplicate,
    (await store.append(SESSION_ID, messages(50), { idempotencyKey: 'two' })).events.map(({ seq }) => seq),
    (await store.findByKey(SESSION_ID, 'six'))?.events.map(({ seq }) => seq),
    (await store.findById(SESSION_ID, idOf(6)))?.events.map(({ seq }) => seq),
    (await store.checkpoint(SESSION_ID))?.head ?? 0,
    await store.head(SESSION_ID),
  ];
}

const EXPECTED_HEAD = 6;

async function indexFile(): Promise<string> {
  const [name, ...others] = (await readdir(runtime())).filter((each) => each.startsWith('log-index.'));
  expect(others).toEqual([]);
  return runtime(name);
}

describe('a checkpoint', () => {
  it('gives the state and the log from where it was made, and what came behind it', async () => {
    await prepare();
    const store = open();
    const state = await store.checkpoint(SESSION_ID);
    expect(state).toEqual(foldAll((await store.read(SESSION_ID)).slice(0, state?.head)));
    expect(Object.isFrozen(state) && Object.isFrozen(state?.pending)).toBe(true);
    expect(await answersOf(store)).toMatchObject([
      { length: EXPECTED_HEAD },
      [{ seq: 2 }, { seq: 3 }],
      true,
      [2],
      [5],
      [5],
      5,
      EXPECTED_HEAD,
    ]);
  });

  it('keeps those who open the session from reading what lies before it', async () => {
    await prepare();
    let read = 0;
    const operations: FileOperations = {
      ...systemFileOperations,
      async openLog(path) {
        const file = await systemFileOperations.openLog(path);
        return {
          ...file,
          read(position, length) {
            read += length;
            return file.read(position, length);
          },
        };
      },
    };
    await open({ operations }).head(SESSION_ID);
    const record = (await readFile(join(folder(), 'events.jsonl'), 'utf8')).split('\n').findLast((line) => line !== '');
    expect(read).toBeLessThanOrEqual((record?.length ?? 0) + 2);
  });

  it('is made only when enough has come since the last one', async () => {
    const store = open({ checkpointEvents: 4 });
    await store.create(IDENTITY, [newEvent(1, created)]);
    await store.append(SESSION_ID, messages(2));
    await checkpointed(store);
    expect(await readdir(runtime())).not.toContain('checkpoint.json');
    await store.append(SESSION_ID, messages(3, 4));
    await checkpointed(store);
    const first = await readFile(runtime('checkpoint.json'), 'utf8');
    await store.append(SESSION_ID, messages(5));
    await checkpointed(store);
    expect(await readFile(runtime('checkpoint.json'), 'utf8')).toBe(first);
    // The view is as new as can be.
    expect((await open().checkpoint(SESSION_ID))?.head).toBe(5);
  });

  it('that is damaged, at whichever byte of checkpoint.json, is the same or none', async () => {
    await prepare();
    const where = {
      sessionId: SESSION_ID,
      directory: folder(),
      operations: systemFileOperations,
      segments: new LogSegments(folder(), systemFileOperations),
    };
    const whole = await readFile(runtime('checkpoint.json'));
    const expected = await readCheckpoint(where);
    expect(expected?.state.head).toBe(5);
    const wrong: number[] = [];
    for (let position = 0; position < whole.length; position += 1) {
      const bytes = Buffer.from(whole);
      bytes[position] = (whole[position] ?? 0) ^ 0x01;
      await writeFile(runtime('checkpoint.json'), bytes);
      const found = await readCheckpoint(where);
      if (found !== undefined && JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(position);
    }
    expect(wrong).toEqual([]);
  });

  it('whose index is damaged, at whichever byte, changes nothing that anybody finds', async () => {
    await prepare();
    const path = await indexFile();
    const whole = await readFile(path);
    const answers = async (): Promise<unknown> => {
      const store = open();
      const found = [
        await store.read(SESSION_ID),
        await store.findById(SESSION_ID, idOf(3)),
        await store.findByKey(SESSION_ID, 'six'),
      ];
      await store.close();
      opened.pop();
      return found;
    };
    const expected = await answers();
    for (let position = 0; position < whole.length; position += 1) {
      const bytes = Buffer.from(whole);
      bytes[position] = (whole[position] ?? 0) ^ 0x01;
      await writeFile(path, bytes);
      expect([position, await answers()]).toEqual([position, expected]);
    }
  });

  it.each([['checkpoint.json'], ['the index']])('whose %s was cut off is made again', async (name) => {
    await prepare();
    const path = name === 'the index' ? await indexFile() : runtime(name);
    const whole = await readFile(path);
    for (let length = 0; length < whole.length; length += 7) {
      await writeFile(path, whole.subarray(0, length));
      const store = open();
      expect(await store.head(SESSION_ID)).toBe(EXPECTED_HEAD);
      expect(await store.read(SESSION_ID, { from: 1, limit: 3 })).toHaveLength(3);
      await store.close();
    }
    const store = open();
    await store.append(SESSION_ID, messages(8));
    await checkpointed(store);
    await indexFile();
    expect((await open().checkpoint(SESSION_ID))?.head).toBe(EXPECTED_HEAD + 1);
  });

  it('of another log is not believed', async () => {
    await prepare();
    const [checkpoint, index, view] = [
      await readFile(runtime('checkpoint.json')),
      await readFile(await indexFile()),
      await readFile(join(folder(), 'session.json')),
    ];
    const indexName = (await indexFile()).slice(runtime().length);
    await rm(folder(), { recursive: true });
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await store.append(
      SESSION_ID,
      messages(...(Array.from({ length: 30 }, (_, n) => 100 + n) as [number, ...number[]])),
    );
    await store.close();
    await writeFile(runtime('checkpoint.json'), checkpoint);
    await writeFile(runtime(indexName), index);
    await writeFile(join(folder(), 'session.json'), view);
    const other = open();
    expect(await other.checkpoint(SESSION_ID)).toBeUndefined();
    expect((await other.read(SESSION_ID)).map(({ id }) => id)).toEqual([
      idOf(1),
      ...Array.from({ length: 30 }, (_, n) => idOf(100 + n)),
    ]);
  });

  it('behind the end of a log that was cut is not believed', async () => {
    await prepare();
    await truncate(join(folder(), 'events.jsonl'), 300);
    await rm(join(folder(), 'session.json'));
    await expect(open().checkpoint(SESSION_ID)).resolves.toBeUndefined();
    expect(await codeOf(open().read(SESSION_ID))).toBe('SESSION_HISTORY_LOST');
  });

  it.each([[0], [13], [40]])(
    'of which a crash left %s bytes of the next is completed with the same ones',
    async (bytes) => {
      await prepare();
      const [checkpoint, path] = [await readFile(runtime('checkpoint.json')), await indexFile()];
      const before = await readFile(path);
      await checkpointed(open());
      const after = await readFile(path);
      expect(after.length).toBeGreaterThan(before.length);
      await writeFile(runtime('checkpoint.json'), checkpoint);
      await truncate(path, before.length + bytes);
      await checkpointed(open());
      expect(await indexFile()).toBe(path);
      expect(await readFile(path)).toEqual(after);
    },
  );

  it('behind which something else was written goes on under another name', async () => {
    await prepare();
    const path = await indexFile();
    await appendFile(path, 'not what follows from the log');
    const store = open();
    await checkpointed(store);
    expect(await indexFile()).not.toBe(path);
    for (const each of [store, open()])
      expect(await answersOf(each)).toMatchObject([
        { length: EXPECTED_HEAD },
        {},
        true,
        [2],
        [5],
        [5],
        EXPECTED_HEAD,
        EXPECTED_HEAD,
      ]);
  });

  it('made by several at once is one of theirs', async () => {
    await prepare();
    const stores = Array.from({ length: 4 }, () => open());
    await Promise.all(stores.map((store) => store.head(SESSION_ID)));
    await open().append(SESSION_ID, messages(9, 10));
    await Promise.all(stores.map((store) => checkpointed(store)));
    const store = open();
    expect(await store.checkpoint(SESSION_ID)).toMatchObject({ head: EXPECTED_HEAD + 2 });
    expect(await store.read(SESSION_ID)).toHaveLength(EXPECTED_HEAD + 2);
    expect((await store.append(SESSION_ID, messages(2))).isDuplicate).toBe(true);
    await indexFile();
  });

  it('that cannot be written fails nothing that is stored, and is made later', async () => {
    let isFull = false;
    const refuse = (): void => {
      if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    };
    const operations: FileOperations = {
      ...systemFileOperations,
      async createFile(path, content) {
        if (path.includes('checkpoint')) refuse();
        await systemFileOperations.createFile(path, content);
      },
    };
    await prepare();
    const store = open({ operations });
    await store.append(SESSION_ID, messages(8));
    isFull = true;
    await expect(checkpointed(store)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect((await store.append(SESSION_ID, messages(9))).events[0]?.seq).toBe(EXPECTED_HEAD + 2);
    expect((await store.append(SESSION_ID, messages(2))).isDuplicate).toBe(true);
    isFull = false;
    await checkpointed(store);
    expect((await open().checkpoint(SESSION_ID))?.head).toBe(EXPECTED_HEAD + 2);
    expect((await store.append(SESSION_ID, messages(8))).isDuplicate).toBe(true);
  });

  it('does not make an old id cost more than checking it up once', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1_000_000, created)]);
    await checkpointed(store);
    const other = open();
    for (let n = 2; n < 40; n += 1) expect((await other.append(SESSION_ID, messages(n))).isDuplicate).toBe(false);
    expect((await other.append(SESSION_ID, messages(20))).events[0]?.seq).toBe(20);
  });
});
