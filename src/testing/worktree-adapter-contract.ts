/** What every adapter of worktrees does. Each case wants one over a repository of its own, which has a commit. */
import type {
  PreparedSubagentWorktree,
  SubagentWorktreeAdapter,
  WorktreeRequest,
} from '../actors/subagent/worktree-adapter.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectSame, expectThat } from './expectations.ts';

export interface WorktreeAdapterUnderTest {
  readonly adapter: SubagentWorktreeAdapter;
  /** The root of the repository. */
  readonly cwd: string;
  /** A folder of the repository below its root, relative to that. */
  readonly below: string;
  /** Puts something into a worktree that would be lost with it. */
  readonly change: (worktree: PreparedSubagentWorktree) => Promise<void>;
  readonly isThere: (worktree: PreparedSubagentWorktree) => Promise<boolean>;
  /** How many worktrees there are. */
  readonly count: () => Promise<number>;
  /** A folder in no repository, where there can be one. */
  readonly outside?: string | undefined;
}

type Case = ContractCase<WorktreeAdapterUnderTest>;

const JOBS_AT_ONCE = 6;

async function prepared(
  { adapter, cwd }: WorktreeAdapterUnderTest,
  changes: Partial<WorktreeRequest> = {},
): Promise<PreparedSubagentWorktree> {
  const worktree = await adapter.prepare({ jobId: 'job_1', cwd, ...changes });
  await adapter.begin?.(worktree);
  return worktree;
}

async function isRefused(work: () => unknown): Promise<boolean> {
  try {
    await work();
    return false;
  } catch {
    return true;
  }
}

const making: readonly Case[] = [
  {
    name: 'makes one that is there, and clean',
    async run(subject) {
      const worktree = await prepared(subject);
      for (const name of ['repoRoot', 'worktreePath', 'branchName'] as const)
        expectThat(worktree[name] !== '', name, { expected: 'a text', received: worktree[name] });
      expectSame(
        [await subject.isThere(worktree), await subject.adapter.isClean(worktree)],
        [true, true],
        'whether it is there and clean',
      );
      expectThat(worktree.worktreePath !== subject.cwd, 'its path', {
        expected: 'another folder than that of the repository',
        received: worktree.worktreePath,
      });
    },
  },
  {
    name: 'makes each job one of its own, also for many at once and for one id twice',
    async run(subject) {
      const jobs = Array.from({ length: JOBS_AT_ONCE }, (_, index) => `job_${Math.floor(index / 2)}`);
      const worktrees = await Promise.all(jobs.map((jobId) => prepared(subject, { jobId })));
      expectSame(
        new Set(worktrees.map(({ worktreePath }) => worktreePath)).size,
        JOBS_AT_ONCE,
        'how many paths there are',
      );
      expectSame(
        new Set(worktrees.map(({ branchName }) => branchName)).size,
        JOBS_AT_ONCE,
        'how many branches there are',
      );
      expectSame(
        await Promise.all(worktrees.map((worktree) => subject.isThere(worktree))),
        jobs.map(() => true),
        'which are there',
      );
    },
  },
  {
    name: 'says which folder of it the folder below the root is, if it says any',
    async run(subject) {
      const { worktreePath, cwd } = await prepared(subject, { cwd: `${subject.cwd}/${subject.below}` });
      expectThat(cwd === undefined || cwd === `${worktreePath}/${subject.below}`, 'the folder to work in', {
        expected: `${worktreePath}/${subject.below}, or none`,
        received: cwd,
      });
    },
  },
  {
    name: 'makes none for a job that no caller waits for',
    async run(subject) {
      const before = await subject.count();
      expectSame(
        await isRefused(() =>
          subject.adapter.prepare({
            jobId: 'job_1',
            cwd: subject.cwd,
            signal: AbortSignal.abort(new Error('stopped')),
          }),
        ),
        true,
        'whether it is refused',
      );
      expectSame(await subject.count(), before, 'how many there are');
    },
  },
  {
    name: 'makes none outside a repository',
    async run(subject) {
      const { outside } = subject;
      if (outside === undefined) return;
      const before = await subject.count();
      expectSame(
        await isRefused(() => subject.adapter.prepare({ jobId: 'job_1', cwd: outside })),
        true,
        'whether it is refused',
      );
      expectSame(await subject.count(), before, 'how many there are');
    },
  },
];

const ending: readonly Case[] = [
  {
    name: 'removes one that is clean, and no other',
    async run(subject) {
      const [one, other] = [await prepared(subject), await prepared(subject, { jobId: 'job_2' })];
      await subject.adapter.remove(one);
      expectSame([await subject.isThere(one), await subject.isThere(other)], [false, true], 'which are there');
    },
  },
  {
    name: 'does not take one for clean in which there is something, and removes it not even when it is told to',
    async run(subject) {
      const worktree = await prepared(subject);
      await subject.change(worktree);
      expectSame(await subject.adapter.isClean(worktree), false, 'whether it is clean');
      expectSame(await isRefused(() => subject.adapter.remove(worktree)), true, 'whether the removal is refused');
      expectSame(await subject.isThere(worktree), true, 'whether it is there');
    },
  },
  {
    name: 'says what there is in one that it has a closer check, with what to do next',
    async run(subject) {
      const { adapter } = subject;
      if (adapter.inspect === undefined) return;
      const worktree = await prepared(subject);
      const clean = await adapter.inspect(worktree);
      expectSame([clean.isClean, clean.findings], [true, []], 'a clean one');
      await subject.change(worktree);
      const { isClean, findings, nextAction } = await adapter.inspect(worktree);
      expectSame(isClean, false, 'whether it is clean');
      expectThat(findings.length > 0 && findings.every(({ text }) => text !== ''), 'what was found', {
        expected: 'one finding at least, in words',
        received: findings,
      });
      expectThat((nextAction ?? '') !== '', 'what to do next', { expected: 'a sentence', received: nextAction });
    },
  },
  {
    name: 'keeps one that is to stay',
    async run(subject) {
      const worktree = await prepared(subject);
      await subject.change(worktree);
      await subject.adapter.preserve?.(worktree, { isClean: false, findings: [{ kind: 'changed', text: 'one file' }] });
      expectSame(
        [await subject.isThere(worktree), await subject.adapter.isClean(worktree)],
        [true, false],
        'whether it is there and clean',
      );
    },
  },
  {
    name: 'removes one once when it is told to several times at once',
    async run(subject) {
      const [one, other] = [await prepared(subject), await prepared(subject, { jobId: 'job_2' })];
      await Promise.allSettled([1, 2, 3].map(async () => subject.adapter.remove(one)));
      expectSame([await subject.isThere(one), await subject.isThere(other)], [false, true], 'which are there');
    },
  },
];

export const worktreeAdapterContract: readonly ContractCase<WorktreeAdapterUnderTest>[] = named(
  'an adapter of worktrees',
  [...making, ...ending],
);
