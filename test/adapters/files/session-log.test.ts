import { appendFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { systemFileOperations } from '../../../src/adapters/files/file-operations.ts';
import type { FileOperations } from '../../../src/adapters/files/file-operations.ts';
import { encodeRecord } from '../../../src/adapters/files/record-codec.ts';
import { SessionLog } from '../../../src/adapters/files/session-log.ts';
import type { AppendResult } from '../../../src/actors/session/event-store.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { SESSION_ID, idOf, message, newEvent } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { TroubledDisk } from '../../support/troubled-log-file.ts';
import type { Trouble } from '../../support/troubled-log-file.ts';

let home: TemporaryHome;
let path: string;
const opened: SessionLog[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  path = join(home.path, 'events.jsonl');
  await writeFile(path, '');
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()));
  await home.remove();
});

async function openLog(operations: FileOperations = systemFileOperations): Promise<SessionLog> {
  const log = await SessionLog.open({ sessionId: SESSION_ID, directory: home.path, operations, durability: 'disk' });
  opened.push(log);
  return log;
}

const add = (log: SessionLog, n: number, text = `m${n}`): Promise<AppendResult> =>
  log.append([newEvent(n, message(text))], {});
const ids = async (log: SessionLog): Promise<string[]> => (await log.read({})).map(({ id }) => id);

/** Three records of one event each, and where each begins and ends in the file. */
const bytesOf = (record: Parameters<typeof encodeRecord>[0]): Buffer => Buffer.from(encodeRecord(record).text, 'utf8');
const RECORDS = [1, 2, 3].map((n) => bytesOf({ events: [newEvent(n, message(`text number ${n} ü`))] }));
const WHOLE = Buffer.concat(RECORDS);

/** Which of them the byte at `position` belongs to. */
function recordAt(position: number): number {
  let end = 0;
  return RECORDS.findIndex((record) => {
    end += record.length;
    return position < end;
  });
}

/** A disk on which the log is these bytes. */
function diskWith(bytes: Buffer): FileOperations {
  return {
    ...systemFileOperations,
    openLog: async () => ({
      append: () => Promise.reject(new Error('this file is only read')),
      sync: async () => undefined,
      size: async () => bytes.length,
      read: async (position, length) => bytes.subarray(position, position + length),
      close: async () => undefined,
    }),
  };
}

