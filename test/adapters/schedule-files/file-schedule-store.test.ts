import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { createFileScheduleStore } from '../../../src/adapters/schedule-files/file-schedule-store.ts';
import { EMPTY_HISTORY, SlotLedger } from '../../../src/machines/schedule/slot-ledger.ts';
import {
  claimed,
  describeScheduleStore,
  fired,
  minute,
  planned,
  recordsOf,
} from '../../actors/schedule/schedule-store-contract.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'schedules-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const open = (options: { maxSegmentBytes?: number } = {}): ScheduleStore =>
  createFileScheduleStore({ directory, durability: 'os', ...options });

/** The one folder, and the files in it. */
function files(): string[] {
  const [folder] = readdirSync(directory);
  if (folder === undefined) throw new Error('there is no folder');
  return readdirSync(join(directory, folder))
    .toSorted()
    .map((name) => join(directory, folder, name));
}

function file(index = -1): string {
  const path = files().at(index);
  if (path === undefined) throw new Error('there is no file');
  return path;
}

describeScheduleStore('a directory', () => open());
describeScheduleStore('a directory with tiny segments', () => open({ maxSegmentBytes: 300 }));
describeScheduleStore('a directory that is synced', () => createFileScheduleStore({ directory }));

describe('the files of a schedule', () => {
  it('are readable by their owner only', async () => {
    await open().append('nightly', [claimed(1)]);
    expect([statSync(join(file(), '..')).mode & 0o777, statSync(file()).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('have names that people recognize and that no id can lead astray', async () => {
    await open().append('../../Nightly: backup of /etc', [claimed(1)]);
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^nightly-backup-of-etc-[0-9a-f]{32}$/)]);
  });

  it('are one JSON object per line', async () => {
    await open().append('nightly', [planned(), claimed(1)]);
    const lines = readFileSync(file(), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { entry: { kind: string } });
    expect(lines.map(({ entry }) => entry.kind)).toEqual(['head', 'record', 'record']);
  });

  it('are not touched by options that make no sense', () => {
    for (const options of [
      { directory: '' },
      { directory, maxSegmentBytes: 0 },
      { directory, durability: 'maybe' as never },
      { directory, mode: 1 } as never,
    ]) {
      expect(() => createFileScheduleStore(options)).toThrow(expect.objectContaining({ category: 'validation' }));
    }
  });
});

describe('what a crash leaves behind', () => {
  it('a torn last line is passed over, and what comes after it is kept', async () => {
    await open().append('nightly', [planned(), claimed(1)]);
    appendFileSync(file(), readFileSync(file(), 'utf8').slice(-80, -30));
    const store = open();
    expect(await store.append('nightly', [claimed(1, 'b'), claimed(2, 'b')])).toEqual([false, true]);
    expect(await recordsOf(open(), 'nightly')).toEqual([planned(), claimed(1), claimed(1, 'b'), claimed(2, 'b')]);
  });

  it('a file cut off anywhere holds the lines before the cut', async () => {
    const records = [planned(), claimed(1), fired(1), claimed(2), fired(2)];
    for (const record of records) await open().append('nightly', [record]);
    const whole = readFileSync(file());
    for (let length = whole.length; length >= 0; length -= 7) {
      writeFileSync(file(), whole.subarray(0, length));
      const kept = await recordsOf(open(), 'nightly');
      expect(kept).toEqual(records.slice(0, kept.length));
      const isUnclaimed = !kept.some((record) => record.type === 'slot.claimed' && record.slot === minute(2));
      expect(await open().append('nightly', [claimed(2, 'b')])).toEqual([isUnclaimed]);
    }
  });

  it('bytes of any kind anywhere in it neither end the store nor bring a slot back', async () => {
    await open().append('nightly', [planned(), claimed(1), claimed(2), claimed(3)]);
    const whole = readFileSync(file());
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        async (offset, noise) => {
          const damaged = Buffer.from(whole);
          damaged.set(noise.subarray(0, whole.length - offset), offset);
          writeFileSync(file(), damaged);
          const [held] = await open().append('nightly', [claimed(4, 'b')]);
          expect(held).toBe(true);
          expect(await open().append('nightly', [claimed(4, 'c')])).toEqual([false]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a line that is only half written yet is read when the other half has come', async () => {
    const reader = open();
    await reader.append('nightly', [claimed(1)]);
    const { encodeLines } = await import('../../../src/adapters/schedule-files/line-format.ts');
    const bytes = encodeLines([{ id: 'slow-1', entry: { kind: 'record', record: claimed(2, 'slow') } }]);
    appendFileSync(file(), bytes.subarray(0, 100));
    expect((await reader.load('nightly')).through).toBe(minute(1));
    appendFileSync(file(), bytes.subarray(100));
    expect((await reader.load('nightly')).through).toBe(minute(2));
  });

  it('a draft of a segment is not read', async () => {
    await open().append('nightly', [claimed(1)]);
    writeFileSync(`${file()}.other-1.draft`, 'unfinished');
    expect((await open().load('nightly')).through).toBe(minute(1));
  });

  it('a sealed segment without a successor gets one', async () => {
    const small = open({ maxSegmentBytes: 300 });
    await small.append('nightly', [planned(), claimed(1), fired(1)]);
    unlinkSync(file());
    expect(files()).toHaveLength(1);
    expect(await open().append('nightly', [claimed(1, 'b'), claimed(2, 'b')])).toEqual([false, true]);
    expect(files()).toHaveLength(2);
  });

  it('a segment whose head is damaged is read on from the segment before', async () => {
    const small = open({ maxSegmentBytes: 300 });
    await small.append('nightly', [planned(), claimed(1), fired(1)]);
    await open().append('nightly', [claimed(2)]);
    const bytes = readFileSync(file());
    bytes[20] = 0;
    writeFileSync(file(), bytes);
    expect(await open().append('nightly', [claimed(1, 'b'), claimed(2, 'b'), claimed(3, 'b')])).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('segments without any sound head are refused: to guess could fire a slot twice', async () => {
    const small = open({ maxSegmentBytes: 300 });
    await small.append('nightly', [planned(), claimed(1), fired(1)]);
    unlinkSync(file(0));
    writeFileSync(file(), 'noise\n');
    await expect(open().append('nightly', [claimed(1, 'b')])).rejects.toMatchObject({
      category: 'storage',
      code: 'SCHEDULE_STORE',
    });
  });
});

describe('a long history', () => {
  it('goes on in new segments, of which only the newest is read to open it', async () => {
    const store = open({ maxSegmentBytes: 2_000 });
    await store.append('nightly', [planned()]);
    for (let slot = 1; slot <= 60; slot += 1)
      expect(await store.append('nightly', [claimed(slot), fired(slot)])).toEqual([true, true]);
    expect(files().length).toBeGreaterThan(5);
    const before = files().slice(0, -1);
    for (const path of before) truncateSync(path, 0);
    expect(await open().load('nightly')).toMatchObject({ through: minute(60), plan: { cronExpression: '* * * * *' } });
    expect(await open().append('nightly', [claimed(7, 'b')])).toEqual([false]);
  });

  it('comes back whole', async () => {
    const store = open({ maxSegmentBytes: 1_000 });
    const records = Array.from({ length: 40 }, (_, index) => claimed(index + 1));
    for (const record of records) await store.append('nightly', [record]);
    expect(await recordsOf(open(), 'nightly')).toEqual(records);
  });

  it('is one history for writers with segments of different lengths', async () => {
    const stores = [open({ maxSegmentBytes: 300 }), open({ maxSegmentBytes: 900 }), open()];
    const held: boolean[] = [];
    for (let slot = 1; slot <= 30; slot += 1) {
      held.push(
        ...(
          await Promise.all(stores.map((store, owner) => store.append('nightly', [claimed(slot, `run_${owner}`)])))
        ).flat(),
      );
    }
    expect(held.filter((answer) => answer)).toHaveLength(30);
    const ledger = new SlotLedger();
    const records = await recordsOf(open(), 'nightly');
    expect(records.filter((record) => ledger.ingest(record))).toHaveLength(30);
    expect(records).toHaveLength(90);
  });

  it('loses nothing when many begin it at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const stores = Array.from({ length: 12 }, () => open({ maxSegmentBytes: 400 }));
      const id = `nightly ${round}`;
      const held = await Promise.all(
        stores.map((store, owner) => store.append(id, [claimed(round * 100 + owner, `run_${owner}`)])),
      );
      expect(held).toHaveLength(12);
      expect(await recordsOf(open(), id)).toHaveLength(12);
    }
  });

  it('takes a batch that is longer than a segment', async () => {
    const store = open({ maxSegmentBytes: 300 });
    const batch = Array.from({ length: 500 }, (_, index) => claimed(index + 1));
    expect(await store.append('nightly', batch)).toEqual(batch.map(() => true));
    expect(await recordsOf(open(), 'nightly')).toEqual(batch);
  });
});

describe('a store that lives while its files change', () => {
  it('starts afresh when they are removed', async () => {
    const store = open();
    await store.append('nightly', [claimed(1)]);
    rmSync(join(file(), '..'), { recursive: true });
    expect(await store.load('nightly')).toEqual(EMPTY_HISTORY);
    expect(await store.append('nightly', [claimed(1, 'b')])).toEqual([true]);
  });

  it('reads them anew when they were replaced', async () => {
    const store = open();
    await store.append('nightly', [claimed(1)]);
    rmSync(join(file(), '..'), { recursive: true });
    await open().append('nightly', [claimed(5, 'b'), fired(5, 'b')]);
    expect(await store.append('nightly', [claimed(5, 'c'), claimed(6, 'c')])).toEqual([false, true]);
  });
});

describe('trouble with the disk', () => {
  it('is a storage error that says what to do, and heals', async () => {
    writeFileSync(join(directory, 'file'), '');
    const store = createFileScheduleStore({ directory: join(directory, 'file', 'below') });
    await expect(store.append('nightly', [claimed(1)])).rejects.toMatchObject({
      name: 'RuntimeError',
      category: 'storage',
      code: 'SCHEDULE_STORE',
      hint: 'A part of the path is a file; choose another directory.',
    });
    rmSync(join(directory, 'file'));
    expect(await store.append('nightly', [claimed(1)])).toEqual([true]);
  });

  it('is what a record of a newer version counts as: to pass over it could fire a slot twice', async () => {
    await open().append('nightly', [claimed(1)]);
    const { encodeLines } = await import('../../../src/adapters/schedule-files/line-format.ts');
    appendFileSync(
      file(),
      encodeLines([{ id: 'newer-1', entry: { kind: 'record', record: { ...claimed(2), v: 2 } as never } }]),
    );
    await expect(open().append('nightly', [claimed(2, 'b')])).rejects.toMatchObject({
      category: 'storage',
      code: 'SCHEDULE_STORE_VERSION',
    });
    await expect(open().load('nightly')).rejects.toMatchObject({ code: 'SCHEDULE_STORE_VERSION' });
  });

  it('is what a folder of another schedule counts as', async () => {
    await open().append('nightly', [claimed(1)]);
    const { encodeLines } = await import('../../../src/adapters/schedule-files/line-format.ts');
    writeFileSync(
      file(),
      encodeLines([
        { id: 'x-1', entry: { kind: 'head', v: 1, scheduleId: 'weekly', segment: 1, history: EMPTY_HISTORY } },
      ]),
    );
    await expect(open().load('nightly')).rejects.toThrow('belongs to schedule "weekly"');
  });
});
