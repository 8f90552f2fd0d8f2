/**
 * Keeps drawings in memory and in a folder, by what they were drawn of. A cache is never a reason to fail: what cannot
 * be read is drawn, what cannot be written is not kept.
 */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { withPlainFile } from '../system/own-files.ts';
import { makeFolder, replaceFile } from '../system/whole-files.ts';
import { sha256Of } from './diagram-hash.ts';

export interface CacheEntry {
  /** Hexadecimal digits. */
  readonly key: string;
  readonly directory: string | undefined;
}

const MOST_IN_MEMORY = 128;
const MOST_CHARACTERS_IN_MEMORY = 16 * 1024 * 1024;
const MOST_FILES = 256;
const MOST_BYTES = 8 * 1024 * 1024;
const SUFFIX = '.svg';
/** Of a draft whose writer was killed. */
const OLD_DRAFT_MS = 60 * 60 * 1000;
/** `<sha256 of the drawing>`, a line feed, the drawing. */
const DIGEST_LENGTH = 64;

/** The one asked for last stands last. */
const inMemory = new Map<string, string>();
const underway = new Map<string, Promise<string>>();

/**
 * The drawing of the key, from memory, from the folder, or drawn now and kept in both. Asked for twice at once, it is
 * drawn once.
 */
export async function cachedDrawing({ key, directory }: CacheEntry, draw: () => Promise<string>): Promise<string> {
  const known = inMemory.get(key);
  if (known !== undefined) {
    remember(key, known);
    if (directory !== undefined) await keep({ key, directory }, known);
    return known;
  }
  const place = JSON.stringify([key, directory ?? null]);
  const others = underway.get(place);
  if (others !== undefined) return others;
  const found = findOrDraw({ key, directory }, draw).finally(() => underway.delete(place));
  underway.set(place, found);
  return found;
}

/** Forgets what is kept in memory. */
export function forgetDrawings(): void {
  inMemory.clear();
}

async function findOrDraw({ key, directory }: CacheEntry, draw: () => Promise<string>): Promise<string> {
  const kept = directory === undefined ? undefined : await readKept(join(directory, key + SUFFIX));
  const drawing = kept ?? (await draw());
  remember(key, drawing);
  if (kept === undefined && directory !== undefined) await keep({ key, directory }, drawing);
  return drawing;
}

function remember(key: string, drawing: string): void {
  inMemory.delete(key);
  inMemory.set(key, drawing);
  let characters = 0;
  for (const each of inMemory.values()) characters += each.length;
  for (const [oldest, { length }] of inMemory) {
    if (inMemory.size <= MOST_IN_MEMORY && characters <= MOST_CHARACTERS_IN_MEMORY) break;
    inMemory.delete(oldest);
    characters -= length;
  }
}

/** What was kept, if it is whole. */
async function readKept(path: string): Promise<string | undefined> {
  return withPlainFile(path, async (file, size) => {
    if (size > MOST_BYTES) return undefined;
    const content = await file.readFile('utf8');
    const drawing = content.slice(DIGEST_LENGTH + 1);
    return content.charAt(DIGEST_LENGTH) === '\n' && content.slice(0, DIGEST_LENGTH) === sha256Of(drawing)
      ? drawing
      : undefined;
  }).catch(() => undefined);
}

async function keep(
  { key, directory }: { readonly key: string; readonly directory: string },
  drawing: string,
): Promise<void> {
  const path = join(directory, key + SUFFIX);
  try {
    if ((await readKept(path)) !== undefined) return;
    await makeFolder(directory, { durability: 'os' });
    await makeRoom(directory);
    await replaceFile(path, `${sha256Of(drawing)}\n${drawing}`, { durability: 'whole' });
  } catch {
    // It is drawn again.
  }
}

/** Removes the oldest drawings beyond the limit, and drafts that no process writes any more. Files of others stay. */
async function makeRoom(directory: string): Promise<void> {
  const names = await readdir(directory);
  const ours = names.filter((name) => /^[0-9a-f]{64}\.svg$/.test(name));
  const drafts = names.filter((name) => /^\.[0-9a-f]{64}\.(?:svg\.)?[0-9a-f-]{36}\.tmp$/.test(name));
  if (ours.length < MOST_FILES && drafts.length === 0) return;
  const dated = async (name: string): Promise<{ readonly path: string; readonly at: number }> => ({
    path: join(directory, name),
    at: (await stat(join(directory, name)).catch(() => ({ mtimeMs: 0 }))).mtimeMs,
  });
  const byAge = (await Promise.all(ours.map(dated))).toSorted((left, right) => left.at - right.at);
  const datedDrafts = await Promise.all(drafts.map(dated));
  // The time of the files themselves: a draft is old beside the others in the folder, whatever the clock says.
  const newest = Math.max(0, ...byAge.map(({ at }) => at), ...datedDrafts.map(({ at }) => at));
  const gone = [
    ...byAge.slice(0, Math.max(0, byAge.length - MOST_FILES + 1)),
    ...datedDrafts.filter(({ at }) => at < newest - OLD_DRAFT_MS),
  ];
  await Promise.all(gone.map(async ({ path }) => unlink(path).catch(() => undefined)));
}
