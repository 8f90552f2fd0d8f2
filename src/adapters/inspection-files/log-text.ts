/** Bytes of an inspection log as text: decoded across the ends of chunks, and unpacked where they are compressed. */
import type { Readable } from 'node:stream';
import { PassThrough, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { LogPiece } from '../../actors/inspection/log-source.ts';
import { CAUGHT_UP } from '../../actors/inspection/log-source.ts';
import { messageOf } from '../../machines/errors.ts';

/** By how it begins. */
export function isGzip(beginning: Uint8Array): boolean {
  return beginning[0] === 0x1f && beginning[1] === 0x8b;
}

/** Text and what stands between its pieces. Bytes that are no UTF-8 become the sign for that. */
export async function* textOf(chunks: AsyncIterable<Uint8Array | Exclude<LogPiece, string>>): AsyncGenerator<LogPiece> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array)) {
      yield chunk;
      continue;
    }
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** What is packed in it. Where it is damaged or has no end, what came before is there, and a note says so. */
export async function* unpacked(packed: Readable): AsyncGenerator<LogPiece> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  // The errors of both come out of the iterator below.
  pipeline(packed, gunzip, () => undefined);
  try {
    yield* textOf(gunzip as AsyncIterable<Uint8Array>);
  } catch (error) {
    yield {
      note: `The compressed log is damaged or has no end (${messageOf(error)}); what could be unpacked of it is shown.`,
    };
  } finally {
    packed.destroy();
    gunzip.destroy();
  }
}

/**
 * A log that comes through a pipe, compressed or not. It has ended when the pipe has; before that it is unknown how
 * much is still to come.
 */
export async function* piecesOfStream(stream: Readable): AsyncGenerator<LogPiece> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const beginning: Uint8Array[] = [];
  while (beginning.reduce((sum, { length }) => sum + length, 0) < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    beginning.push(next.value);
  }
  const whole = new PassThrough();
  const all = bytes(beginning, chunks);
  if (isGzip(Buffer.concat(beginning))) {
    pipeline(all, whole, () => undefined);
    yield* unpacked(whole);
  } else yield* textOf(all);
  yield CAUGHT_UP;
}

async function* bytes(beginning: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* beginning;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
