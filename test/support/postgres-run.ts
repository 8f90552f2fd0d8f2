/**
 * What the test files of a run share of PostgreSQL: its folder, the user that its programs run as, and work that is
 * done once for all of them.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const POLL_MS = 10;
/** Far beyond what anything done once takes, on a busy machine. */
const WAITING_LIMIT_MS = 60_000;

export const postgresRun = inject('postgresRun');

/** Whom the programs run as: not as root, which PostgreSQL and PgBouncer refuse. `nobody` has this number on Linux. */
const NOBODY = 65_534;
export const PROGRAM_USER: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** A new folder below the one of the run, which belongs to who runs the programs. @returns its absolute path */
export async function programFolder(name: string): Promise<string> {
  await mkdir(postgresRun.folder, { recursive: true, mode: 0o755 });
  const folder = join(postgresRun.folder, name);
  await mkdir(folder);
  await giveToPrograms(folder);
  return folder;
}

export async function giveToPrograms(folder: string): Promise<void> {
  const { uid, gid } = PROGRAM_USER;
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  await chmod(folder, 0o700);
}

/** Runs a program to its end, as the user of the programs. @throws Error with what it wrote to stderr */
export async function runProgram(program: string, words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, words, {
    ...PROGRAM_USER,
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
  });
  return stdout;
}

/**
 * Does `work` in the first test file that asks; all others, in this process and others, wait for its result. @throws
 * Error where it failed there
 */
export async function oncePerRun(name: string, work: () => Promise<string>): Promise<string> {
  await mkdir(postgresRun.folder, { recursive: true, mode: 0o755 });
  const file = join(postgresRun.folder, `${name}.result`);
  if (await isFirst(`${file}.taken`)) {
    const result = await work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: String(error) }),
    );
    await writeFile(`${file}.draft`, JSON.stringify(result), { mode: 0o600 });
    await rename(`${file}.draft`, file);
  }
  const { value, error } = await resultIn(file);
  if (value === undefined) throw new Error(`${name}: ${error}`);
  return value;
}

async function isFirst(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch {
    return false;
  }
}

async function resultIn(file: string): Promise<{ readonly value?: string; readonly error?: string }> {
  for (const deadline = performance.now() + WAITING_LIMIT_MS; performance.now() < deadline; await wait(POLL_MS)) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text) as { readonly value?: string; readonly error?: string };
  }
  return { error: 'whoever began has not come to an end' };
}
