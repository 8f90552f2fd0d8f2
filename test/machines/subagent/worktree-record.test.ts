import { describe, expect, it } from 'vitest';
import { checkedWorktreeRecord, movedRecord } from '../../../src/machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../../src/machines/subagent/worktree-record.ts';
import { worktreeLifecycle } from '../../../src/machines/subagent/worktree-machine.ts';

const record: WorktreeRecord = {
  version: 1,
  id: 'agent_1-00000000',
  jobId: 'agent_1',
  status: 'ready',
  createdAt: '2026-01-01T00:00:00.000Z',
  repoRoot: '/r',
  commonDirectory: '/r/.git',
  worktreePath: '/w/agent_1-00000000',
  branchName: 'wakechart/agent_1-00000000',
  baseRevision: '0'.repeat(40),
  subdirectory: '',
  stashesBefore: [],
  fileSettings: [],
  findings: [{ kind: 'changed', text: 'one file', paths: ['a'] }],
};

describe('the record of a worktree', () => {
  it('is the same after it was written and read', () => {
    expect(checkedWorktreeRecord(JSON.parse(JSON.stringify(record)), 'x.json')).toEqual(record);
  });

  it.each([
    undefined,
    [],
    'text',
    {},
    { ...record, version: 2 },
    { ...record, id: '../x' },
    { ...record, status: 'lost' },
    { ...record, baseRevision: 'HEAD' },
    { ...record, findings: [{ kind: 'odd', text: '' }] },
  ])('is refused where it is none: %j', (value) => {
    expect(() => checkedWorktreeRecord(value, 'x.json')).toThrow(
      expect.objectContaining({ code: 'WORKTREE_RECORD_UNREADABLE', message: expect.stringContaining('x.json') }),
    );
  });

  it('moves as its chart does, and no other way', () => {
    for (const before of worktreeLifecycle.snapshots) {
      for (const event of [
        'CREATE',
        'CREATED',
        'CREATE_FAILED',
        'CREATE_UNKNOWN',
        'INSPECT',
        'CLEAN',
        'DIRTY',
        'REMOVED',
        'REMOVE_FAILED',
        'ADOPT',
        'OWNER_LOST',
      ] as const) {
        const after = worktreeLifecycle.next(before, event);
        const move = (): WorktreeRecord => movedRecord({ ...record, status: before.value }, event);
        if (after === undefined) expect(move).toThrow(expect.objectContaining({ code: 'WORKTREE_ILLEGAL_MOVE' }));
        else expect(move().status).toBe(after.value);
      }
    }
  });

  it('takes several steps at once, or none of them', () => {
    expect(movedRecord(record, 'OWNER_LOST', 'INSPECT', 'CLEAN').status).toBe('removing');
    expect(() => movedRecord(record, 'INSPECT', 'REMOVED')).toThrow(/is inspecting, where REMOVED means nothing/);
    expect(record.status).toBe('ready');
  });
});
