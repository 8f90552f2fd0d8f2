import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { demoFolder } from '../../src/cli/demo/folder.ts';
import { makeProject } from '../../src/cli/demo/project.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { run } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { demoShape } from './shapes.ts';

const exec = promisify(execFile);

let folder: TemporaryHome;
let temporary = '';
/** Somebody who has never used git, sits inside another repository's hook, and whose node is not on the PATH. */
let newcomer: Readonly<Record<string, string | undefined>>;
let told: Ended;
let document: z.output<typeof demoShape>;

beforeAll(async () => {
  folder = await temporaryHome();
  temporary = join(folder.path, 'tmp with a space');
  const nobodyHome = join(folder.path, 'nobody');
  await mkdir(temporary);
  await mkdir(nobodyHome);
  const path = (process.env['PATH'] ?? '').split(':').filter((entry) => entry !== dirname(process.execPath));
  newcomer = {
    HOME: nobodyHome,
    XDG_CONFIG_HOME: nobodyHome,
    TMPDIR: temporary,
    PATH: path.join(':'),
    GIT_CONFIG_GLOBAL: undefined,
    GIT_CONFIG_NOSYSTEM: undefined,
    GIT_DIR: join(nobodyHome, 'no-such-repository'),
    NODE_TEST_CONTEXT: 'child-v8',
    NO_COLOR: undefined,
  };
  // Two at once, as two people would.
  const [first, second] = await Promise.all([
    run(['demo', '--dir', 'a folder of my own'], {
      env: { ...newcomer, WAKECHART_STORE: 'postgres://worker@127.0.0.1:1/none' },
      cwd: folder.path,
    }),
    run(['demo', '--json'], { env: newcomer, cwd: folder.path }),
  ]);
  told = first;
  expect(second).toMatchObject({ code: 0, stderr: '' });
  document = demoShape.parse(JSON.parse(second.stdout));
  // A limit for what hangs: two demos at once, each of many programs.
}, 120_000);

afterAll(() => folder.remove());

