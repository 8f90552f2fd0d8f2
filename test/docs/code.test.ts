import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { checkout, codeBlocks, pages, readPage } from './pages.ts';
import type { CodeBlock } from './pages.ts';

/** A limit for what hangs: all of a page runs, program after program, beside other pages. */
const PATIENCE_MS = 120_000;

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder as a reader has it who has installed the package: `wakechart` can be imported and called. */
async function readersFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'docs-'));
  folders.push(folder);
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(checkout, join(folder, 'node_modules/wakechart'));
  const program = join(folder, 'node_modules/.bin/wakechart');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(checkout, 'dist/adapters/cli/main.js')}' "$@"\n`);
  await chmod(program, 0o755);
  return folder;
}

interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly complaints: string;
}

async function runProgram(command: string, words: readonly string[], cwd: string): Promise<Run> {
  const path = [join(cwd, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const child = spawn(command, words, { cwd, env: { ...process.env, PATH: path, WAKECHART_HOME: undefined }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close') as Promise<[number | null]>]);
  return { code, output, complaints };
}

async function runBlock({ info, code, line }: CodeBlock, cwd: string): Promise<Run> {
  const extension = info.startsWith('js') ? 'mjs' : 'sh';
  const file = join(cwd, `line-${line}.${extension}`);
  await writeFile(file, code);
  return extension === 'mjs' ? runProgram(process.execPath, [file], cwd) : runProgram('/bin/sh', ['-e', file], cwd);
}

const claims = (info: string, claim: string): boolean => info.split(' ').slice(1).includes(claim);

/** Pages with code that claims to run. */
const running = pages.filter((path) => codeBlocks(readPage(path)).some(({ info }) => claims(info, 'run')));

describe.concurrent('the code in', { timeout: PATIENCE_MS }, () => {
  it.each(running)('%s runs as it stands, from top to bottom, and prints what the page says', async (path) => {
    const cwd = await readersFolder();
    const blocks = codeBlocks(readPage(path));
    for (const [index, block] of blocks.entries()) {
      if (!claims(block.info, 'run')) continue;
      const { code, output, complaints } = await runBlock(block, cwd);
      expect({ path, line: block.line, code, complaints: code === 0 ? '' : complaints }).toEqual({ path, line: block.line, code: 0, complaints: '' });
      const next = blocks[index + 1];
      if (next !== undefined && claims(next.info, 'output')) expect(output).toBe(next.code);
    }
  });
});

it('pages that show how to do something show code that runs', () => {
  expect(running).toEqual(expect.arrayContaining(['README.md', 'docs/background-tasks.md', 'docs/sessions.md', 'docs/command-line.md', 'docs/processes.md', 'docs/backends.md', 'docs/subagents.md', 'docs/walk-through.md', 'docs/environments.md', 'docs/vaults.md', 'docs/memory.md', 'docs/outcomes.md', 'docs/skills.md', 'docs/retrieval.md', 'docs/import.md', 'docs/sandbox.md']));
});

describe.concurrent('an example', { timeout: PATIENCE_MS }, () => {
  it.each([
    ['run-a-command.mjs', [/^output "1\\n2\\n3\\noops\\n" exit code 3$/m, /^\[stderr\] oops$/m, /^TASK_TIMED_OUT: /m, /^sorted "apple\\npear\\n"$/m]],
    ['own-runner.mjs', [/^task_1 asks for say, and is waiting_permission$/m, /^"please delete nothing"$/m, /^timeout: .*\(idle\)$/m]],
    ['schedule.mjs', [/^fire 3: "ticker @ .*" wrote tick$/m, /^the schedule is cancelled$/m]],
    ['worker.mjs', [/^asked: may shell_run run .*notes\.txt.*\?$/m, /^lead says: My helper is done\.$/m, /^the worker ended because it was stopped$/m]],
    ['permission.mjs', [/^Waits for somebody: permission to run write$/m, /for the session: write\(notes\/one\.txt\)$/m, /^Done\.$/m, /^the agent counter worked for it$/m]],
    ['fallback.mjs', [/^ {2}failed: overloaded, so fall_back\. .*$/m, /^agent: Here I am instead\.$/m, /^ {2}passed over: busy\/large cools down for a while \(overloaded\)$/m, /^[\da-f-]{36} +helper +idle$/m]],
    ['model-server.mjs', [/^the server is asked for parrot-7b at \/v1\/chat\/completions$/m, /^it came in pieces$/m, /^agent: You said: hello over there$/m, /^it took 12 tokens to read and 6 to say$/m]],
    ['subagents.mjs', [/^writer: The guide is written and committed\.$/m, /^dreamer: .*somebody changed their mind$/m, /^writer is completed, its worktree is preserved\. Merge what was committed: git -C …\/shop merge wakechart\/agent_1-\S+$/m, /^checker is completed, its worktree is removed\.$/m, /^dreamer is cancelled, its worktree is preserved\. Commit what is there/m, /^merged: A guide$/m]],
    ['session.mjs', [/^stored as event 2, disk$/m, /^9 agent\.tool_use$/m, /^sleep: Made notes\.txt\.$/m, /queued: look again$/m]],
  ])('%s runs as it stands and leaves nothing behind', async (name, expected) => {
    const cwd = await readersFolder();
    const { code, output, complaints } = await runProgram(process.execPath, [join(checkout, 'examples', name)], cwd);
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    for (const pattern of expected) expect(output).toMatch(pattern);
  });
});
