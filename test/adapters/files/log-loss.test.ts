/**
 * A log of which something acknowledged is gone: whatever was taken, reading, writing and the doctor find it, and
 * nothing goes on without a word.
 */
import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { acceptLoss } from '../../../src/adapters/files/accepted-loss.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { FileEventStoreOptions } from '../../../src/adapters/files/file-event-store.ts';
import { systemFileOperations } from '../../../src/adapters/files/file-operations.ts';
import type { FileOperations } from '../../../src/adapters/files/file-operations.ts';
import { encodeRecord } from '../../../src/adapters/files/record-codec.ts';
import { examineSession } from '../../../src/adapters/files/session-examination.ts';
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
const ids = createIdSource({ clock });
let home: TemporaryHome;
const opened: FileEventStore[] = [];
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await home.remove();
});

const folder = (): string => join(home.path, 'agents', AGENT_ID, 'sessions', SESSION_ID);
const log = (): string => join(folder(), 'events.jsonl');

function open(options: Partial<FileEventStoreOptions> = {}): FileEventStore {
  const store = new FileEventStore({ home: home.path, clock, durability: 'os', ...options });
  opened.push(store);
  return store;
}

const add = (store: FileEventStore, n: number): Promise<unknown> =>
  store.append(SESSION_ID, [newEvent(n, message(`m${n}`))]);

/** The records of the log, as they stand in it. */
async function lines(): Promise<string[]> {
  return (await readFile(log(), 'utf8')).split('\n').filter((line) => line !== '');
}
const put = (records: readonly string[]): Promise<void> =>
  writeFile(log(), records.map((line) => `\n${line}\n`).join(''));

interface Found {
  readonly read: string;
  readonly append: string;
  readonly isUntouched: boolean;
  readonly isToldByDoctor: boolean;
}

const FOUND: Found = {
  read: 'SESSION_HISTORY_LOST',
  append: 'SESSION_HISTORY_LOST',
  isUntouched: true,
  isToldByDoctor: true,
};

/** What those find who open the session now. */
async function found(): Promise<Found> {
  const before = await readFile(log());
  const store = open();
  const append = await codeOf(add(store, 900));
  const read = await codeOf(open().read(SESSION_ID));
  const { loss } = await examineSession(home.path, IDENTITY);
  return { read, append, isUntouched: before.equals(await readFile(log())), isToldByDoctor: loss !== undefined };
}

/** A log of nine records that two writers have made, in turns and at once. */
async function prepare(): Promise<string[]> {
  const [one, other] = [open(), open()];
  await one.create(IDENTITY, [newEvent(1, created)]);
  for (const n of [2, 3, 4]) await add(n % 2 === 0 ? one : other, n);
  await Promise.all([add(one, 5), add(other, 6), add(one, 7)]);
  await add(other, 8);
  await add(one, 9);
  expect((await open().read(SESSION_ID)).map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map(idOf));
  return lines();
}

/** Every way to take, move or repeat whole records. */
function* harms(records: readonly string[]): Generator<readonly [string, readonly string[]]> {
  for (let from = 0; from < records.length; from += 1) {
    for (let to = from + 1; to <= records.length; to += 1)
      yield [`records ${from} to ${to} are gone`, [...records.slice(0, from), ...records.slice(to)]];
    for (let other = from + 1; other < records.length; other += 1) {
      yield [
        `records ${from} and ${other} are swapped`,
        records.map((line, n) => (n === from ? records[other] : n === other ? records[from] : line) ?? line),
      ];
    }
    // The first one was written before there was anything to say of.
    if (from > 0) yield [`the records from ${from} on are there twice`, [...records, ...records.slice(from)]];
  }
}

