/**
 * A stored inspection log as pieces of text, from a file: compressed or not, which its first bytes say. One that is not
 * compressed may still be written to: it is followed, until its reader leaves, or it is cut short, replaced or removed,
 * which is told.
 */
import { constants, createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { LogPiece } from '../../actors/inspection/log-source.ts';
import { CAUGHT_UP } from '../../actors/inspection/log-source.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { isMissing, systemCodeOf } from '../system/error-codes.ts';
import { pause } from '../system/waiting.ts';
import { isGzip, textOf, unpacked } from './log-text.ts';

export interface LogFileOptions {
  /** Whether what is written later is read too. Nothing is written to a compressed one. Default true. */
  readonly follow?: boolean | undefined;
  /** How often a file that is followed is checked, in milliseconds. Default 250. */
  readonly checkMs?: number | undefined;
}

const CHECK_MS = 250;
const CHUNK_BYTES = 256 * 1024;
/** A pipe of that name does not keep us waiting. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Opens the file, and reads it as it is asked for. `return` of the iterator closes it, also while it waits.
 * @throws RuntimeError INSPECTION_FILE_MISSING, INSPECTION_FILE_UNREADABLE
 */
export async function openLogFile(
  path: string,
  { follow = true, checkMs = CHECK_MS }: LogFileOptions = {},
): Promise<AsyncIterable<LogPiece>> {
  const handle = await opened(path);
  const left = new AbortController();
  const pieces = piecesOf({ path, handle, follow, checkMs, left: left.signal });
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => pieces.next(),
      async return() {
        left.abort();
        await pieces.return(undefined);
        await handle.close().catch(() => undefined);
        return { done: true, value: undefined };
      },
    }),
  };
}

async function opened(path: string): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, READING);
    if ((await handle.stat()).isFile()) return handle;
  } catch (cause) {
    await handle?.close();
    const code = systemCodeOf(cause);
    if (isMissing(cause))
      throw new RuntimeError('INSPECTION_FILE_MISSING', `there is no file ${JSON.stringify(path)}`, {
        category: 'not_found',
        hint: 'Give the path of an inspection log, or none to check the sessions of the home.',
        cause,
      });
    throw unreadable(path, code ?? 'no reason was given', cause);
  }
  await handle.close();
  throw unreadable(path, 'it is no file');
}

function unreadable(path: string, because: string, cause?: unknown): RuntimeError {
  return new RuntimeError('INSPECTION_FILE_UNREADABLE', `cannot read ${JSON.stringify(path)}: ${because}`, {
    category: 'validation',
    hint: 'Give a plain file that you may read; "-" reads what comes through a pipe.',
    ...(cause === undefined ? {} : { cause }),
  });
}

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly follow: boolean;
  readonly checkMs: number;
  readonly left: AbortSignal;
}

async function* piecesOf(file: OpenFile): AsyncGenerator<LogPiece, undefined> {
  const { handle, left } = file;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    if (isGzip(buffer.subarray(0, bytesRead)))
      yield* unpacked(
        createReadStream('', { fd: handle, start: 0, autoClose: false, highWaterMark: CHUNK_BYTES, signal: left }),
      );
    else yield* textOf(bytesOf(file));
    yield CAUGHT_UP;
  } catch (error) {
    if (!left.aborted) throw error;
  } finally {
    await handle.close().catch(() => undefined);
  }
  return undefined;
}

/** Everything that is there, and with `follow` what is added. */
async function* bytesOf(file: OpenFile): AsyncGenerator<Buffer | Exclude<LogPiece, string>> {
  const { handle, follow, left } = file;
  let position = 0;
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (left.aborted) return;
    position += bytesRead;
    if (bytesRead > 0) {
      yield buffer.subarray(0, bytesRead);
      continue;
    }
    if (!follow) return;
    yield CAUGHT_UP;
    const end = await changed(file, position);
    if (end === 'left') return;
    if (end === 'grown') continue;
    yield { note: end };
    return;
  }
}

/**
 * Waits by checking: what tells of changes to files is not to be relied upon everywhere. @returns a note where nothing
 * can be added any more
 */
async function changed({ path, handle, checkMs, left }: OpenFile, size: number): Promise<string> {
  for (;;) {
    await pause(checkMs, { signal: left });
    if (left.aborted) return 'left';
    const [own, named] = await Promise.all([handle.stat(), stat(path).catch(() => undefined)]);
    if (own.size > size) return 'grown';
    if (own.size < size) return 'The file was cut short; what was written to it since is not read. Open it again.';
    if (named === undefined) return 'The file was removed; nothing is added any more.';
    if (named.ino !== own.ino || named.dev !== own.dev)
      return 'The file was replaced by another one; this is the one before. Open it again.';
  }
}
