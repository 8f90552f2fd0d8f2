/**
 * The folder of written audits: for each chart a page, the audit as JSON and a diagram, and an index. Only files that
 * were written here are ever removed.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode } from '../system/error-codes.ts';

/** Contents by file name. */
export type AuditFiles = ReadonlyMap<string, string>;

export interface StaleFile {
  readonly name: string;
  /** `left`: its chart is gone. */
  readonly problem: 'missing' | 'differs' | 'left';
}

/** By what stands at the beginning of a file that was written here. */
const MARKS: Readonly<Record<string, (text: string) => boolean>> = {
  '.md': (text) => text.includes('<!-- Written by "wakechart audit --write".'),
  '.json': (text) => text.startsWith('{\n  "format": "chart-audit/1"'),
  '.svg': (text) => /^<svg[^>]* data-diagram="/.test(text),
};

/**
 * What differs between the folder and what it should hold. A folder that is not there lacks everything. @throws
 * RuntimeError AUDIT_FILES_UNREADABLE
 */
export async function staleAuditFiles(directory: string, files: AuditFiles): Promise<readonly StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const [name, content] of files) {
    const found = await readIfThere(join(directory, name));
    if (found === undefined) stale.push({ name, problem: 'missing' });
    else if (found !== content) stale.push({ name, problem: 'differs' });
  }
  for (const name of await leftFiles(directory, files)) stale.push({ name, problem: 'left' });
  return stale;
}

/**
 * Writes what is not there as it should be, each file whole or not at all, and removes what earlier audits left.
 * @throws RuntimeError AUDIT_FILES_UNWRITABLE
 */
export async function writeAuditFiles(directory: string, files: AuditFiles): Promise<readonly StaleFile[]> {
  const stale = await staleAuditFiles(directory, files);
  try {
    await mkdir(directory, { recursive: true });
    for (const { name, problem } of stale) {
      if (problem === 'left') await rm(join(directory, name));
      else await writeWhole(join(directory, name), files.get(name) ?? '');
    }
  } catch (cause) {
    throw new RuntimeError(
      'AUDIT_FILES_UNWRITABLE',
      `the audits could not be written to ${directory}: ${messageOf(cause)}`,
      {
        category: 'storage',
        hint: 'Check the folder and the space on its disk, or name another with --out.',
        cause,
      },
    );
  }
  return stale;
}

/** A picture with a seal at its end, by which a change by hand is seen without drawing it again. */
export function sealed(picture: string): string {
  const text = picture.endsWith('\n') ? picture : `${picture}\n`;
  return `${text}<!-- sha256 ${createHash('sha256').update(text).digest('hex')} -->\n`;
}

/**
 * A picture of the folder as it was written; undefined where it is missing or was changed since. @throws RuntimeError
 * AUDIT_FILES_UNREADABLE
 */
export async function writtenPicture(directory: string, name: string): Promise<string | undefined> {
  const found = await readIfThere(join(directory, name));
  const seal = found?.lastIndexOf('<!-- sha256 ') ?? -1;
  return found !== undefined && seal > 0 && sealed(found.slice(0, seal)) === found ? found : undefined;
}

async function leftFiles(directory: string, files: AuditFiles): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of (await namesIn(directory)).toSorted()) {
    const isOurs = MARKS[/\.[a-z]+$/.exec(name)?.[0] ?? ''];
    if (files.has(name) || isOurs === undefined) continue;
    if (isOurs((await readIfThere(join(directory, name))) ?? '')) left.push(name);
  }
  return left;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory, { withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return [];
    throw unreadable(directory, cause);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('AUDIT_FILES_UNREADABLE', `could not read ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    hint: 'Name the folder of the audits with --out.',
    cause,
  });
}

async function writeWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    const file = await open(draft, 'w');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
