import { describe, expect, it } from 'vitest';
import { reconciledTexts } from '../../src/cli/open/reconciled-text.ts';
import type { Reconciliation } from '../../src/runtime.ts';
import { captured } from './captured.ts';

const { context } = captured('/home of mine');

const linesOf = (found: Partial<Reconciliation>, known: readonly string[] = []): string[] =>
  reconciledTexts(
    { processTrees: [], jobs: [], worktrees: [], ...found },
    { context: { ...context, isHomeGiven: true }, known: new Set(known) },
  );

describe('what is told of an earlier run that was killed', () => {
  const worktree = { id: 'agent_1-a', jobId: 'agent_1', worktreePath: '/w', branchName: 'b' } as const;

  it('is nothing where there is no news', () => {
    expect(linesOf({})).toEqual([]);
    expect(
      linesOf({
        jobs: [{ jobId: 'agent_1', action: 'left' }],
        worktrees: [
          { ...worktree, action: 'left' },
          { ...worktree, action: 'forgotten' },
        ],
      }),
    ).toEqual([]);
    expect(linesOf({ worktrees: [{ ...worktree, action: 'preserved' }] }, ['agent_1-a'])).toEqual([]);
  });

  it('names the jobs that were cut off, and what could not be done about them', () => {
    expect(
      linesOf({
        jobs: [
          { jobId: 'agent_1', action: 'settled' },
          { jobId: 'agent_2', action: 'finished' },
          { jobId: 'agent_3', action: 'failed', reason: 'the disk is full' },
          { jobId: 'agent_4', action: 'unreadable', reason: 'it is torn' },
        ],
      }),
    ).toEqual([
      'job agent_1 of an earlier run was cut off with it, and counts as failed',
      'job agent_2 of an earlier run had ended, which is known now',
      'could not settle job agent_3 of an earlier run: the disk is full',
      'the record of job agent_4 cannot be read: it is torn',
    ]);
  });

  it('says what became of worktrees, and where to check', () => {
    expect(
      linesOf({
        worktrees: [
          { ...worktree, action: 'removed' },
          { ...worktree, id: 'agent_1-b', action: 'preserved' },
        ],
      }),
    ).toEqual([
      'removed the worktree of agent_1 of an earlier run: nothing in it could be lost',
      expect.stringMatching(
        /^an earlier run left work in the worktree of agent_1; see: .*worktree show agent_1-b --home '\/home of mine'$/,
      ) as string,
    ]);
  });
});
