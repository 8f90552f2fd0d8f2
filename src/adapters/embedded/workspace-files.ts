/**
 * The files that a conversation refers to, read from the session's workspace and from nowhere else, whatever a path or
 * a link says.
 */
import { open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../machines/errors.ts';
import { isMissing, systemCodeOf } from '../system/error-codes.ts';
import { READING_NO_LINK, bytesOf } from '../system/own-files.ts';
import { isWithin } from '../system/whole-files.ts';

type FileReading =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** In words that end a sentence. */
  | { readonly kind: 'unusable'; readonly reason: string };

interface FileRequest {
  /** Absolute. */
  readonly workspaceDir: string;
  /** From there. */
  readonly path: string;
  readonly maxBytes: number;
}

export interface WorkspaceFiles {
  /** Never rejects: a file that is gone must not end a conversation. */
  read(request: FileRequest): Promise<FileReading>;
}

const unusable = (reason: string): FileReading => ({ kind: 'unusable', reason });

export const workspaceFiles: WorkspaceFiles = {
  async read({ workspaceDir, path, maxBytes }) {
    try {
      const root = await realpath(workspaceDir);
      const place = await realpath(resolve(root, path));
      if (place === root || !isWithin(root, place)) return unusable('it lies outside the workspace');
      // The last name may have become a link since it was checked, or a pipe without a writer.
      const file = await open(place, READING_NO_LINK);
      try {
        if ((await realpath(place)) !== place) return unusable('it was moved while it was read');
        return await contentOf(file, maxBytes);
      } finally {
        await file.close();
      }
    } catch (error) {
      return unusable(
        isMissing(error) ? 'it is not there any more' : `it cannot be read: ${systemCodeOf(error) ?? messageOf(error)}`,
      );
    }
  },
};

async function contentOf(file: FileHandle, maxBytes: number): Promise<FileReading> {
  const stats = await file.stat();
  if (!stats.isFile()) return unusable('it is no file');
  if (stats.size > maxBytes) return unusable(`it has ${stats.size} bytes, and ${maxBytes} are shown at most`);
  // One that shrinks meanwhile is shorter than was said, one that grows is shown as it was.
  return { kind: 'bytes', bytes: await bytesOf(file, stats.size) };
}
