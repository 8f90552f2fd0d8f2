/** Many subagents at once on one repository: every commit is there, every one merges, and git is locked by nobody. */
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, pasted } from '../../adapters/git/git-setup.ts';
import { aftermathOf, doctorFindings, logOf } from './aftermath.ts';
import { jobFor, jobSetup, runs, tracesOf } from './job-setup.ts';
import type { JobSetup } from './job-setup.ts';
import type { KindOfWork } from './kinds-of-work.ts';

const COUNT = 32;

let setup: JobSetup;
beforeEach(async () => {
  setup = await jobSetup();
});
afterEach(() => setup.remove());

const NAMES = Array.from({ length: COUNT }, (_, index) => `own-${index}`);
const commitOf = (name: string): KindOfWork => ({
  name,
  finding: 'committed',
  command: `echo ${name} > ${name}.txt && git add ${name}.txt && git -c user.name=Ada -c user.email=ada@example.org commit -q -m ${name}`,
  isThere: ({ repository, branchName }) => git(repository, 'show', `${branchName}:${name}.txt`) === name,
});

describe('32 subagents at once on one repository', { timeout: 240_000 }, () => {
  it('each commit what is theirs; all of it merges, and then nothing of them is left', async () => {
    const runtime = await setup.open({
      subagents: { limits: { maxConcurrent: COUNT, maxJobsPerParent: COUNT, maxJobs: COUNT } },
    });
    const parentId = await setup.parent();
    for (const name of NAMES)
      await setup.agent(name, [
        runs(commitOf(name).command),
        { text: `Committed ${name}.`, expect: { lastToolResultOutcome: 'completed' } },
      ]);
    const jobs = await Promise.all(NAMES.map((name) => runtime.subagents.spawn(jobFor(setup, name, parentId))));
    const results = await Promise.all(jobs.map(({ id }) => runtime.subagents.wait(id)));
    expect(results.map(({ output }) => output)).toEqual(NAMES.map((name) => `Committed ${name}.`));
    const work = jobs.map(({ id }, index) => ({ jobId: id, kind: commitOf(NAMES[index] ?? '') }));
    expect(await aftermathOf(setup, parentId, work, { status: 'completed' })).toEqual([]);

    for (const { id } of jobs) {
      const { worktreeNextAction = '', worktreePath = '', branchName = '' } = runtime.subagents.get(id) ?? {};
      pasted(
        `export GIT_MERGE_AUTOEDIT=no; ${/: (?<merge>git .* merge .*)$/m.exec(worktreeNextAction)?.groups?.['merge'] ?? 'false'}`,
        '/',
      );
      await runtime.worktrees?.discard(id);
      expect(tracesOf(setup, { worktreePath, branchName }, readdirSync(`${setup.home}/worktrees`))).toEqual([]);
    }
    expect(git(setup.repository, 'ls-files', 'own-*.txt').split('\n').toSorted()).toEqual(
      NAMES.map((name) => `${name}.txt`).toSorted(),
    );
    expect(git(setup.repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(git(setup.repository, 'branch', '--format=%(refname:short)')).toBe('main');
    expect((await logOf(runtime, parentId)).filter(({ type }) => type === 'subagent.ended')).toHaveLength(COUNT);
    await runtime.shutdown();
    expect(await doctorFindings(setup)).toEqual([]);
  });
});
