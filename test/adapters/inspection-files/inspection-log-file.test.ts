/** What is recorded goes into a file as it happens, and comes out of it again as it went in. */
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InspectionRecording } from '../../../src/actors/inspection/inspection-source.ts';
import { writeInspectionLog } from '../../../src/adapters/inspection-files/inspection-log-file.ts';
import type { RuntimeError } from '../../../src/machines/errors.ts';
import { InspectionReader } from '../../../src/machines/inspection-log/inspection-reader.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { mountSmallDisk, unmount, whyNoSmallDisk } from '../../support/small-disk.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { RecordedSource } from '../inspector/recorded-source.ts';

let folder: TemporaryHome;
beforeEach(async () => {
  folder = await temporaryHome();
});
afterEach(() => folder.remove());

const pathOf = (name: string): string => join(folder.path, name);

function recordsIn(text: string): readonly InspectionRecord[] {
  const reader = new InspectionReader();
  const records = [...reader.read(text), ...reader.end()];
  expect(reader.report).toMatchObject({ broken: { count: 0 }, hasTornTail: false });
  return records;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Checks until it holds; a limit for what hangs is that of the test. */
async function holds(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await turn();
}

describe('a recording in a file', () => {
  it.each(['run.ndjson', 'run.ndjson.gz'])('holds what was there before and what came after: %s', async (name) => {
    const source = new RecordedSource();
    source.add(250);
    const troubles: RuntimeError[] = [];
    const file = await writeInspectionLog({
      path: pathOf(name),
      recording: source,
      onTrouble: (error) => void troubles.push(error),
    });
    for (let batch = 0; batch < 20; batch += 1) {
      source.add(10);
      await turn();
    }
    source.add(5);
    expect(await file.close()).toEqual({ records: 455, missing: 0 });
    expect(await file.close()).toEqual({ records: 455, missing: 0 });
    source.add(5);
    const bytes = await readFile(pathOf(name));
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    expect(recordsIn(text).map(({ s }) => s)).toEqual(Array.from({ length: 455 }, (_, index) => index + 1));
    expect([troubles, source.followers]).toEqual([[], 0]);
  });

  it('leaves nobody listening for a disk that was slow for a while', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    try {
      const source = new RecordedSource();
      const file = await writeInspectionLog({
        path: pathOf('run.ndjson'),
        recording: source,
        onTrouble: () => undefined,
      });
      for (let batch = 0; batch < 40; batch += 1) source.add(100, 'x'.repeat(1_000));
      expect(await file.close()).toEqual({ records: 4_000, missing: 0 });
      await turn();
    } finally {
      process.off('warning', hear);
    }
    expect(warnings).toEqual([]);
  });

  it('is for the eyes of its owner only, and is in the file before it is closed', async () => {
    const source = new RecordedSource();
    const file = await writeInspectionLog({
      path: pathOf('run.ndjson'),
      recording: source,
      onTrouble: () => undefined,
    });
    source.add(3);
    await holds(async () => (await readFile(pathOf('run.ndjson'), 'utf8')).split('\n').length === 5);
    expect((await stat(pathOf('run.ndjson'))).mode & 0o777).toBe(0o600);
    await file.close();
  });

  it('says in its numbers what had fallen out before it could be written', async () => {
    const source = new RecordedSource({ limit: 100 });
    const file = await writeInspectionLog({
      path: pathOf('run.ndjson'),
      recording: source,
      onTrouble: () => undefined,
    });
    source.add(1_000);
    const { records, missing } = await file.close();
    expect([records, missing]).toEqual([100, 900]);
    expect(
      recordsIn(await readFile(pathOf('run.ndjson'), 'utf8'))
        .map(({ s }) => s)
        .at(0),
    ).toBe(901);
  });

  it.each(['a file', 'a link'])('never writes over %s', async (what) => {
    await writeFile(pathOf('precious'), 'mine');
    const path = what === 'a link' ? pathOf('link') : pathOf('precious');
    if (what === 'a link') await symlink(pathOf('precious'), path);
    await expect(
      writeInspectionLog({ path, recording: new RecordedSource(), onTrouble: () => undefined }),
    ).rejects.toMatchObject({
      code: 'INSPECTION_LOG_EXISTS',
      category: 'conflict',
      hint: expect.stringContaining('Name another') as string,
    });
    expect(await readFile(pathOf('precious'), 'utf8')).toBe('mine');
  });

  it('cannot be made in a folder that is not there', async () => {
    await expect(
      writeInspectionLog({
        path: pathOf('nowhere/run.ndjson'),
        recording: new RecordedSource(),
        onTrouble: () => undefined,
      }),
    ).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
  });

  it('keeps what it could write, and says once that it could not go on', async () => {
    const source = new RecordedSource();
    const troubles: RuntimeError[] = [];
    const broken: Pick<InspectionRecording, 'header' | 'range' | 'records' | 'follow'> = {
      header: source.header,
      range: () => source.range(),
      follow: (listener) => source.follow(listener),
      async *records(from) {
        yield* source.records(from);
        if (source.range().last > 2) throw new Error('out of memory');
      },
    };
    const file = await writeInspectionLog({
      path: pathOf('run.ndjson'),
      recording: broken,
      onTrouble: (error) => void troubles.push(error),
    });
    source.add(2);
    await holds(async () => (await readFile(pathOf('run.ndjson'), 'utf8')).split('\n').length === 4);
    source.add(1);
    await holds(async () => troubles.length > 0);
    source.add(1);
    await file.close();
    expect(troubles.map(({ code, message }) => [code, message])).toEqual([
      ['STORAGE_FAILED', `the recording ${pathOf('run.ndjson')} ends early: out of memory`],
    ]);
    expect(source.followers).toBe(0);
  });
});

describe.skipIf(whyNoSmallDisk !== undefined)('a recording on a disk that is full', () => {
  it('keeps what was written, says so once, and hurts nobody', async () => {
    await mkdir(pathOf('small'));
    mountSmallDisk(pathOf('small'), 65_536);
    try {
      const path = pathOf('small/run.ndjson');
      const source = new RecordedSource();
      source.add(10);
      const troubles: RuntimeError[] = [];
      const file = await writeInspectionLog({
        path,
        recording: source,
        onTrouble: (error) => void troubles.push(error),
      });
      await holds(async () => (await readFile(path, 'utf8')).split('\n').length === 12);
      source.add(1_000, 'x'.repeat(200));
      await holds(async () => troubles.length > 0);
      source.add(10);
      await file.close();
      expect(troubles.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^the recording .*run\.ndjson ends early: ENOSPC/),
      ]);
      const reader = new InspectionReader();
      expect(
        reader
          .read(await readFile(path, 'utf8'))
          .map(({ s }) => s)
          .slice(0, 10),
      ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    } finally {
      unmount(pathOf('small'));
    }
  });
});
