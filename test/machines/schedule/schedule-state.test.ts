import { describe, expect, it } from 'vitest';
import { durableScheduleMachine, nextScheduleStatus } from '../../../src/machines/schedule/durable-machine.ts';
import {
  RUN_SILENCE_MS,
  beginRun,
  endRun,
  newScheduleState,
  withSignOfLife,
  withStatus,
} from '../../../src/machines/schedule/schedule-state.ts';
import type { ScheduleState } from '../../../src/machines/schedule/schedule-state.ts';
import { checkedNewSchedule, scheduleDefinition } from '../../../src/machines/schedule/schedule-definition.ts';
import type { ScheduleDefinition } from '../../../src/machines/schedule/schedule-definition.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

const definition = (limits: object = {}): ScheduleDefinition =>
  scheduleDefinition.parse({
    v: 1,
    id: 'nightly',
    cron: '* * * * *',
    timezone: 'UTC',
    target: { kind: 'command', command: 'true', cwd: '/' },
    limits,
    createdAt: at(0),
    series: '5c8d4dbd-dae5-4fe8-96e4-92fa2f4b61b1',
  });

const fresh = newScheduleState(at(0));

function begun(
  state: ScheduleState,
  seconds: number,
  { limits = {}, owner = 'one' }: { readonly limits?: object; readonly owner?: string } = {},
): ScheduleState {
  const decision = beginRun(definition(limits), state, { slot: at(seconds), at: at(seconds), owner });
  if (decision.kind === 'refused') throw new Error(decision.reason.message);
  return decision.state;
}

const failed = (state: ScheduleState, seconds: number, limits: object = {}): ScheduleState =>
  endRun(definition(limits), begun(state, seconds, { limits }), {
    slot: at(seconds),
    at: at(seconds + 1),
    owner: 'one',
    outcome: 'failed',
    note: 'exit 1',
  });

describe('the status of a schedule', () => {
  const STATUSES = ['active', 'paused', 'parked', 'ended'] as const;

  it.each([
    ['active', 'PAUSE', 'paused'],
    ['active', 'PARK', 'parked'],
    ['active', 'END', 'ended'],
    ['paused', 'RESUME', 'active'],
    ['paused', 'END', 'ended'],
    ['parked', 'RESUME', 'active'],
    ['parked', 'PAUSE', 'paused'],
    ['parked', 'END', 'ended'],
  ] as const)('is %s, and after %s it is %s', (from, event, to) => {
    expect(nextScheduleStatus(from, event)).toBe(to);
  });

  it('has no way but these', () => {
    const ways = STATUSES.flatMap((status) =>
      (['PAUSE', 'RESUME', 'PARK', 'END'] as const).flatMap((event) => nextScheduleStatus(status, event) ?? []),
    );
    expect(ways).toHaveLength(8);
    expect(Object.keys(durableScheduleMachine.states).toSorted()).toEqual([...STATUSES].toSorted());
  });

  it('forgets its reason and the failures when it is resumed', () => {
    const parked = failed(fresh, 60, { maxFailures: 1 });
    expect(parked).toMatchObject({ status: 'parked', failuresInARow: 1, reason: { code: 'SCHEDULE_FAILS' } });
    expect(withStatus(parked, { type: 'RESUME', at: at(90) })).toMatchObject({
      status: 'active',
      failuresInARow: 0,
      since: at(90),
    });
    expect(withStatus(parked, { type: 'RESUME', at: at(90) })).not.toHaveProperty('reason');
  });
});