describe('a log of which something acknowledged is gone', () => {
  it(
    'is found by who reads it, by who writes to it, and by the doctor, whatever records were taken, swapped or doubled',
    { timeout: 120_000 },
    async () => {
      const records = await prepare();
      const missed: unknown[] = [];
      for (const [what, left] of harms(records)) {
        await put(left);
        const outcome = await found();
        if (JSON.stringify(outcome) !== JSON.stringify(FOUND)) missed.push([what, outcome]);
      }
      expect(missed).toEqual([]);
      await put(records);
      expect(await found()).toMatchObject({ read: 'it succeeded', append: 'it succeeded' });
    },
  );

  it.each([
    ['cut anywhere', 0],
    ['changed in a byte', 1],
  ])('is found when it was %s', { timeout: 60_000 }, async (_, change) => {
    await prepare();
    const whole = await readFile(log());
    for (let at = 1; at < whole.length - 1; at += 37) {
      const bytes = change === 0 ? whole.subarray(0, at) : Buffer.from(whole);
      if (change === 1) bytes[at] = (bytes[at] ?? 0) ^ 0x15;
      await writeFile(log(), bytes);
      const outcome = await found();
      expect([at, outcome]).toEqual([at, FOUND]);
    }
  });

  it('is found from a record behind it, when what is kept beside the log is lost too', async () => {
    const records = await prepare();
    await rm(join(folder(), 'events.end'));
    for (let gone = 0; gone < records.length - 2; gone += 1) {
      await put(records.toSpliced(gone, 1));
      expect([gone, await found()]).toEqual([gone, FOUND]);
    }
    await put([]);
    expect(await found()).toEqual(FOUND);
  });

  it('is found behind a checkpoint too', async () => {
    const store = open({ checkpointEvents: 1 });
    await store.create(IDENTITY, [newEvent(1, created)]);
    for (const n of [2, 3, 4]) await add(store, n);
    await store.saveView(foldAll(await store.read(SESSION_ID)));
    for (const n of [5, 6, 7]) await add(store, n);
    const records = await lines();
    for (const left of [
      records.slice(0, -1),
      records.toSpliced(4, 1),
      records.slice(0, 4),
      records.slice(0, 2),
      records.toSpliced(1, 1),
      [],
    ]) {
      await put(left);
      expect(await found()).toEqual(FOUND);
    }
  });

  it('is found by a process that has it open', async () => {
    await prepare();
    const store = open();
    await store.read(SESSION_ID);
    await writeFile(log(), '');
    expect([await codeOf(add(store, 20)), await codeOf(store.read(SESSION_ID))]).toEqual([
      'SESSION_HISTORY_LOST',
      'SESSION_HISTORY_LOST',
    ]);
    const other = open();
    await rm(log());
    await prepareAgain();
    await add(other, 21);
    await truncate(log(), (await stat(log())).size - 2);
    expect(await codeOf(add(other, 22))).toBe('SESSION_HISTORY_LOST');
  });

  it('is read and written on when it was restored, by those who had refused it as well', async () => {
    const records = await prepare();
    const store = open();
    await put(records.slice(0, 3));
    expect(await codeOf(add(store, 20))).toBe('SESSION_HISTORY_LOST');
    await put(records);
    await add(store, 21);
    expect((await store.read(SESSION_ID)).at(-1)?.id).toBe(idOf(21));
  });

  it('is one that a copy beside it knows more of, where the log is of an older version', async () => {
    await prepareOlder(1, 2, 3);
    const store = open();
    await store.saveView(foldAll(await store.read(SESSION_ID)));
    await store.close();
    await rm(join(folder(), 'events.end'), { force: true });
    await prepareOlder(1, 2);
    const { loss, untrue } = await examineSession(home.path, IDENTITY);
    expect([loss, untrue]).toEqual([expect.stringContaining('was made of 3 events, and 2 are there'), []]);
  });
});

/** The same session anew, as after a restore. */
async function prepareAgain(): Promise<void> {
  await rm(folder(), { recursive: true, force: true });
  await open().create(IDENTITY, [newEvent(1, created)]);
}

/** As a version wrote it that knew no chain. */
async function prepareOlder(...numbers: readonly number[]): Promise<void> {
  if ((await stat(folder()).catch(() => undefined)) === undefined) await prepareAgain();
  await writeFile(
    log(),
    numbers.map((n) => encodeRecord({ events: [newEvent(n, n === 1 ? created : message(`m${n}`))] }).text).join(''),
  );
  await rm(join(folder(), 'events.end'), { force: true });
}

describe('a log of an older version', () => {
  it('opens, and is chained from the next record on', async () => {
    await prepareOlder(1, 2, 3);
    const store = open();
    expect((await store.read(SESSION_ID)).map(({ id }) => id)).toEqual([1, 2, 3].map(idOf));
    await add(store, 4);
    const records = await lines();
    await put(records.slice(0, 3));
    expect(await found()).toEqual(FOUND);
    await put(records.toSpliced(1, 1));
    expect(await found()).toEqual(FOUND);
  });
});

