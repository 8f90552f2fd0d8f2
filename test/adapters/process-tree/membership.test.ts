/** Who belongs to a tree, decided over made-up systems: cases that real ones show once in a million checks. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { residentLimitOf } from '../../../src/machines/task/resident-limit.ts';
import { findMembers } from '../../../src/adapters/process-tree/membership.ts';
import type { TreeEvidence } from '../../../src/adapters/process-tree/membership.ts';
import { ProcessSnapshot } from '../../../src/adapters/process-tree/process-table.ts';
import type { ProcessEntry } from '../../../src/adapters/process-tree/process-table.ts';

const HOST = 50;

/** A process that is its own group and session, started at a time equal to its pid, unless told otherwise. */
const process = (pid: number, parent: number, changes: Partial<ProcessEntry> = {}): ProcessEntry => ({
  pid,
  parent,
  group: pid,
  session: pid,
  startTime: pid,
  state: 'alive',
  tags: [],
  ...changes,
});

const evidence = (changes: Partial<TreeEvidence> = {}): TreeEvidence => ({
  tag: 'ours',
  known: new Map(),
  startedSince: 100,
  startTolerance: 0,
  sharedLeaders: new Set([HOST]),
  ...changes,
});

function members(entries: readonly ProcessEntry[], changes: Partial<TreeEvidence> = {}): number[] {
  const around = [process(1, 0), process(HOST, 1)];
  const snapshot = new ProcessSnapshot(new Map([...around, ...entries].map((entry) => [entry.pid, entry])));
  return findMembers(snapshot, evidence(changes), HOST).map(({ pid }) => pid);
}

describe('the members of a tree', () => {
  const root = process(100, HOST, { tags: ['ours'] });

  it('are those with the tag, at any place in the variable', () => {
    expect(
      members([root, process(101, 1, { tags: ['outer', 'ours', 'inner'] }), process(102, 1, { tags: ['theirs'] })]),
    ).toEqual([100, 101]);
  });

  it('are those with the limit of the tree, wherever they have gone, and of trees that a host in it has', () => {
    const [ours, inner, theirs] = [randomUUID(), randomUUID(), randomUUID()];
    const hidden = (pid: number, tag: string): ProcessEntry => process(pid, 1, { residentLimit: residentLimitOf(tag) });
    const host = process(100, HOST, { tags: [ours, inner] });
    expect(members([hidden(101, ours)], { tag: ours })).toEqual([101]);
    expect(
      members(
        [host, hidden(101, ours), hidden(102, inner), hidden(103, theirs), process(104, 1, { residentLimit: 2 ** 64 })],
        { tag: ours },
      ),
    ).toEqual([100, 101, 102]);
    expect(members([hidden(99, ours)], { tag: ours })).toEqual([]);
  });

  it('are not those of a tree around this one', () => {
    const [around, ours] = [randomUUID(), randomUUID()];
    expect(
      members(
        [process(101, 1, { residentLimit: residentLimitOf(around) }), process(102, 1, { tags: [around, ours] })],
        { tag: ours },
      ),
    ).toEqual([102]);
  });

  it('are the descendants of members, tagged or not', () => {
    expect(members([root, process(101, 100), process(102, 101), process(103, 1)])).toEqual([100, 101, 102]);
  });

  it('are those in a session or group that a member leads', () => {
    expect(members([root, process(101, 1, { session: 100 }), process(102, 1, { group: 100 })])).toEqual([
      100, 101, 102,
    ]);
  });

  it('are the mates of a member whose session has lost its leader', () => {
    expect(members([process(101, 1, { tags: ['ours'], session: 100 }), process(102, 1, { session: 100 })])).toEqual([
      101, 102,
    ]);
  });

  it('are not the mates of a member in a session that somebody else leads', () => {
    expect(
      members([process(101, HOST, { tags: ['ours'], session: 99 }), process(99, 1), process(102, 1, { session: 99 })]),
    ).toEqual([101]);
  });

  it('are not those who share the group and session of the host', () => {
    const shared = { session: HOST, group: HOST };
    expect(members([process(101, HOST, { tags: ['ours'], ...shared }), process(102, HOST, shared)])).toEqual([101]);
  });

  it('are known by pid and start time together', () => {
    const known = new Map([[100, 100]]);
    expect(members([process(100, 1)], { known })).toEqual([100]);
    expect(members([process(100, 1, { startTime: 7777 })], { known })).toEqual([]);
    expect(members([process(100, 1, { startTime: 102 })], { known, startTolerance: 2 })).toEqual([100]);
  });

  it('did not start before the tree', () => {
    expect(members([process(101, 100, { startTime: 99 }), root])).toEqual([100]);
  });

  it('are alive: a zombie is none, and leads to those that are', () => {
    const zombie = process(100, HOST, { tags: ['ours'], state: 'dead' });
    expect(members([zombie, process(101, 1, { session: 100 })])).toEqual([101]);
  });

  it('never include the process that asks or those above it, whatever they carry', () => {
    const snapshot = new ProcessSnapshot(
      new Map(
        [
          process(200, 1, { tags: ['ours'] }),
          process(201, 200, { tags: ['ours'] }),
          process(202, 201, { tags: ['ours'] }),
        ].map((entry) => [entry.pid, entry]),
      ),
    );
    expect(findMembers(snapshot, evidence(), 201).map(({ pid }) => pid)).toEqual([202]);
  });

  it('are found in a system where everything is its own parent', () => {
    expect(members([process(100, 101, { tags: ['ours'] }), process(101, 100)])).toEqual([100, 101]);
  });
});
