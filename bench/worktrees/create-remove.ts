/**
 * A worktree of 6,000 files made, scanned and removed, beside git's own commands; and how long the event loop is
 * held meanwhile.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { createGitWorktreeIsolationAdapter } from 'wakechart/node';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const FILES = 6_000;
const FILES_IN_A_FOLDER = 100;
const ROUNDS = 11;
const MOST_TIMES_GIT = 1.05;
const MOST_BLOCK_MS = 25;

const git = async (cwd: string, ...command: readonly string[]): Promise<void> => {
  await promisify(execFile)('git', [...command], { cwd });
};

async function makeRepository(path: string): Promise<void> {
  for (let from = 0; from < FILES; from += FILES_IN_A_FOLDER) {
    const folder = join(path, `folder-${from / FILES_IN_A_FOLDER}`);
    await mkdir(folder, { recursive: true });
    await Promise.all(
      Array.from({ length: FILES_IN_A_FOLDER }, (_, index) =>
        writeFile(join(folder, `file-${index}.txt`), `content of file ${from + index}\n`.repeat(20)),
      ),
    );
  }
  await git(path, 'init', '-q', '-b', 'main');
  await git(path, 'add', '-A');
  await git(path, '-c', 'user.name=Bench', '-c', 'user.email=bench@example.org', 'commit', '-q', '-m', 'first');
}

export async function run(): Promise<BenchRow[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'bench-worktrees-')));
  const repository = join(folder, 'repository');
  try {
    await makeRepository(repository);
    return await measure(folder, repository);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, repository: string): Promise<BenchRow[]> {
  const adapter = createGitWorktreeIsolationAdapter({ worktreesDirectory: join(folder, 'worktrees') });
  const halves = { create: [] as number[], remove: [] as number[], add: [] as number[], drop: [] as number[] };
  const blocks: number[] = [];
  let count = 0;
  const ours = async (): Promise<number> => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const startedMs = performance.now();
    const worktree = await adapter.prepare({ jobId: `job_${(count += 1)}`, cwd: repository });
    await adapter.begin(worktree);
    const madeMs = performance.now();
    if (!(await adapter.inspect(worktree)).isClean)
      throw new Error('expected a worktree that nobody touched to be clean');
    await adapter.remove(worktree);
    const removedMs = performance.now();
    delay.disable();
    blocks.push(delay.max / 1e6);
    halves.create.push(madeMs - startedMs);
    halves.remove.push(removedMs - madeMs);
    return removedMs - startedMs;
  };
  const theirs = async (): Promise<number> => {
    const path = join(folder, `bare-${(count += 1)}`);
    const startedMs = performance.now();
    await git(repository, 'worktree', 'add', '-q', '-b', `bare-${count}`, path);
    const madeMs = performance.now();
    await git(repository, 'worktree', 'remove', path);
    const removedMs = performance.now();
    halves.add.push(madeMs - startedMs);
    halves.drop.push(removedMs - madeMs);
    return removedMs - startedMs;
  };
  const { a, b } = await interleave(ROUNDS, ours, theirs);
  const row = (name: string, own: readonly number[], peer: readonly number[], command: string): BenchRow => {
    const ratio = median(own) / median(peer);
    return {
      name,
      unit: 'ms',
      value: median(own),
      spread: spread(own),
      peer: command,
      peerValue: median(peer),
      ratio,
      target: `<= ${MOST_TIMES_GIT} x`,
      met: ratio <= MOST_TIMES_GIT,
    };
  };
  return [
    row(`worktree made and removed, ${FILES} files`, a, b, 'git worktree add, remove'),
    row('  of that: made', halves.create, halves.add, 'git worktree add'),
    row('  of that: scanned and removed', halves.remove, halves.drop, 'git worktree remove'),
    {
      name: '  longest block of the event loop, median',
      unit: 'ms',
      value: median(blocks),
      spread: spread(blocks),
      target: `< ${MOST_BLOCK_MS} ms`,
      met: median(blocks) < MOST_BLOCK_MS,
    },
  ];
}