describe('what is kept beside a log', () => {
  it('never goes further than what was synced: what no receipt was given for may go', async () => {
    let fails = false;
    const operations: FileOperations = {
      ...systemFileOperations,
      openLog: async (path) => {
        const file = await systemFileOperations.openLog(path);
        return { ...file, sync: () => (fails ? Promise.reject(new Error('the power is gone')) : file.sync()) };
      },
    };
    const store = open({ durability: 'disk', operations });
    await store.create(IDENTITY, [newEvent(1, created)]);
    await add(store, 2);
    const { size } = await stat(log());
    fails = true;
    expect(await codeOf(add(store, 3))).toBe('STORAGE_FAILED');
    // Others have read what was never put on the disk, and write behind it.
    expect((await lines()).length).toBe(3);
    const written = (await readFile(log())).subarray(size);
    fails = false;
    const other = open({ durability: 'disk' });
    await other.read(SESSION_ID);
    await truncate(log(), size);
    expect((await open().read(SESSION_ID)).map(({ id }) => id)).toEqual([1, 2].map(idOf));
    // A hole where it was, and behind it the record of the one who had read it.
    const behind = encodeRecord({ events: [newEvent(4, message('m4'))] }).text;
    await writeFile(
      log(),
      Buffer.concat([(await readFile(log())).subarray(0, size), Buffer.alloc(written.length), Buffer.from(behind)]),
    );
    expect((await open().read(SESSION_ID)).map(({ id }) => id)).toEqual([1, 2, 4].map(idOf));
  });

  it('may be lost, torn or not writable, and costs no receipt', async () => {
    await prepare();
    for (const content of ['', '\0'.repeat(300), 'nonsense', undefined]) {
      if (content === undefined) await rm(join(folder(), 'events.end'));
      else await writeFile(join(folder(), 'events.end'), content);
      const n = ids.next();
      await open().append(SESSION_ID, [{ ...newEvent(1, message('more')), id: n }]);
      const records = await lines();
      await put(records.slice(0, -1));
      expect(await found()).toEqual(FOUND);
      await put(records);
    }
    const operations: FileOperations = {
      ...systemFileOperations,
      openWritable: () => Promise.reject(new Error('it may not be written')),
    };
    await add(open({ operations }), 77);
    expect((await open().read(SESSION_ID)).at(-1)?.id).toBe(idOf(77));
  });

  it('is one small write for each append, and no sync', async () => {
    const done: string[] = [];
    const noted = <Value>(what: string, value: Value): Value => {
      done.push(what);
      return value;
    };
    const operations: FileOperations = {
      ...systemFileOperations,
      openLog: async (path) => {
        const file = await systemFileOperations.openLog(path);
        return {
          ...file,
          append: (bytes) => noted('append', file.append(bytes)),
          sync: () => noted('sync', file.sync()),
        };
      },
      openWritable: async (path) => {
        done.push('open');
        const file = await systemFileOperations.openWritable(path);
        return {
          ...file,
          write: (bytes, at) => noted(`keep ${bytes.length}`, file.write(bytes, at)),
          sync: () => noted('sync end', file.sync()),
        };
      },
    };
    const store = open({ durability: 'disk', operations });
    await store.create(IDENTITY, [newEvent(1, created)]);
    await add(store, 2);
    await add(store, 3);
    expect(done).toEqual(['open', 'append', 'sync', 'keep 128', 'append', 'sync', 'keep 128']);
  });
});

describe('a log of which nothing is gone', () => {
  it.each([1, 2, 3])(
    'is not refused after a full disk has cut %s bytes off a record, and the record was sent again',
    async (cut) => {
      let left = Infinity;
      const operations: FileOperations = {
        ...systemFileOperations,
        openLog: async (path) => {
          const file = await systemFileOperations.openLog(path);
          return {
            ...file,
            append: async (bytes) => {
              if (left === 0) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
              if (left === Infinity) return file.append(bytes);
              left = 0;
              return file.append(bytes.subarray(0, bytes.length - cut));
            },
          };
        },
      };
      const store = open({ durability: 'disk', operations });
      await store.create(IDENTITY, [newEvent(1, created)]);
      await add(store, 2);
      left = 1;
      expect(await codeOf(add(store, 3))).toBe('STORAGE_FAILED');
      left = Infinity;
      await add(store, 3);
      await add(store, 4);
      expect((await open().read(SESSION_ID)).map(({ id }) => id)).toEqual([1, 2, 3, 4].map(idOf));
    },
  );
});

describe('a loss that a person accepts', () => {
  it('is said in the log, and the session goes on; nothing is taken out', async () => {
    const records = await prepare();
    for (const left of [
      records.slice(0, 4),
      records.toSpliced(3, 2),
      [...records, ...records.slice(5)],
      [...records.slice(0, 6), ...records.slice(6).toReversed()],
    ]) {
      await put(left);
      const { loss } = await examineSession(home.path, IDENTITY);
      const stale = open();
      expect(await codeOf(stale.read(SESSION_ID))).toBe('SESSION_HISTORY_LOST');
      await acceptLoss({ home: home.path, identity: IDENTITY, loss: loss ?? '', clock, ids });
      const store = open();
      const events = await store.read(SESSION_ID);
      expect(events.at(-1)).toMatchObject({
        type: 'log.loss_accepted',
        data: { what: loss, events: events.length - 1 },
      });
      expect((await lines()).slice(0, left.length)).toEqual(left);
      for (const each of [store, stale, open()])
        await each.append(SESSION_ID, [{ ...newEvent(1, message('more')), id: ids.next() }]);
      expect((await examineSession(home.path, IDENTITY)).loss).toBeUndefined();
      // From then on it is as whole as any.
      const more = await lines();
      await put(more.slice(0, -1));
      expect(await found()).toEqual(FOUND);
    }
  });

  it('is none when the first event is gone: there is nothing to go on with', async () => {
    const records = await prepare();
    for (const left of [[], records.slice(1)]) {
      await put(left);
      expect(await codeOf(acceptLoss({ home: home.path, identity: IDENTITY, loss: 'all', clock, ids }))).toBe(
        'SESSION_HISTORY_LOST',
      );
      expect(await found()).toEqual(FOUND);
    }
  });
});
