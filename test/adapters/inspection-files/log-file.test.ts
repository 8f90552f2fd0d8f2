/** A stored inspection log is read from a file as far as it goes, whatever happens to the file meanwhile. */
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CAUGHT_UP, openLogSource } from '../../../src/actors/inspection/log-source.ts';
import type { LogPiece, LogSource } from '../../../src/actors/inspection/log-source.ts';
import { openLogFile } from '../../../src/adapters/inspection-files/log-file.ts';
import { piecesOfStream } from '../../../src/adapters/inspection-files/log-text.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const HEADER = `${JSON.stringify({ format: 'inspection-log/1', boot: 'b', startedAt: 1 })}\n`;
const line = (s: number): string => `${JSON.stringify({ k: 'emit', s, t: s, a: 'b:x:1', type: 'sägte' })}\n`;
const log = (count: number): string => HEADER + Array.from({ length: count }, (_, index) => line(index + 1)).join('');

let folder: TemporaryHome;
beforeEach(async () => {
  folder = await temporaryHome();
});
afterEach(() => folder.remove());

const pathOf = (name: string): string => join(folder.path, name);

async function opened(path: string, options: Parameters<typeof openLogFile>[1] = {}): Promise<LogSource> {
  const source = await openLogSource({
    title: 'x',
    pieces: await openLogFile(path, { checkMs: 5, ...options }),
    onProblem: () => undefined,
  });
  onTestFinished(() => source.close());
  await source.caughtUp;
  return source;
}

async function allOf(pieces: AsyncIterable<LogPiece>): Promise<LogPiece[]> {
  const all: LogPiece[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

const textOf = (pieces: readonly LogPiece[]): string => pieces.filter((piece) => typeof piece === 'string').join('');
const notesOf = (pieces: readonly LogPiece[]): unknown[] => pieces.filter((piece) => typeof piece === 'object');

describe('a log in a file', () => {
  it.each(['plain', 'packed'])('is read whole, whatever it is called: %s', async (kind) => {
    const text = log(20_000);
    await writeFile(pathOf('log'), kind === 'plain' ? text : gzipSync(text));
    const pieces = await allOf(await openLogFile(pathOf('log'), { follow: false }));
    expect([textOf(pieces) === text, notesOf(pieces), pieces.at(-1)]).toEqual([true, [], CAUGHT_UP]);
    const source = await opened(pathOf('log'), { follow: false });
    await expect.poll(() => source.about().hasEnded, { interval: 5 }).toBe(true);
    expect([source.range(), source.about().notes]).toEqual([{ first: 1, last: 20_000 }, []]);
  });

  it('that still grows is followed, also in the middle of a line and of a letter', async () => {
    await writeFile(pathOf('log'), log(3));
    const source = await opened(pathOf('log'));
    expect([source.range().last, source.about().hasEnded]).toEqual([3, false]);
    const bytes = Buffer.from(line(4));
    const middle = bytes.indexOf(Buffer.from('ä')) + 1;
    await appendFile(pathOf('log'), bytes.subarray(0, middle));
    await appendFile(pathOf('log'), bytes.subarray(middle));
    await expect.poll(() => source.range().last, { interval: 5 }).toBe(4);
    expect(source.about().notes).toEqual([]);
  });

  it.each([
    [
      'cut short',
      (path: string) => truncate(path, 10),
      'The file was cut short; what was written to it since is not read. Open it again.',
    ],
    [
      'replaced',
      async (path: string) => {
        await writeFile(`${path}.new`, log(1));
        await rename(`${path}.new`, path);
      },
      'The file was replaced by another one; this is the one before. Open it again.',
    ],
    ['removed', (path: string) => rm(path), 'The file was removed; nothing is added any more.'],
  ])('that is %s while it is followed keeps what was read, and says so', async (_what, happen, note) => {
    await writeFile(pathOf('log'), log(5));
    const source = await opened(pathOf('log'));
    await happen(pathOf('log'));
    await expect.poll(() => source.about(), { interval: 5 }).toMatchObject({ hasEnded: true, notes: [note] });
    expect(source.range().last).toBe(5);
  });

  it('that is packed and torn, or damaged, is shown as far as it can be unpacked', async () => {
    const packed = gzipSync(log(20_000));
    await writeFile(pathOf('torn'), packed.subarray(0, Math.floor(packed.length / 2)));
    const torn = await opened(pathOf('torn'));
    await expect.poll(() => torn.about().hasEnded, { interval: 5 }).toBe(true);
    expect(torn.range().last).toBeGreaterThan(100);
    expect(torn.about().notes).toContainEqual(expect.stringContaining('is damaged or has no end'));
    packed.fill(0xff, Math.floor(packed.length / 2), Math.floor(packed.length / 2) + 40);
    await writeFile(pathOf('damaged'), packed);
    const pieces = await allOf(await openLogFile(pathOf('damaged')));
    expect([textOf(pieces).startsWith(HEADER), notesOf(pieces).length]).toEqual([true, 1]);
  });

  it('releases the file when its reader leaves', async () => {
    await writeFile(pathOf('log'), log(2));
    const source = await opened(pathOf('log'));
    const open = (): string =>
      execFileSync('sh', ['-c', `ls -l /proc/${process.pid}/fd | grep -c '${folder.path}' || true`], {
        encoding: 'utf8',
      }).trim();
    expect(open()).toBe('1');
    source.close();
    await expect.poll(open, { interval: 5 }).toBe('0');
  });

  it.each([
    ['is not there', async () => pathOf('none'), 'INSPECTION_FILE_MISSING', 'not_found'],
    [
      'is below a file',
      async () => {
        await writeFile(pathOf('file'), '');
        return pathOf('file/log');
      },
      'INSPECTION_FILE_MISSING',
      'not_found',
    ],
    [
      'is a folder',
      async () => {
        await mkdir(pathOf('folder'));
        return pathOf('folder');
      },
      'INSPECTION_FILE_UNREADABLE',
      'validation',
    ],
    [
      'is a pipe, for which nobody waits',
      async () => {
        execFileSync('mkfifo', [pathOf('pipe')]);
        return pathOf('pipe');
      },
      'INSPECTION_FILE_UNREADABLE',
      'validation',
    ],
  ])('is refused where it %s', async (_what, make, code, category) => {
    await expect(openLogFile(await make())).rejects.toMatchObject({ code, category, hint: expect.any(String) });
  });
});

describe('a log that comes through a pipe', () => {
  it.each(['plain', 'packed'])('is read however it is cut: %s', async (kind) => {
    const bytes = kind === 'plain' ? Buffer.from(log(50)) : gzipSync(log(50));
    const chunks = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    const pieces = await allOf(piecesOfStream(Readable.from(chunks)));
    expect([textOf(pieces), notesOf(pieces), pieces.at(-1)]).toEqual([log(50), [], CAUGHT_UP]);
  });

  it.each([0, 1])('may be short: %i bytes', async (length) => {
    expect(textOf(await allOf(piecesOfStream(Readable.from(length === 0 ? [] : [Buffer.from('x')]))))).toBe(
      'x'.repeat(length),
    );
  });

  it('is released when its reader leaves', async () => {
    const stream = Readable.from(
      (function* endless() {
        yield Buffer.from(HEADER);
        for (let s = 1; ; s += 1) yield Buffer.from(line(s));
      })(),
    );
    for await (const _piece of piecesOfStream(stream)) break;
    expect(stream.destroyed).toBe(true);
  });
});
