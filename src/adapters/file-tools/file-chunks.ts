/** The bytes of an open file, piece by piece, until the caller stops. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { MAX_HASHED_BYTES } from '../../machines/turn/files/file-limits.ts';

const CHUNK_BYTES = 64 * 1024;
const PROBE_BYTES = 1024;

/** The first piece of a file, from which its kind can be told. */
export interface Beginning {
  readonly handle: FileHandle;
  readonly bytes: Buffer;
  /** Bytes of the whole file. */
  readonly size: number;
}

export async function beginningOf(handle: FileHandle): Promise<Beginning> {
  const { size } = await handle.stat();
  // What the system makes up as it is read has no size beforehand. Memory for pieces that stay empty is what a search
  // would spend most on.
  const wanted = size === 0 ? PROBE_BYTES : Math.min(size, CHUNK_BYTES);
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, 0);
  return { handle, bytes: buffer.subarray(0, bytesRead), size };
}

/** All of a file whose beginning was read. Each piece is good until the next one is asked for. */
export async function* chunksFrom({ handle, bytes, size }: Beginning, signal: AbortSignal): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  yield bytes;
  if (bytes.length < size || (size === 0 && bytes.length > 0)) yield* chunksOf(handle, signal, bytes.length);
}

/** A file from a position on. Each piece is good until the next one is asked for. */
export async function* chunksOf(handle: FileHandle, signal: AbortSignal, from = 0): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = from; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/**
 * What tells one state of a file from another: its content; for a large file its size, its number and its times. A file
 * is told by the one or the other depending on its size alone, so that two states can be compared.
 */
export async function versionOf(handle: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = new VersionHash();
  for await (const chunk of chunksOf(handle, signal)) if (!hash.add(chunk)) break;
  return hash.version(await handle.stat({ bigint: true }));
}

/** The same, of bytes that pass by anyway. */
export class VersionHash {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** Says whether the rest is needed. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HASHED_BYTES) return false;
    this.#hash.update(chunk);
    return true;
  }

  /** To be asked once, after the end of the file or when the rest was not needed. */
  version(stats: BigIntStats): string {
    return this.#bytes > MAX_HASHED_BYTES ? `state:${stateOf(stats)}` : `content:${this.#hash.digest('base64')}`;
  }
}

/** The version of a file that holds this and is not large. */
export function contentVersion(content: Uint8Array): string {
  return `content:${createHash('sha256').update(content).digest('base64')}`;
}

/** What changes with every change to a file, as finely as the file system keeps time. */
export function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
