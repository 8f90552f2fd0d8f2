/** Trees that do not end, in a made-up system: a real process that nobody can kill is not to be had. */
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { ProcessSnapshot } from '../../../src/adapters/process-tree/process-table.ts';
import type { ProcessEntry, ProcessTable } from '../../../src/adapters/process-tree/process-table.ts';
import { ProcessRecords } from '../../../src/adapters/process-tree/records.ts';
import { SharedChecks } from '../../../src/adapters/process-tree/shared-checks.ts';
import { TrackedTree } from '../../../src/adapters/process-tree/tracked-tree.ts';

const HOST = { pid: 4_999_990, startTime: 1, boot: 'a boot', seenThrough: 'proc', leaders: [] } as const;

/** Pids beyond any that a system gives, so that the signals reach nobody. */
const undying = (pid: number): ProcessEntry => ({
  pid,
  parent: 1,
  group: pid,
  session: pid,
  startTime: 10,
  state: 'alive',
  tags: ['tag'],
});

function systemOf(processes: () => readonly ProcessEntry[]): ProcessTable {
  return {
    kind: 'proc',
    startTolerance: 0,
    read: () => Promise.resolve(new ProcessSnapshot(new Map(processes().map((entry) => [entry.pid, entry])))),
    check: () => undefined,
    stillThere: (entries) => entries,
    usageOf: () => Promise.resolve(new Map()),
    outputsOf: () => [],
    holdersOf: () => Promise.resolve([]),
  };
}

function treeIn(table: ProcessTable): TrackedTree {
  const { leaders, ...host } = HOST;
  const record = ProcessRecords.newRecord({
    tag: 'tag',
    taskId: 'task_1',
    commandPreview: '',
    startedAt: '2026-01-01T00:00:00.000Z',
    host,
    startedSince: 1,
    sharedLeaders: [...leaders],
  });
  return new TrackedTree(record, {
    table,
    checks: new SharedChecks(table),
    clock: createSystemClock(),
    life: undefined,
    host: HOST,
    records: undefined,
    proofTimeoutMs: 20,
  });
}

describe('a tree that survives SIGKILL', () => {
  it('is an error that names who is left and what to do', async () => {
    const tree = treeIn(systemOf(() => [undying(4_999_991), undying(4_999_992)]));
    await expect(tree.end({ graceMs: 0 })).rejects.toMatchObject({
      category: 'process',
      code: 'PROCESS_TREE_SURVIVES',
      message: expect.stringContaining('processes 4999991, 4999992 of task task_1 are still running'),
      hint: expect.stringContaining('another user'),
      details: { taskId: 'task_1', tag: 'tag', pids: [4_999_991, 4_999_992] },
    });
  });

  it('can be ended by a later call', async () => {
    let processes = [undying(4_999_991)];
    const tree = treeIn(systemOf(() => processes));
    await expect(tree.end({ graceMs: 0 })).rejects.toMatchObject({ category: 'process' });
    processes = [];
    expect(await tree.end({ graceMs: 0 })).toEqual({ ended: 0 });
  });

  it('fails all who wait for the same end', async () => {
    const tree = treeIn(systemOf(() => [undying(4_999_991)]));
    const outcomes = await Promise.allSettled([tree.end({ graceMs: 0 }), tree.end({ graceMs: 0 })]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
