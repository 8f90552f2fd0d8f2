/** Many subagents at once on one repository: every commit is there, every one merges, and git is locked by nobody. */
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, pasted } from '../../adapters/git/git-house.ts';
import { aftermathOf, doctorFindings, logOf } from './aftermath.ts';
import { jobFor, jobHouse, runs, tracesOf } from './job-house.ts';
import type { JobHouse } from './job-house.ts';
import type { KindOfWork } from './kinds-of-work.ts';

const COUNT = 32;

let house: JobHouse;
beforeEach(async () => {
  house = await jobHouse();
});
afterEach(() => house.remove());

const NAMES = Array.from({ length: COUNT }, (_, index) => `own-${index}`);
const commitOf = (name: string): KindOfWork => ({
  name,
  finding: 'committed',
  command: `echo ${name} > ${name}.txt && git add ${name}.txt && git -c user.name=Ada -c user.email=ada@example.org commit -q -m ${name}`,
  isThere: ({ repository, branchName }) => git(repository, 'show', `${branchName}:${name}.txt`) === name,
});

describe('32 subagents at once on one repository', { timeout: 240_000 }, () => {
  it('each commit what is theirs; all of it merges, and then nothing of them is left', async () => {
    const runtime = await house.open({
      subagents: { limits: { maxConcurrent: COUNT, maxJobsPerParent: COUNT, maxJobs: COUNT } },
    });
    const parentId = await house.parent();
    for (const name of NAMES)
      await house.agent(name, [
        runs(commitOf(name).command),
        { text: `Committed ${name}.`, expect: { lastToolResultOutcome: 'completed' } },
      ]);
    const jobs = await Promise.all(NAMES.map((name) => runtime.subagents.spawn(jobFor(house, name, parentId))));
    const results = await Promise.all(jobs.map(({ id }) => runtime.subagents.wait(id)));
    expect(results.map(({ output }) => output)).toEqual(NAMES.map((name) => `Committed ${name}.`));
    const work = jobs.map(({ id }, index) => ({ jobId: id, kind: commitOf(NAMES[index] ?? '') }));
    expect(await aftermathOf(house, parentId, work, { status: 'completed' })).toEqual([]);

    for (const { id } of jobs) {
      const { worktreeNextAction = '', worktreePath = '', branchName = '' } = runtime.subagents.get(id) ?? {};
      pasted(
        `export GIT_MERGE_AUTOEDIT=no; ${/: (?<merge>git .* merge .*)$/m.exec(worktreeNextAction)?.groups?.['merge'] ?? 'false'}`,
        '/',
      );
      await runtime.worktrees?.discard(id);
      expect(tracesOf(house, { worktreePath, branchName }, readdirSync(`${house.home}/worktrees`))).toEqual([]);
    }
    expect(git(house.repository, 'ls-files', 'own-*.txt').split('\n').toSorted()).toEqual(
      NAMES.map((name) => `${name}.txt`).toSorted(),
    );
    expect(git(house.repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(git(house.repository, 'branch', '--format=%(refname:short)')).toBe('main');
    expect((await logOf(runtime, parentId)).filter(({ type }) => type === 'subagent.ended')).toHaveLength(COUNT);
    await runtime.shutdown();
    expect(await doctorFindings(house)).toEqual([]);
  });
});
