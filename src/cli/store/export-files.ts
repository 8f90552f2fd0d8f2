/** Exports of sessions as files: written so that a file under its name is a whole one, and read again to know it. */
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { checkExport } from '../../actors/session/session-transfer.ts';
import { storageFailed } from '../../adapters/files/storage-errors.ts';
import { syncFolder } from '../../adapters/system/whole-files.ts';

/** Text that is written at once, in characters. */
const PIECE_CHARACTERS = 256 * 1024;

export function exportFile(directory: string, sessionId: string): string {
  return join(directory, `${sessionId}.jsonl`);
}

/** Whether the file holds all of this log. False when there is none. */
export async function isWholeExport(
  path: string,
  expected: { readonly sessionId: string; readonly agentId: string; readonly events: number },
): Promise<boolean> {
  try {
    const { sessionId, agentId, events } = await checkExport(
      createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity }),
    );
    return sessionId === expected.sessionId && agentId === expected.agentId && events === expected.events;
  } catch {
    // It is written anew, which says what is wrong if that is wrong too.
    return false;
  }
}

/** Puts the lines on the disk. @throws RuntimeError STORAGE_FAILED */
export async function writeExport(path: string, lines: AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.part`;
  try {
    await writeLines(temporary, lines);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw storageFailed(`write ${path}`, error);
  }
}

async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    let piece = '';
    for await (const line of lines) {
      piece += line;
      if (piece.length < PIECE_CHARACTERS) continue;
      await file.writeFile(piece);
      piece = '';
    }
    await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}
