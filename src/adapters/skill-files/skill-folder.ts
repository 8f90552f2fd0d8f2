/**
 * Reads files of one folder and of nothing else: every link is followed before anything is opened, and what was opened
 * is what was checked.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_SKILL_DEPTH, MAX_SKILL_FILES } from '../../machines/skill/skill-definition.ts';
import { hasCode, isMissing } from '../system/error-codes.ts';
import { READING_NO_LINK, bytesOf } from '../system/own-files.ts';

export interface FolderText {
  readonly text: string;
  readonly bytes: number;
}

export interface SkillFolder {
  /** What errors call it. */
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
}

/**
 * @param file from there, with slashes
 * @throws RuntimeError SKILL_FILE_NOT_FOUND; SKILL_FILE_REFUSED for what lies elsewhere, is no text, or holds more than
 * `maxBytes`
 */
export async function readFolderText(
  { name, folder }: SkillFolder,
  file: string,
  maxBytes: number,
): Promise<FolderText> {
  const refused = (because: string): RuntimeError => fileRefused({ name, file }, because);
  try {
    const root = await realpath(folder);
    const path = await realpath(join(root, file));
    if (path === root) throw refused('it is the folder of the skill itself');
    if (!path.startsWith(`${root}${sep}`)) throw refused('it leads out of the folder of the skill');
    // A link that took its place just now is not followed, and a pipe without a writer is not waited for.
    const handle = await open(path, READING_NO_LINK);
    try {
      const opened = await handle.stat({ bigint: true });
      if (!opened.isFile()) throw refused(opened.isDirectory() ? 'it is a folder' : 'it is no file');
      if (!(await isStillThere(path, opened))) throw refused('it was replaced while it was opened');
      if (opened.size > maxBytes) throw refused(`it holds ${opened.size} bytes, more than ${maxBytes}`);
      const bytes = await bytesOf(handle, Number(opened.size));
      const text = decoded(bytes);
      if (text === undefined) throw refused('it is not UTF-8 text');
      return { text, bytes: bytes.length };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (RuntimeError.is(error)) throw error;
    if (isMissing(error)) throw notFound({ name, file });
    throw isNoPath(error) ? refused(messageOf(error)) : unreadable({ name, file }, error);
  }
}

/** The folders above it may have been replaced by links between the check and the opening. */
async function isStillThere(path: string, opened: BigIntStats): Promise<boolean> {
  if ((await realpath(path)) !== path) return false;
  const now = await lstat(path, { bigint: true });
  return now.ino === opened.ino && now.dev === opened.dev;
}

/** Plain files below a folder, from there with slashes, by name; links are left out. At most MAX_SKILL_FILES. */
export async function listFolder(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const check = async (path: string, prefix: string, depth: number): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (files.length >= MAX_SKILL_FILES) return;
      if (entry.name.startsWith('.')) continue;
      if (entry.isFile()) files.push(`${prefix}${entry.name}`);
      else if (entry.isDirectory() && depth < MAX_SKILL_DEPTH)
        await check(join(path, entry.name), `${prefix}${entry.name}/`, depth + 1);
    }
  };
  await check(folder, '', 1);
  return files;
}

/** Links in a circle, names that are too long. */
function isNoPath(error: unknown): boolean {
  return hasCode(error, 'ELOOP', 'ENAMETOOLONG');
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

interface FileOfSkill {
  readonly name: string;
  readonly file: string;
}

function notFound({ name, file }: FileOfSkill): RuntimeError {
  return new RuntimeError('SKILL_FILE_NOT_FOUND', `the skill ${name} has no file ${JSON.stringify(file)}`, {
    category: 'not_found',
    hint: 'Read the skill without a file: the reply names those that it has.',
  });
}

function unreadable({ name, file }: FileOfSkill, cause: unknown): RuntimeError {
  return new RuntimeError(
    'STORAGE_FAILED',
    `the file ${JSON.stringify(file)} of the skill ${name} could not be read: ${messageOf(cause)}`,
    { category: 'storage', hint: 'Check who owns it and its permissions.', cause },
  );
}

function fileRefused({ name, file }: FileOfSkill, because: string): RuntimeError {
  return new RuntimeError(
    'SKILL_FILE_REFUSED',
    `the file ${JSON.stringify(file)} of the skill ${name} is not read: ${because}`,
    { category: 'permission', hint: 'Skills hold text files of their own, in their folder.' },
  );
}