describe('a run', () => {
  it('begins only while the schedule is active', () => {
    const paused = withStatus(fresh, { type: 'PAUSE', at: at(1) }) ?? fresh;
    expect(beginRun(definition(), paused, { slot: at(60), at: at(60), owner: 'one' })).toEqual({
      kind: 'refused',
      reason: { code: 'SCHEDULE_INACTIVE', message: 'the schedule is paused' },
    });
  });

  it('that completes sets the count of failures back', () => {
    const after = failed(failed(fresh, 60), 120);
    expect(after.failuresInARow).toBe(2);
    expect(
      endRun(definition(), begun(after, 180), { slot: at(180), at: at(181), owner: 'one', outcome: 'completed' }),
    ).toMatchObject({ failuresInARow: 0, runs: 3 });
  });

  it.each(['missed', 'cancelled'] as const)('that is %s is no failure and forgives none', (outcome) => {
    const after = endRun(definition(), begun(failed(fresh, 60), 120), {
      slot: at(120),
      at: at(121),
      owner: 'one',
      outcome,
    });
    expect(after).toMatchObject({ failuresInARow: 1, status: 'active', lastRun: { outcome, slot: at(120) } });
  });

  it('does not begin while one goes on in another worker, and does once that has been silent for too long', () => {
    const state = begun(fresh, 60, { owner: 'other' });
    const again = (seconds: number) =>
      beginRun(definition(), state, { slot: at(seconds), at: at(seconds), owner: 'one' });
    expect(again(60 + RUN_SILENCE_MS / 1_000 - 1)).toMatchObject({
      kind: 'refused',
      reason: { code: 'SCHEDULE_OVERLAP' },
    });
    expect(again(60 + RUN_SILENCE_MS / 1_000)).toMatchObject({
      kind: 'begins',
      state: { failuresInARow: 1, runs: 2 },
    });
  });

  it('that kills its worker each time is parked too', () => {
    const dead = { ...begun(fresh, 60, { owner: 'other' }), failuresInARow: 9 };
    expect(beginRun(definition(), dead, { slot: at(600), at: at(600), owner: 'one' })).toMatchObject({
      kind: 'refused',
      reason: { code: 'SCHEDULE_FAILS' },
      state: { status: 'parked', failuresInARow: 10 },
    });
  });

  it('gives signs of life for as long as it is the one that is recorded', () => {
    const state = begun(fresh, 60);
    expect(withSignOfLife(state, { slot: at(60), owner: 'one', at: at(75) })?.lastRun?.seenAt).toBe(at(75));
    expect(withSignOfLife(state, { slot: at(60), owner: 'other', at: at(75) })).toBeUndefined();
    expect(withSignOfLife(failed(fresh, 60), { slot: at(60), owner: 'one', at: at(75) })).toBeUndefined();
  });

  it('that ends late does not hide a newer one', () => {
    const late = endRun(definition(), begun(begun(fresh, 60), 120), {
      slot: at(60),
      at: at(130),
      owner: 'one',
      outcome: 'failed',
    });
    expect(late).toMatchObject({ failuresInARow: 1, lastRun: { slot: at(120), outcome: 'running' } });
  });

  it('that is refused because all runs are done ends the schedule, but not before the last one has ended', () => {
    const limits = { maxRuns: 1 };
    const running = begun(fresh, 60, { limits });
    const refused = beginRun(definition(limits), running, { slot: at(100), at: at(100), owner: 'one' });
    expect(refused).toMatchObject({ kind: 'refused', reason: { code: 'SCHEDULE_RUNS_DONE' } });
    expect(refused).not.toHaveProperty('state');
    expect(beginRun(definition(limits), running, { slot: at(600), at: at(600), owner: 'one' })).toMatchObject({
      state: { status: 'ended' },
    });
  });
});

describe('a definition', () => {
  const good = { id: 'nightly', cron: '0 1 * * *', target: { kind: 'command', command: 'true', cwd: '/' } };

  it('gets the defaults of what is left out', () => {
    expect(checkedNewSchedule(good)).toMatchObject({ catchUp: 'latest', overlap: 'skip', limits: { maxFailures: 10 } });
  });

  it.each([
    [{ id: '../up' }, /id: a lower-case name/],
    [{ id: 'CON/..' }, /id: a lower-case name/],
    [{ cron: '' }, /cron/],
    [{ target: { kind: 'command', command: 'true', cwd: 'relative' } }, /target\.cwd: an absolute path/],
    [{ target: { kind: 'command', command: 'a\0b', cwd: '/' } }, /target\.command: a command without NUL/],
    [{ target: { kind: 'command', command: 'true', cwd: '/', timeoutMs: 2 ** 31 } }, /target\.timeoutMs/],
    [
      { target: { kind: 'command', command: 'true', cwd: '/', env: ['A=b'] } },
      /target\.env\[0\]: the name of a variable/,
    ],
    [{ target: { kind: 'session', sessionId: 'x', text: 'y' } }, /target\.sessionId: a UUIDv7/],
    [{ target: { kind: 'mail' } }, /target\.kind/],
    [{ limits: { maxRuns: 0 } }, /limits\.maxRuns/],
    [{ limits: { until: 'tomorrow' } }, /limits\.until/],
    [{ catchUp: { all: 0 } }, /catchUp/],
    [{ colour: 'red' }, /colour/],
  ])('that is wrong as %j is refused with what is wrong', (change, message) => {
    expect(() => checkedNewSchedule({ ...good, ...change })).toThrow(message);
  });
});
