/** What in a log is no record: told apart by whether a write was cut off or a record that was there is damaged. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { damageIn, isBeginningOfRecord } from '../../../src/adapters/files/log-damage.ts';
import { encodeRecord, encodeSeal } from '../../../src/adapters/files/record-codec.ts';
import { message, newEvent } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let log: string;
beforeEach(async () => {
  home = await temporaryHome();
  log = join(home.path, 'events.jsonl');
});
afterEach(() => home.remove());

const record = (n: number, text = `Grüße ${n}`): Buffer =>
  Buffer.from(encodeRecord({ events: [newEvent(n, message(text))] }).text);
const kinds = async (...parts: readonly (Buffer | string)[]): Promise<(readonly [string, number])[]> => {
  await writeFile(log, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return (await damageIn(log)).map(({ isTornWrite, isAtEnd, length }) => [
    `${isTornWrite ? 'torn' : 'damaged'}${isAtEnd ? ' at the end' : ''}`,
    length,
  ]);
};

describe('a write that was cut off', () => {
  it('anywhere is one, at the end of the log and when others have gone on behind it', async () => {
    const whole = record(2);
    // Its first newline is no part of its line, and with all but its last newline it is a record.
    for (let length = 2; length < whole.length - 1; length += 1)
      expect([length, isBeginningOfRecord(whole.subarray(1, length))]).toEqual([length, true]);
    for (const length of [2, 10, 40, whole.length - 2]) {
      const cut = whole.subarray(0, length);
      expect(await kinds(record(1), cut)).toEqual([['torn at the end', length - 1]]);
      expect(await kinds(record(1), cut, record(3))).toEqual([['torn', length]]);
    }
    expect(await kinds(record(1), whole.subarray(0, -1))).toEqual([['torn at the end', whole.length - 2]]);
    expect(await kinds(record(1), whole.subarray(0, -1), record(3))).toEqual([]);
  });

  it('may be a seal, or be cut off time and again', async () => {
    expect(
      await kinds(
        record(1),
        encodeSeal(2).slice(0, -4),
        record(2).subarray(0, 9),
        record(3).subarray(0, 60),
        record(4),
      ),
    ).toEqual([
      ['torn', encodeSeal(2).length - 4],
      ['torn', 9],
      ['torn', 60],
    ]);
  });

  it('may go on behind the record of another process that came in between', async () => {
    const whole = record(2);
    for (const at of [20, 60, whole.length - 3]) {
      expect(await kinds(record(1), whole.subarray(0, at), record(3), whole.subarray(at))).toEqual([
        ['torn', at],
        ['torn', whole.length - at],
      ]);
    }
  });
});

describe('a record that was there and is damaged', () => {
  const changed = (bytes: Buffer, at: number, to: string): Buffer =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(to), bytes.subarray(at + to.length)]);

  it('is none, whatever part of it is changed', async () => {
    const whole = record(2);
    for (let at = 1; at < whole.length - 2; at += 1) {
      const found = await kinds(
        record(1),
        changed(whole, at, whole.toString('latin1', at, at + 1) === '7' ? '9' : '7'),
        record(3),
      );
      expect([at, found]).toEqual([at, [['damaged', whole.length - 1]]]);
    }
  });

  it('is none when a newline has come into it: its end is told', async () => {
    const whole = record(2);
    expect((await kinds(record(1), changed(whole, 80, '\n'), record(3))).map(([kind]) => kind)).toEqual([
      'torn',
      'damaged',
    ]);
  });

  it.each([
    'junk',
    '\0\0\0\0',
    '{',
    '{"crc":"0123456x',
    '{"crc":"01234567","len":0',
    '{"crc":"01234567","len":99999999999',
  ])('may be %j, which no record begins with, or more of', async (text) => {
    const isBeginning = isBeginningOfRecord(Buffer.from(text));
    expect(isBeginning).toBe(text === '{');
    expect(await kinds(record(1), '\n', text, record(2))).toEqual([
      [isBeginning ? 'torn' : 'damaged', text.length + 1],
    ]);
  });
});

it('a line that somebody is writing at this moment is given the time to come to its end', async () => {
  const whole = record(2);
  await writeFile(log, Buffer.concat([record(1), whole.subarray(0, 30)]));
  const checking = damageIn(log);
  await appendFile(log, whole.subarray(30));
  expect(await checking).toEqual([]);
});

it('what a writer leaves that is killed, or whose file may not grow, is nothing but writes that were cut off', async () => {
  const script =
    'const { appendFileSync } = require("fs"); process.on("SIGXFSZ", () => {}); for (;;) try { appendFileSync(process.argv[1], process.argv[2]) } catch { break }';
  const line = record(1, 'x'.repeat(5_000)).toString();
  const writer = spawn('/bin/sh', ['-c', 'ulimit -f 64; exec "$@"', 'sh', process.execPath, '-e', script, log, line], {
    stdio: 'ignore',
  });
  await once(writer, 'close');
  expect((await stat(log)).size % Buffer.byteLength(line)).toBeGreaterThan(0);
  expect((await damageIn(log)).map(({ isTornWrite, isAtEnd }) => [isTornWrite, isAtEnd])).toEqual([[true, true]]);
  await appendFile(log, record(2));
  expect((await damageIn(log)).map(({ isTornWrite, isAtEnd }) => [isTornWrite, isAtEnd])).toEqual([[true, false]]);
  await truncate(log, (await readFile(log)).length - 3);
  expect((await damageIn(log)).map(({ isTornWrite }) => isTornWrite)).toEqual([true, true]);
});
