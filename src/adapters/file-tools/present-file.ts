/**
 * A file that is about to be replaced: held open, so that what is known about it stays true of it, and checked again
 * before the end.
 */
import { Buffer } from 'node:buffer';
import { access, constants } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { shownPath } from '../../machines/turn/files/file-path.ts';
import { stateOf } from './file-chunks.ts';
import { changedSince } from './file-errors.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import { openRegularFile } from './places.ts';
import type { Place } from './places.ts';

export interface PresentFile {
  readonly handle: FileHandle;
  readonly mode: number;
  /** @throws RuntimeError FILE_CHANGED when another file is there now, or this one has changed */
  readonly confirm: () => Promise<void>;
}

/**
 * Opens the file of a place in its folder for as long as `use` takes. @throws RuntimeError when it may not be written
 */
export async function withPresentFile<Result>(
  folder: HeldFolder,
  place: Place,
  use: (file: PresentFile) => Promise<Result>,
): Promise<Result> {
  const path = folder.at(basename(place.realPath));
  const handle = await openRegularFile(path, place.path);
  try {
    // Renaming another file over it would not ask for its mode.
    await access(path, constants.W_OK);
    const { mode } = await handle.stat();
    const state = stateOf(await handle.stat({ bigint: true }));
    const confirm = async (): Promise<void> => {
      if ((await presentState(path, place)) !== state) throw changedSince(place.path);
    };
    return await use({ handle, mode, confirm });
  } finally {
    await handle.close();
  }
}

async function presentState(path: string, place: Place): Promise<string> {
  const present = await openRegularFile(path, place.path);
  try {
    return stateOf(await present.stat({ bigint: true }));
  } finally {
    await present.close();
  }
}

/** Text as it is stored. @throws RuntimeError CONTENT_NOT_TEXT when a part of it could not be read back */
export function encodeText(text: string, path: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.toString() === text) return bytes;
  throw new RuntimeError(
    'CONTENT_NOT_TEXT',
    `cannot write ${shownPath(path)}: the text holds half of a surrogate pair, which UTF-8 cannot hold`,
    {
      category: 'validation',
      hint: 'Write the whole character.',
      details: { path },
    },
  );
}