describe('a damaged log', () => {
  it('loses at most the record that was touched, whichever byte is changed to whatever', async () => {
    const wrong: string[] = [];
    for (let position = 0; position < WHOLE.length; position += 1) {
      for (const value of [0x00, 0x0a, 0x20, 0x7d, 0xff, (WHOLE[position] ?? 0) ^ 0x01]) {
        const bytes = Buffer.from(WHOLE);
        bytes[position] = value;
        const found = await ids(
          await SessionLog.open({
            sessionId: SESSION_ID,
            directory: home.path,
            operations: diskWith(bytes),
            durability: 'disk',
          }),
        );
        const others = RECORDS.flatMap((_, index) => (index === recordAt(position) ? [] : [idOf(index + 1)]));
        if (!others.every((id) => found.includes(id)) || found.join() !== found.toSorted().join())
          wrong.push(`byte ${position} became ${value}: ${found.join()}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('of an older version is read as far as it goes, wherever it was cut off, and takes the next record', async () => {
    for (let length = 0; length < WHOLE.length; length += 7) {
      await rm(join(home.path, 'events.end'), { force: true });
      await writeFile(path, WHOLE.subarray(0, length));
      const log = await openLog();
      const before = await ids(log);
      const { events } = await add(log, 9);
      const found = await ids(await openLog());
      // A record that lacked only its last newline is whole again.
      expect(found.slice(0, before.length)).toEqual(before);
      expect([found.at(-1), found.length]).toEqual([idOf(9), events[0]?.seq]);
    }
  });

  it('of an older version is read, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.constantFrom(...RECORDS),
            fc.uint8Array({ maxLength: 40 }),
            fc.string().map((text) => Buffer.from(`\n${text}\n`)),
          ),
          { maxLength: 12 },
        ),
        async (parts) => {
          await writeFile(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
          await rm(join(home.path, 'events.end'), { force: true });
          const log = await openLog();
          const found = await ids(log);
          expect(new Set(found).size).toBe(found.length);
          await add(log, 50);
          expect((await ids(log)).at(-1)).toBe(idOf(50));
          await log.close();
          opened.pop();
        },
      ),
      { numRuns: 60 },
    );
  });

  it('tells how many lines it could not read', async () => {
    await writeFile(
      path,
      Buffer.concat([RECORDS[0] ?? Buffer.alloc(0), Buffer.from('\nnonsense\n'), RECORDS[1] ?? Buffer.alloc(0)]),
    );
    const log = await openLog();
    expect(await ids(log)).toEqual([idOf(1), idOf(2)]);
    expect(log.damagedLines).toBe(1);
  });

  it('passes over a line that no record could be as long as', async () => {
    await writeFile(path, RECORDS[0] ?? '');
    for (let written = 0; written < 20; written += 1) await appendFile(path, 'x'.repeat(1024 * 1024));
    await appendFile(path, RECORDS[1] ?? '');
    const log = await openLog();
    expect(await ids(log)).toEqual([idOf(1), idOf(2)]);
    expect((await add(log, 9)).events[0]?.seq).toBe(3);
    expect(await ids(log)).toEqual([idOf(1), idOf(2), idOf(9)]);
  });

  it('of an older version still takes a record whose condition named the one that was lost', async () => {
    const bytes = Buffer.concat([
      bytesOf({ events: [newEvent(1, message('m1'))] }),
      bytesOf({ events: [newEvent(2, message('m2'))] }),
      bytesOf({ events: [newEvent(3, message('third'))], after: idOf(2) }),
    ]);
    bytes[bytes.indexOf('m2')] = 0x58;
    await writeFile(path, bytes);
    expect(await ids(await openLog())).toEqual([idOf(1), idOf(3)]);
  });
});

describe('on a disk in trouble, an append', () => {
  const refusal = async (promise: Promise<unknown>): Promise<RuntimeError> => {
    const error: unknown = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (RuntimeError.is(error)) return error;
    throw new Error('expected a RuntimeError');
  };

  it.each<[string, Trouble, RegExp]>([
    ['a full disk', { kind: 'torn_write', bytes: 40, code: 'ENOSPC' }, /full/],
    ['a full disk, before the first byte', { kind: 'torn_write', bytes: 0, code: 'ENOSPC' }, /full/],
    ['a broken disk', { kind: 'torn_write', bytes: 100, code: 'EIO' }, /disk reports an error/],
    ['a sync that fails', { kind: 'failed_sync', code: 'EIO' }, /disk reports an error/],
  ])('is refused by %s with words that help, and the log goes on', async (_what, trouble, hint) => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    await add(log, 1);
    disk.troubles.push(trouble);
    const error = await refusal(add(log, 2));
    expect(error).toMatchObject({ code: 'STORAGE_FAILED', category: 'storage', recoverable: true });
    expect(error.hint).toMatch(hint);
    await add(log, 3);
    const found = await ids(await openLog());
    expect(found).toEqual(await ids(log));
    expect(found).toContain(idOf(1));
    expect(found.at(-1)).toBe(idOf(3));
  });

  it('is not taken for stored when its sync fails and the disk has dropped it', async () => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    await add(log, 1);
    const { size } = await stat(path);
    disk.troubles.push({ kind: 'failed_sync', code: 'EIO' });
    disk.beforeSync = () => truncate(path, size);
    expect(await codeOf(add(log, 2))).toBe('STORAGE_FAILED');
    disk.beforeSync = async () => undefined;
    expect(await ids(log)).toEqual([idOf(1)]);
    expect((await add(log, 3)).events[0]?.seq).toBe(2);
    expect(await ids(await openLog())).toEqual([idOf(1), idOf(3)]);
  });

  it('goes on after a short write, and its record is whole', async () => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    disk.troubles.push({ kind: 'short_write', bytes: 20 });
    expect((await add(log, 1)).events[0]?.seq).toBe(1);
    expect(await ids(await openLog())).toEqual([idOf(1)]);
  });

  it('is written again when another process wrote into the gap of a short write', async () => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    disk.troubles.push({ kind: 'short_write', bytes: 20 });
    // The other one appends between the two parts of the write.
    let isFirst = true;
    const other = await openLog({
      ...disk.operations,
      openLog: async (at) => {
        const gapped = await disk.operations.openLog(at);
        return {
          ...gapped,
          append: async (bytes) => {
            const written = await gapped.append(bytes);
            if (isFirst) await appendFile(path, RECORDS[1] ?? '');
            isFirst = false;
            return written;
          },
        };
      },
    });
    const { events } = await add(other, 5);
    const found = await ids(await openLog());
    expect(found).toContain(idOf(2));
    expect(found[(events[0]?.seq ?? 0) - 1]).toBe(idOf(5));
    expect(await ids(log)).toEqual(found);
  });

  it('that was refused can be repeated under its key without becoming two', async () => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    disk.troubles.push({ kind: 'failed_sync', code: 'EIO' });
    expect(await codeOf(log.append([newEvent(1, message('x'))], { idempotencyKey: 'k' }))).toBe('STORAGE_FAILED');
    const { events } = await log.append([newEvent(2, message('x'))], { idempotencyKey: 'k' });
    expect(await ids(log)).toHaveLength(1);
    expect(events[0]?.id).toBe((await ids(log))[0]);
  });

  it('is acknowledged only after its sync, and not readable here before', async () => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    let letSync: () => void = () => undefined;
    let syncBegan: () => void = () => undefined;
    const began = new Promise<void>((resolve) => {
      syncBegan = resolve;
    });
    disk.beforeSync = () => {
      syncBegan();
      return new Promise((resolve) => {
        letSync = resolve;
      });
    };
    let isAcknowledged = false;
    const appending = add(log, 1).then(() => {
      isAcknowledged = true;
    });
    await began;
    let isRead = false;
    const reading = ids(log).then((found) => {
      isRead = true;
      return found;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isAcknowledged, isRead]).toEqual([false, false]);
    letSync();
    await appending;
    expect(await reading).toEqual([idOf(1)]);
  });

  it('shares its write and its sync with all that arrived while one was under way', async () => {
    const disk = new TroubledDisk();
    const log = await openLog(disk.operations);
    await Promise.all(Array.from({ length: 100 }, (_, index) => add(log, 10 + index)));
    expect(disk.syncs).toBeLessThanOrEqual(3);
    expect(disk.writes).toBe(disk.syncs);
    expect(await ids(log)).toHaveLength(100);
  });
});

describe('reading again what was read before', () => {
  it('gives the same events, also between records that do not count', async () => {
    const log = await openLog();
    for (let n = 1; n <= 600; n += 1) {
      await writeRecord(n);
      // A copy of an earlier record, a record of a passed condition, and noise: none of them counts.
      if (n % 50 === 0)
        await appendFile(
          path,
          Buffer.concat([
            RECORDS[0] ?? Buffer.alloc(0),
            bytesOf({ events: [newEvent(n + 5_000, message('late'))], after: idOf(1) }),
            Buffer.from('\nnoise\n'),
          ]),
        );
    }
    const all = [...(await log.read({})), ...(await log.read({ from: 1_001 }))];
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    for (const from of [1, 2, 255, 256, 257, 300, 512, 513, 599, 601])
      expect(await log.read({ from, limit: 5 })).toEqual(all.slice(from - 1, from + 4));
  });

  async function writeRecord(n: number): Promise<void> {
    await appendFile(path, n === 1 ? (RECORDS[0] ?? '') : bytesOf({ events: [newEvent(n, message(`m${n}`))] }));
  }
});
