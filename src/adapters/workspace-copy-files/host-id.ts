/**
 * Who a home is: an id that is made up once and kept in it, with the number that the file system gave the file and what
 * the machine and its disk are known by. A home that was copied has another number, one on a copied disk is elsewhere,
 * and so it becomes another one; two homes must never take each other's sessions for their own.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { HomeHost } from '../../machines/workspace-copy/copy-state.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { placeOf } from './host-place.ts';
import { isMissing, storageFailed } from './copy-errors.ts';

const FILE = 'host-id';
const FILE_MODE = 0o600;

const shape = z.strictObject({ id: z.uuid(), inode: z.string(), place: z.string() });

/** @param root where the system shows what it is. @throws RuntimeError STORAGE_FAILED */
export async function hostOfHome(home: string, root?: string): Promise<HomeHost> {
  const path = join(home, FILE);
  try {
    const place = await placeOf(home, root);
    const id = (await idAt(path, place)) ?? (await makeId(path, place));
    return { id, name: hostname() };
  } catch (error) {
    throw storageFailed(`find out or make up the id of the home ${home}`, error);
  }
}

/** Without making one up. @returns undefined where nothing has been at home yet @throws what reading it throws */
export async function hostIdOf(home: string): Promise<string | undefined> {
  return idAt(join(home, FILE), await placeOf(home));
}

/** Undefined when there is none that was made for this place. */
async function idAt(path: string, place: string): Promise<string | undefined> {
  try {
    const [text, { ino }] = await Promise.all([readFile(path, 'utf8'), stat(path, { bigint: true })]);
    const parsed = shape.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.inode === String(ino) && parsed.data.place === place
      ? parsed.data.id
      : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Of several who make one at the same time, one is first, and all take that. */
async function makeId(path: string, place: string): Promise<string> {
  const draft = join(dirname(path), `.${FILE}.${randomUUID()}.tmp`);
  const id = randomUUID();
  try {
    const file = await open(draft, 'wx', FILE_MODE);
    try {
      const { ino } = await file.stat({ bigint: true });
      await file.writeFile(JSON.stringify({ id, inode: String(ino), place }));
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
    return id;
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
    const there = await idAt(path, place);
    if (there !== undefined) return there;
    // It came with a copy of another home, or was cut short: no process goes by it.
    await rename(draft, path);
    return (await idAt(path, place)) ?? id;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}
