import { appendFile, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { systemFileOperations } from '../../../src/adapters/files/file-operations.ts';
import { segmentFile } from '../../../src/adapters/files/layout.ts';
import { watchLog } from '../../../src/adapters/files/log-watch.ts';
import { LogSegments } from '../../../src/adapters/files/log-segments.ts';
import { encodeRecord, encodeSeal } from '../../../src/adapters/files/record-codec.ts';
import { SessionLog } from '../../../src/adapters/files/session-log.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { SESSION_ID, idOf, message, newEvent } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
const opened: SessionLog[] = [];
beforeEach(async () => {
  home = await temporaryHome();
  await writeFile(pathOf(1), '');
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()));
  await home.remove();
});

const pathOf = (segment: number): string => join(home.path, segmentFile(segment));
const bytesOf = (n: number): Buffer => Buffer.from(encodeRecord({ events: [newEvent(n, message(`m${n}`))] }).text);
const record = bytesOf(1);

async function open(segmentBytes = record.length * 2): Promise<SessionLog> {
  const log = await SessionLog.open({
    sessionId: SESSION_ID,
    directory: home.path,
    operations: systemFileOperations,
    durability: 'os',
    segmentBytes,
  });
  opened.push(log);
  return log;
}

const add = async (log: SessionLog, ...numbers: readonly number[]): Promise<number[]> => {
  const seqs: number[] = [];
  for (const n of numbers) seqs.push((await log.append([newEvent(n, message(`m${n}`))], {})).events[0]?.seq ?? 0);
  return seqs;
};
const ids = async (log: SessionLog): Promise<string[]> => (await log.read({})).map(({ id }) => id);
const idsOf = (...numbers: readonly number[]): string[] => numbers.map(idOf);
const segments = async (): Promise<string[]> =>
  (await readdir(home.path)).filter((name) => name.endsWith('.jsonl')).toSorted();

