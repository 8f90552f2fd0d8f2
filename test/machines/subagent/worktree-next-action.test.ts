import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { WorktreeFindingKind } from '../../../src/machines/subagent/worktree-findings.ts';
import { firstNextAction, shellWord, worktreeNextAction } from '../../../src/machines/subagent/worktree-next-action.ts';

const place = {
  id: 'job-1',
  repoRoot: '/r',
  worktreePath: '/w',
  branchName: 'wakechart/job-1',
  headBranch: 'wakechart/job-1',
  head: 'abc',
};
const actionFor = (...kinds: readonly WorktreeFindingKind[]): string | undefined =>
  worktreeNextAction(
    place,
    kinds.map((kind) => ({ kind, text: kind })),
  );

describe('a word for a shell', () => {
  it.each(['plain', '/a/b.txt', 'two words', "it's", '$(rm -rf x)', '`x`', '"', '-rf', '', 'a\nb', '漢字', '\\'])(
    'is the same word to the shell: %j',
    (word) => {
      expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
    },
  );
});

describe('the next action', () => {
  it('is none where nothing was found', () => {
    expect(actionFor()).toBeUndefined();
  });

  it.each([
    [['committed'], 'git -C /r merge wakechart/job-1'],
    [['untracked'], 'git -C /w add -A && git -C /w commit -m'],
    [['in_use'], 'A process still works in it'],
    [['operation'], 'git -C /w status'],
    [['stashed'], 'git -C /w stash pop'],
    [['ignored'], 'Copy out what git ignores'],
    [['nested_repository'], 'move that out first'],
    [['submodule'], 'Run no git in it before'],
    [['unknown'], 'cd /w'],
  ] as const)('for %j says %s', (kinds, words) => {
    expect(actionFor(...kinds)).toContain(words);
    expect(actionFor(...kinds)).toMatch(/wakechart worktree remove job-1 --discard$/);
  });

  it.each([
    ['what was begun and not ended', ['changed', 'staged', 'operation']],
    ['a repository inside', ['untracked', 'nested_repository']],
    ['a repository that git takes for a submodule, whose settings name programs', ['changed', 'submodule']],
  ] as const)('commits and merges nothing over %s', (_what, kinds) => {
    expect(actionFor(...kinds)).not.toMatch(/ commit -m| merge /);
  });

  it('names first how to remove one that has been dealt with, and then how to let go what is left', () => {
    expect(actionFor('committed')).toMatch(
      /\nThen remove it: wakechart worktree remove job-1\nIf what is left in it is not needed: wakechart worktree remove job-1 --discard$/,
    );
  });

  it('asks for a detached HEAD only when it is carried out', () => {
    expect(firstNextAction({ ...place, headBranch: undefined })).toContain('merge "$(git -C /w rev-parse HEAD)"');
  });
});
