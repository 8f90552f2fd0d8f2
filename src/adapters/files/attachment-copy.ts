/** Copies one file that a caller wants to send, a piece at a time, and says what it is. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_ATTACHMENT_BYTES, attachmentKindOf, shownName } from '../../machines/session/attachment-name.ts';
import type { Attachment } from '../../machines/session/event-parts.ts';
import type { AttachmentSource } from '../../machines/session/session-requests.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { READING_NO_LINK } from '../system/own-files.ts';

/** As much of its beginning as tells what a file is. */
const HEAD_BYTES = 8 * 1024;
const PIECE_BYTES = 256 * 1024;
const PRIVATE_FILE_MODE = 0o600;

export type CopiedFile = Omit<Attachment, 'path'>;

/** @throws RuntimeError ATTACHMENT_INVALID, and what the system says when the copy cannot be written */
export async function copyAttachment(source: AttachmentSource, to: string): Promise<CopiedFile> {
  const { path, mediaType } = source;
  const from = await open(path, READING_NO_LINK).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const stats = await from.stat();
    if (!stats.isFile())
      throw invalid(
        path,
        `expected a file, ${path} is ${stats.isDirectory() ? 'a folder' : 'a device, a pipe or a socket'}`,
      );
    if (stats.size > MAX_ATTACHMENT_BYTES) throw tooLarge(path, stats.size);
    const { sha256, bytes, head } = await copied(from, to, path);
    const name = shownName(source.name ?? basename(path));
    return { ...attachmentKindOf({ name, head, mediaType }), name, bytes, sha256 };
  } finally {
    await from.close();
  }
}

interface Content {
  readonly sha256: string;
  readonly bytes: number;
  readonly head: Uint8Array;
}

/** What is told of the content is told of what was written, whatever becomes of the file meanwhile. */
async function copied(from: FileHandle, to: string, path: string): Promise<Content> {
  const target = await open(to, 'wx', PRIVATE_FILE_MODE);
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let head: Buffer = Buffer.alloc(0);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await read(from, piece, path);
      if (bytesRead === 0) break;
      bytes += bytesRead;
      if (bytes > MAX_ATTACHMENT_BYTES) throw tooLarge(path, bytes);
      const content = piece.subarray(0, bytesRead);
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, content.subarray(0, HEAD_BYTES - head.length)]);
      hash.update(content);
      await target.writeFile(content);
    }
    await target.sync();
    return { sha256: hash.digest('hex'), bytes, head };
  } finally {
    await target.close();
  }
}

function read(from: FileHandle, piece: Buffer, path: string): Promise<{ readonly bytesRead: number }> {
  return from.read(piece, 0, piece.length, null).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

function unreadable(path: string, cause: unknown): RuntimeError {
  if (systemCodeOf(cause) === 'ELOOP')
    return invalid(path, `expected a file, ${path} is a link`, 'Name the file that it leads to.', cause);
  return invalid(
    path,
    `could not read ${path}: ${messageOf(cause)}`,
    'Check the path and its permissions; nothing was sent.',
    cause,
  );
}

function tooLarge(path: string, bytes: number): RuntimeError {
  return invalid(
    path,
    `expected at most ${MAX_ATTACHMENT_BYTES} bytes in ${path}, it holds ${bytes} or more`,
    'Send a part of it, or say in the message where the agent can find it.',
  );
}

function invalid(path: string, message: string, hint = 'Name a plain file.', cause?: unknown): RuntimeError {
  return new RuntimeError('ATTACHMENT_INVALID', message, { category: 'validation', hint, details: { path }, cause });
}
