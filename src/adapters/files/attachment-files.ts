/**
 * Files that came with messages: `.wakechart-runtime/attachments/<sha256><.ext>` in the workspace of the session. They
 * are copied aside first and put in their places together, so that a file that cannot be had leaves nothing of the
 * others.
 */
import { Buffer } from 'node:buffer';
import { createHash, randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AttachmentStore } from '../../actors/session/attachment-store.ts';
import type { SessionDirectories } from '../../actors/session/session-directories.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import {
  attachmentFileName,
  attachmentKindOf,
  MAX_ATTACHMENT_BYTES,
  shownName,
} from '../../machines/session/attachment-name.ts';
import type { Attachment } from '../../machines/session/event-parts.ts';
import type { AttachmentSource } from '../../machines/session/session-requests.ts';
import { hasCode, systemCodeOf } from '../system/error-codes.ts';
import { HeldFolder } from '../system/held-folder.ts';
import { READING_NO_LINK } from '../system/own-files.ts';
import { realPlaceOf } from '../system/real-path.ts';
import { storageFailed } from './storage-errors.ts';

/** From the workspace, one folder in the other. */
const FOLDERS = ['.wakechart-runtime', 'attachments'] as const;

export function createAttachmentFiles(directories: Pick<SessionDirectories, 'workspaceDirectory'>): AttachmentStore {
  return {
    async keep(session, sources) {
      const folder = await openFolder(await directories.workspaceDirectory(session));
      const drafts: string[] = [];
      try {
        const copies: CopiedFile[] = [];
        for (const source of sources) {
          const draft = `.${randomUUID()}.tmp`;
          drafts.push(draft);
          copies.push(await copyAttachment(source, folder.at(draft)));
        }
        return await place(folder, copies, drafts);
      } catch (error) {
        throw storageFailed('keep the attachments', error);
      } finally {
        // Those that are in their places are not here any more.
        await Promise.all(drafts.map((draft) => unlink(folder.at(draft)).catch(() => undefined)));
        await folder.close();
      }
    },
  };
}

/** A content that is there already is put there again: a process in the workspace may have changed it. */
async function place(
  folder: HeldFolder,
  copies: readonly CopiedFile[],
  drafts: readonly string[],
): Promise<readonly Attachment[]> {
  const kept: Attachment[] = [];
  for (const [index, { sha256, ...copy }] of copies.entries()) {
    const file = attachmentFileName(sha256, copy.name);
    await rename(folder.at(drafts[index] ?? ''), folder.at(file));
    kept.push({ ...copy, sha256, path: [...FOLDERS, file].join('/') });
  }
  await folder.sync();
  return kept;
}

/** The folder itself, made when it is not there; never one that a link leads to. */
async function openFolder(workspace: string): Promise<HeldFolder> {
  let folder = await HeldFolder.open(await realPlaceOf(workspace));
  for (const name of FOLDERS)
    folder = await folder.into([name], {}).catch((error: unknown) => {
      throw hasCode(error, 'ELOOP', 'ENOTDIR')
        ? inTheWay(name, error)
        : storageFailed('make the folder of the attachments', error);
    });
  return folder;
}

function inTheWay(name: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'STORAGE_FAILED',
    `could not keep the attachments: expected "${name}" in the workspace of the session to be a folder, it is a link or a file`,
    {
      category: 'storage',
      hint: 'Remove what is in its place, then send again.',
      cause,
    },
  );
}

// Copies one file that a caller wants to send, a piece at a time, and says what it is.

/** As much of its beginning as tells what a file is. */
const HEAD_BYTES = 8 * 1024;
const PIECE_BYTES = 256 * 1024;
const PRIVATE_FILE_MODE = 0o600;

type CopiedFile = Omit<Attachment, 'path'>;

/** @throws RuntimeError ATTACHMENT_INVALID, and what the system says when the copy cannot be written */
async function copyAttachment(source: AttachmentSource, to: string): Promise<CopiedFile> {
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
