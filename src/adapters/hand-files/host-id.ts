/**
 * Who a home is: an id that is made up once and kept in it, with the number that the file system gave the file. A home that was copied to another
 * machine has another number there, and so it becomes another one; two homes must never take each other's sessions for their own.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { HandHost } from '../../machines/hand/hand-standing.ts';
import { isMissing, storageFailed, systemCodeOf } from './hand-errors.ts';

const FILE = 'host-id';
const FILE_MODE = 0o600;

const shape = z.strictObject({ id: z.uuid(), inode: z.string() });

/** @throws RuntimeError STORAGE_FAILED */
export async function hostOfHome(home: string): Promise<HandHost> {
  const path = join(home, FILE);
  try {
    const id = (await idAt(path)) ?? (await makeId(home, path));
    return { id, name: hostname() };
  } catch (error) {
    throw storageFailed(`find out or make up the id of the home ${home}`, error);
  }
}

/** Undefined when there is none that was made for this place. */
async function idAt(path: string): Promise<string | undefined> {
  try {
    const [text, { ino }] = await Promise.all([readFile(path, 'utf8'), stat(path, { bigint: true })]);
    const parsed = shape.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.inode === String(ino) ? parsed.data.id : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Of several who make one at the same time, one is first, and all take that. */
async function makeId(home: string, path: string): Promise<string> {
  const draft = join(home, `.${FILE}.${randomUUID()}.tmp`);
  const id = randomUUID();
  try {
    const file = await open(draft, 'wx', FILE_MODE);
    try {
      const { ino } = await file.stat({ bigint: true });
      await file.writeFile(JSON.stringify({ id, inode: String(ino) }));
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
    return id;
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
    const there = await idAt(path);
    if (there !== undefined) return there;
    // It came with a copy of another home, or was cut short: nobody goes by it.
    await rename(draft, path);
    return (await idAt(path)) ?? id;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}
