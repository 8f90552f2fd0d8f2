/** A log file that follows the log in memory: what it says when it cannot keep up or its disk is full. */
import { execFile } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiskLog, formatLogLines } from '../../../src/adapters/shell/disk-log.ts';
import { within } from '../../../src/adapters/shell/deadline.ts';
import { fileNameOf } from '../../../src/adapters/shell/log-file-name.ts';
import { appendPrefixedLogLines } from '../../../src/machines/task/log-pages.ts';
import { LogRing } from '../../../src/machines/task/log-ring.ts';

let folder: string;
let failures: unknown[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-'));
  failures = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const follow = (ring: LogRing, path: string, file: FileHandle): DiskLog =>
  new DiskLog({ ring, path, file, limitBytes: 8 * 1_048_576, onFailure: (error) => failures.push(error) });

describe('a disk log', () => {
  it('writes what was logged before it began, and in between, once', async () => {
    const ring = new LogRing();
    const path = join(folder, 'a.log');
    ring.append('stdout', bytesOf('before\n'));
    const disk = follow(ring, path, await open(path, 'wx'));
    disk.wake();
    for (let line = 0; line < 1000; line += 1) {
      ring.append(line % 2 === 0 ? 'stdout' : 'stderr', bytesOf(`line ${line}\n`));
      disk.wake();
      if (line % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await disk.finish();
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toEqual(ring.page('t', undefined, Infinity).lines);
    expect(failures).toEqual([]);
  });

  it('wakes up again after it had nothing to do', async () => {
    const ring = new LogRing();
    const path = join(folder, 'a.log');
    const disk = follow(ring, path, await open(path, 'wx'));
    for (const word of ['one', 'two', 'three']) {
      disk.wake();
      disk.wake();
      await new Promise((resolve) => setImmediate(resolve));
      ring.append('stdout', bytesOf(`${word}\n`));
      disk.wake();
      await expect.poll(() => readFile(path, 'utf8')).toContain(word);
    }
    await disk.finish();
    await disk.finish();
  });

  it('says which lines are missing when the disk was slower than the output, and has the last ones', async () => {
    const ring = new LogRing({ limitBytes: 4096 });
    const path = join(folder, 'pipe');
    // A pipe that nobody reads is a disk that takes its time.
    await promisify(execFile)('mkfifo', [path]);
    const reader = await open(path, 'r+');
    const disk = follow(ring, path, await open(path, 'r+'));
    let line = 0;
    for (let batch = 0; batch < 200; batch += 1) {
      for (let count = 0; count < 100; count += 1) ring.append('stdout', bytesOf(`line ${line++}\n`));
      disk.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const finished = disk.finish();
    const written = await readUntil(reader, `[stdout] line ${line - 1}\n`);
    await finished;
    await reader.close();
    const lines = written.trimEnd().split('\n');
    let expected = 0;
    let gaps = 0;
    for (const text of lines) {
      const missing = /^\[system\] (\d+) lines are missing here/.exec(text)?.[1];
      if (missing !== undefined) {
        expected += Number(missing);
        gaps += 1;
      } else expect(text).toBe(`[stdout] line ${expected++}`);
    }
    expect(expected).toBe(20_000);
    expect(gaps).toBeGreaterThan(0);
    expect(failures).toEqual([]);
  });

  it('gives up on a full disk, once, and keeps nobody waiting', async () => {
    const ring = new LogRing();
    const disk = follow(ring, '/dev/full', await open('/dev/full', 'w'));
    for (const word of ['one\n', 'two\n', 'three\n']) {
      ring.append('stdout', bytesOf(word));
      disk.wake();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await disk.finish();
    expect(failures).toEqual([expect.objectContaining({ code: 'ENOSPC' })]);
    expect(await disk.read(0, 10)).toBeUndefined();
  });
});

async function readUntil(file: FileHandle, end: string): Promise<string> {
  const buffer = Buffer.alloc(65_536);
  let text = '';
  while (!text.endsWith(end)) text += buffer.toString('utf8', 0, (await file.read(buffer, 0, buffer.length)).bytesRead);
  return text;
}

describe('formatted lines', () => {
  it('are those that a plain log would have, whatever the bytes', () => {
    const text = fc
      .array(fc.constantFrom('a', 'é🦊', '\n', '\r\n', '\r', '\n\n', ' '), { maxLength: 40 })
      .map((parts) => `x${parts.join('')}\n`);
    fc.assert(
      fc.property(text, (written) => {
        const lines: string[] = [];
        appendPrefixedLogLines(lines, 'stderr', written);
        expect(formatLogLines({ source: 'stderr', bytes: bytesOf(written) }).toString('utf8')).toBe(
          `${lines.join('\n')}\n`,
        );
      }),
    );
  });

  it('keep bytes that are no text', () => {
    expect([...formatLogLines({ source: 's', bytes: Uint8Array.of(0xff, 0, 10) })]).toEqual([
      ...Buffer.from('[s] '),
      0xff,
      0,
      10,
    ]);
  });
});

describe('a file name made of an id', () => {
  it('is different for different ids, and safe', () => {
    const ids = ['', '.', '..', 'a', 'A', 'a/b', 'a%2fb', 'ü', '%', 'x'.repeat(300), 'x'.repeat(301), 'a\nb', '-rf'];
    const names = ids.map(fileNameOf);
    expect(new Set(names).size).toBe(ids.length);
    for (const name of names) expect(name).toMatch(/^[\w%-][\w%.-]{0,159}$/);
  });
});

describe('waiting with a deadline', () => {
  it('passes results and failures on, and does not wait longer', async () => {
    expect(await within(Promise.resolve(1), 1000, 'it')).toBe(1);
    await expect(within(Promise.reject(new Error('no')), 1000, 'it')).rejects.toThrow('no');
    await expect(within(new Promise(() => undefined), 1, 'it')).rejects.toThrow('it took longer than 1 ms');
  });
});