describe('a log in segments', () => {
  it('goes on in the next file when one is long enough, and leaves the first its name', async () => {
    const log = await open();
    expect(await add(log, 1, 2, 3, 4, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(await segments()).toEqual(['events.000002.jsonl', 'events.000003.jsonl', 'events.jsonl']);
    expect(await ids(await open())).toEqual(idsOf(1, 2, 3, 4, 5));
    expect(await (await open()).read({ from: 2, limit: 3 })).toEqual((await log.read({})).slice(1, 4));
  });

  it('is followed from file to file by those who had it open', async () => {
    const reader = await open();
    await reader.head();
    const writer = await open();
    await add(writer, 1, 2, 3, 4, 5);
    expect(await ids(reader)).toEqual(idsOf(1, 2, 3, 4, 5));
    expect(await add(reader, 6)).toEqual([6]);
  });

  it('gives those who write behind a seal a place in the next file', async () => {
    const late = await open(Infinity);
    await add(late, 1);
    await add(await open(1), 2);
    expect(await add(late, 3)).toEqual([3]);
    expect((await readFile(pathOf(1), 'utf8')).includes(idOf(3))).toBe(true);
    expect((await readFile(pathOf(2), 'utf8')).includes(idOf(3))).toBe(true);
    for (const log of [late, await open()]) expect(await ids(log)).toEqual(idsOf(1, 2, 3));
  });

  it('judges conditions and keys across files', async () => {
    const log = await open(1);
    await log.append([newEvent(1, message('x'))], { idempotencyKey: 'k' });
    await add(log, 2);
    expect((await log.append([newEvent(3, message('x'))], { idempotencyKey: 'k' })).events[0]?.seq).toBe(1);
    expect((await log.append([newEvent(4, message('x'))], { expectedHead: 2 })).events[0]?.seq).toBe(3);
    expect(await codeOf(log.append([newEvent(5, message('x'))], { expectedHead: 2 }))).toBe('HEAD_MOVED');
    expect(await ids(await open())).toEqual(idsOf(1, 2, 4));
  });

  it('does not mind a next file that a crash left before the seal', async () => {
    const log = await open(Infinity);
    await add(log, 1);
    await writeFile(pathOf(2), '');
    expect(await ids(await open())).toEqual(idsOf(1));
    expect(await add(await open(Infinity), 2)).toEqual([2]);
    expect(await add(await open(1), 3)).toEqual([3]);
    expect(await ids(await open())).toEqual(idsOf(1, 2, 3));
  });

  it('is refused when a file that a seal names is gone, also where nothing else tells so', async () => {
    await add(await open(1), 1, 2);
    await rm(pathOf(2));
    await rm(join(home.path, 'events.end'));
    const log = await open();
    expect([await codeOf(ids(log)), await codeOf(add(log, 3))]).toEqual([
      'SESSION_HISTORY_LOST',
      'SESSION_HISTORY_LOST',
    ]);
    await expect(stat(pathOf(2))).rejects.toThrow('ENOENT');
  });

  it('is ended by its first seal, whatever comes behind', async () => {
    await writeFile(
      pathOf(1),
      Buffer.concat([bytesOf(1), Buffer.from(encodeSeal(2)), bytesOf(2), Buffer.from(encodeSeal(2)), bytesOf(3)]),
    );
    await writeFile(pathOf(2), bytesOf(4));
    expect(await ids(await open())).toEqual(idsOf(1, 4));
  });

  it('is not ended by the seal of another file', async () => {
    await writeFile(pathOf(1), Buffer.concat([bytesOf(1), Buffer.from(encodeSeal(7)), bytesOf(2)]));
    expect(await ids(await open())).toEqual(idsOf(1, 2));
  });

  it('ends where the file ends when its seal is damaged and the log has gone on', async () => {
    await add(await open(), 1, 2, 3, 4, 5);
    const whole = await readFile(pathOf(1));
    const sealAt = whole.indexOf('"seal"');
    for (let position = whole.lastIndexOf('\n', sealAt); position < whole.length; position += 1) {
      const bytes = Buffer.from(whole);
      bytes[position] = (whole[position] ?? 0) ^ 0x01;
      await writeFile(pathOf(1), bytes);
      const log = await open();
      expect([position, await ids(log)]).toEqual([position, idsOf(1, 2, 3, 4, 5)]);
      await log.close();
      opened.pop();
    }
    expect(sealAt).toBeGreaterThan(0);
  });

  it('of an older version, which has no chain, keeps what every other file holds, wherever one of them was cut', async () => {
    await writeFile(pathOf(1), Buffer.concat([bytesOf(1), bytesOf(2), Buffer.from(encodeSeal(2))]));
    await writeFile(pathOf(2), Buffer.concat([bytesOf(3), bytesOf(4), Buffer.from(encodeSeal(3))]));
    await writeFile(pathOf(3), bytesOf(5));
    for (const [segment, held] of [
      [1, [1, 2]],
      [2, [3, 4]],
    ] as const) {
      const whole = await readFile(pathOf(segment));
      for (let length = 0; length < whole.length; length += 11) {
        await writeFile(pathOf(segment), whole.subarray(0, length));
        await rm(join(home.path, 'events.end'), { force: true });
        const log = await open(Infinity);
        const found = await ids(log);
        const others = idsOf(...[1, 2, 3, 4, 5].filter((n) => !(held as readonly number[]).includes(n)));
        expect([segment, length, found.filter((id) => others.includes(id))]).toEqual([segment, length, others]);
        expect(await add(log, 9)).toEqual([found.length + 1]);
        expect(await ids(log)).toEqual([...found, idOf(9)]);
        expect(await ids(await open())).toEqual([...found, idOf(9)]);
        await writeFile(pathOf(3), bytesOf(5));
      }
      await writeFile(pathOf(segment), whole);
    }
  });

  it('finds a seal that was damaged under it while it was open', async () => {
    const log = await open(Infinity);
    await add(log, 1);
    const seal = Buffer.from(encodeSeal(2));
    seal[20] = 0x58;
    await writeFile(pathOf(2), bytesOf(2));
    await appendFile(pathOf(1), seal);
    expect(await ids(log)).toEqual(idsOf(1, 2));
    expect(await add(log, 3)).toEqual([3]);
    expect(await ids(await open())).toEqual(idsOf(1, 2, 3));
  });

  it('tells those who watch when it grows in a file that was not there when they began', async () => {
    const writer = await open(1);
    await add(writer, 1);
    let heard: () => void = () => undefined;
    const reader = await open();
    const stop = watchLog({
      segments: new LogSegments(home.path, systemFileOperations),
      segment: 1,
      clock: createSimulatedClock(),
      onChange: () => heard(),
    });
    for (let n = 2; n < 6; n += 1) {
      await add(writer, n);
      while ((await reader.head()) < n) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
      // The next one is seen only if the newest file is watched by now.
      let isWatched: () => void = () => undefined;
      const watched = new Promise<void>((resolve) => {
        isWatched = resolve;
      });
      heard = isWatched;
      await appendFile(pathOf(n), '\n');
      await watched;
    }
    stop();
    expect(await segments()).toHaveLength(5);
  });
});
