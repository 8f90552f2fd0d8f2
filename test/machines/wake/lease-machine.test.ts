import { describe, expect, it } from 'vitest';
import { LEASE_PHASES, leaseLifecycle, leaseMachine, leasePhaseOf } from '../../../src/machines/wake/lease-machine.ts';
import type { LeaseChartEventType, LeaseSnapshot, LeaseState } from '../../../src/machines/wake/lease-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const TABLE = [
  ['seeking', 'BIND', 'contending'],
  ['seeking', 'REFUSE', 'refused'],
  ['contending', 'WIN', 'held'],
  ['contending', 'STEP_BACK', 'seeking'],
  ['contending', 'PASS', 'refused'],
  ['contending', 'REFUSE', 'refused'],
  ['held', 'PASS', 'lost'],
  ['held', 'RELEASE', 'released'],
  ['lost', 'RELEASE', 'released'],
] as const satisfies readonly (readonly [LeaseState, LeaseChartEventType, LeaseState])[];

const EVENTS: readonly LeaseChartEventType[] = ['BIND', 'STEP_BACK', 'WIN', 'PASS', 'REFUSE', 'RELEASE'];

function after(events: readonly string[]): LeaseSnapshot | undefined {
  return events.reduce<LeaseSnapshot | undefined>(
    (snapshot, event) => (snapshot === undefined ? undefined : leaseLifecycle.next(snapshot, event)),
    leaseLifecycle.initial,
  );
}

describe('the chart of a lease', () => {
  const paths = pathsOverEveryTransition(leaseMachine, EVENTS);

  it('has exactly the transitions of its table, each of which is reached from the start', () => {
    const walked = paths.map(({ events, last }) => [last.from, last.event, after(events)?.value]);
    expect(walked.map(String).toSorted()).toEqual(TABLE.map(String).toSorted());
  });

  it('has nothing open in its ends, and takes no event there', () => {
    const ends = leaseLifecycle.snapshots.filter(({ status }) => status === 'done');
    expect(ends.map(({ value }) => value).toSorted()).toEqual(['refused', 'released']);
    expect(ends.flatMap((end) => EVENTS.filter((event) => end.can({ type: event })))).toEqual([]);
  });

  it('comes to hold the right only over a number that others can see', () => {
    expect(paths.filter(({ last }) => last.event === 'WIN').map(({ events }) => events)).toEqual([['BIND', 'WIN']]);
  });

  it('never gets back to the right once it has lost it', () => {
    expect(after(['BIND', 'WIN', 'PASS', 'WIN'])).toBeUndefined();
    expect(after(['BIND', 'WIN', 'PASS', 'RELEASE'])?.value).toBe('released');
  });

  it.each([
    ['seeking', 'lost'],
    ['contending', 'contending'],
    ['held', 'held'],
    ['lost', 'lost'],
    ['refused', 'lost'],
    ['released', 'lost'],
  ] as const)('in the state %s tells those who ask that it is %s', (state, phase) => {
    const snapshot = leaseLifecycle.snapshots.find(({ value }) => value === state);
    expect(snapshot === undefined ? undefined : leasePhaseOf(snapshot.value)).toBe(phase);
    expect(LEASE_PHASES).toContain(phase);
  });
});