describe('the demo', () => {
  it('succeeds for somebody without a git identity, twice at once, in a folder with spaces', () => {
    expect(told).toMatchObject({ code: 0, stderr: '' });
  });

  it('tells what happens in nine steps, what came of it, where it lies and what to try', () => {
    expect(told.stdout).toMatch(
      /^Wakechart demo: .*\n\n1 Two agents[\s\S]*^2 A session[\s\S]*^3 A message[\s\S]*^4 The session wakes[\s\S]*^5 It asked[\s\S]*a person allows it[\s\S]*^6 It wakes again[\s\S]*^7 It rests[\s\S]*judges {2}pass: [\s\S]*recalls 1 learning [\s\S]*^8 What it learned [\s\S]*runs {4}retrieval_search [\s\S]*^9 What came of it/m,
    );
    expect(told.stdout).toMatch(
      /runs {4}node cart\.test\.mjs → exit 1 [\s\S]*runs {4}node cart\.test\.mjs → exit 0 [\s\S]*asks {4}to run shell_run \(request .*\)\n +│ git commit [\s\S]*runs {4}git commit .* → exit 0$[\s\S]*asks {4}the agent scribe, in a process and a worktree of its own: Note in CHANGELOG\.md[\s\S]*merge/m,
    );
    expect(told.stdout).toMatch(
      /^Done in .*: 6 commands run, one of them after a person allowed it, commit [0-9a-f]{7,} made, commit [0-9a-f]{7,} left in a worktree, 1 queued wake fired, 1 learning promoted and found again\.$/m,
    );
    expect(told.stdout).toMatch(
      /^Where to check\n {2}log {8}\/.*events\.jsonl\n {2}workspace {2}\/.*workspace\n {2}worktree {3}\/.*worktrees\/.*$/m,
    );
    // The environment names a database, which the demo does not take.
    expect(told.stdout).toMatch(/ session events .*--home .* --store files$/m);
    expect(told.stdout).not.toContain('\u001B');
  });

  it('really mended and committed something', async () => {
    const { workspace, commit } = document;
    expect(await readFile(join(workspace, 'cart.mjs'), 'utf8')).toContain('line.cents * line.quantity');
    const { stdout } = await exec('git', ['-C', workspace, 'log', '--format=%h %an %s']);
    expect(stdout).toMatch(
      new RegExp(
        `^${commit.hash} Wakechart demo Count the quantity in the total\\n[0-9a-f]+ Wakechart demo A cart that adds up\\n$`,
      ),
    );
    expect((await exec('git', ['-C', workspace, 'status', '--porcelain'])).stdout).toBe('');
  });

  it('is one document for programs, which says what was run, what was delegated, learned and fired', async () => {
    expect(document.commands.map(({ exitCode }) => exitCode)).toEqual([1, 0, 0, 0, 0, 0]);
    expect(document.permission.command).toMatch(/^git commit /);
    expect(document.permission.because).toMatch(/^no rule allows it: /);
    expect(document.learned.title).toBe('A wrong total leaves the quantity out');
    expect(await readFile(join(document.home, 'agents/fixer/substrate/MEMORY.md'), 'utf8')).toContain(
      document.learned.title,
    );
    expect(document.learned.foundIn).not.toBe(document.sessionId);
    expect(document.firedWakes).toEqual([{ reason: 'recheck the tests' }]);
    expect(document.delegation.worktree.worktreePath.startsWith(join(document.home, 'worktrees'))).toBe(true);
    expect(document.delegation.worktree.worktreeNextAction).toContain(document.delegation.worktree.branchName);
    expect(document.home.startsWith(join(temporary, 'wakechart-demo-'))).toBe(true);
  });

  it('leaves the work of the subagent on a branch, and names the command that merges it', async () => {
    const { workspace, delegation, next } = document;
    const changelog = join(workspace, 'CHANGELOG.md');
    await expect(readFile(changelog)).rejects.toMatchObject({ code: 'ENOENT' });
    const [merge] = next;
    await exec('/bin/sh', ['-c', merge?.command ?? ''], { cwd: folder.path });
    expect(await readFile(changelog, 'utf8')).toContain('counts the quantity');
    expect((await exec('git', ['-C', workspace, 'log', '-1', '--format=%h'])).stdout.trim()).toBe(
      delegation.commit.hash,
    );
  });

  it('names more commands that work when they are pasted', async () => {
    const [, ...further] = document.next;
    const outputs: string[] = [];
    for (const { command } of further)
      outputs.push((await exec('/bin/sh', ['-c', command], { cwd: folder.path })).stdout);
    expect(outputs).toEqual([
      expect.stringContaining(document.delegation.worktree.branchName),
      expect.stringContaining('session.created'),
      expect.stringMatching(/^Stored as event \d+ \(on disk\)/),
      expect.stringMatching(/Asleep\. The tests still pass\.\n$/),
    ]);
  });

  it("works in a folder of one's own, and never in one that holds something", async () => {
    expect(told.stdout).toContain(join(folder.path, 'a folder of my own', 'agents'));
    const taken = await run(['demo', '--dir', 'a folder of my own'], { env: newcomer, cwd: folder.path });
    expect(taken).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /to be an empty folder or a new one.* \[DEMO_DIRECTORY_TAKEN\]\n {2}hint: /,
      ) as string,
    });
  });

  it('never shares a folder with another one', async () => {
    const folders = await Promise.allSettled([1, 2, 3].map(() => demoFolder(join(folder.path, 'contested'))));
    expect(folders.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('says that it needs git where there is none', async () => {
    vi.stubEnv('PATH', folder.path);
    try {
      await expect(makeProject(folder.path)).rejects.toMatchObject({
        code: 'DEMO_NEEDS_GIT',
        hint: expect.stringContaining('Install git') as string,
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
