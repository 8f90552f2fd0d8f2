import { describe, expect, it } from 'vitest';
import {
  getBackgroundTaskTransitions,
  isStoppingTask,
  isTerminalBackgroundTaskStatus,
  taskLifecycle,
  transitionBackgroundTaskStatus,
} from '../../../src/machines/task/task-lifecycle.ts';
import type { TaskLifecycleSnapshot } from '../../../src/machines/task/task-lifecycle.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import type { BackgroundTaskStatus, BackgroundTaskTransitionEvent } from '../../../src/machines/task/task-machine.ts';

/** The contract, written down a second time so that a change of the chart is a change of this table. */
const CONTRACT = [
  'queued START running',
  'queued CANCEL cancelled',
  'running REQUEST_PERMISSION waiting_permission',
  'running SLEEP sleeping',
  'running COMPLETE completed',
  'running FAIL failed',
  'running CANCEL cancelled',
  'waiting_permission PERMISSION_ALLOWED running',
  'waiting_permission PERMISSION_DENIED failed',
  'waiting_permission CANCEL cancelled',
  'sleeping WAKE running',
  'sleeping CANCEL cancelled',
];
const STATUSES: BackgroundTaskStatus[] = [
  'queued',
  'running',
  'waiting_permission',
  'sleeping',
  'completed',
  'failed',
  'cancelled',
];
const EVENTS: BackgroundTaskTransitionEvent[] = [
  'START',
  'REQUEST_PERMISSION',
  'PERMISSION_ALLOWED',
  'PERMISSION_DENIED',
  'SLEEP',
  'WAKE',
  'COMPLETE',
  'FAIL',
  'CANCEL',
];

describe('the transition table', () => {
  it('is the contract, row for row', () => {
    const rows = getBackgroundTaskTransitions().map(({ from, event, to }) => `${from} ${event} ${to}`);
    expect(rows.sort()).toEqual([...CONTRACT].sort());
  });

  it('is a copy that callers may do with as they like', () => {
    getBackgroundTaskTransitions().length = 0;
    const [row] = getBackgroundTaskTransitions();
    Object.assign(row ?? {}, { to: 'failed' });
    expect(getBackgroundTaskTransitions()[0]).toEqual({ from: 'queued', event: 'START', to: 'running' });
  });

  it('names exactly the statuses that the chart has at its top level', () => {
    expect(Object.keys(taskLifecycle.machine.root.states).sort()).toEqual([...STATUSES].sort());
  });

  it('does not depend on how deep inside a status the task is, but for work that is being stopped', () => {
    for (const snapshot of taskLifecycle.snapshots) {
      for (const event of EVENTS) {
        const next = taskLifecycle.next(snapshot, event);
        const isHeldBack =
          JSON.stringify(snapshot.value) === '{"running":"stopping"}' &&
          (event === 'SLEEP' || event === 'REQUEST_PERMISSION');
        const expected = CONTRACT.find((row) => row.startsWith(`${snapshot.topLevel} ${event} `))?.split(' ')[2];
        if (isHeldBack) expect(next).toBeUndefined();
        else expect(next?.topLevel).toBe(expected);
      }
    }
  });
});

describe('transitionBackgroundTaskStatus', () => {
  it.each(STATUSES.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
    '%s + %s follows the contract or is refused',
    (status, event) => {
      const row = CONTRACT.find((candidate) => candidate.startsWith(`${status} ${event} `));
      if (row !== undefined) {
        expect(transitionBackgroundTaskStatus(status, event)).toBe(row.split(' ')[2]);
        return;
      }
      const why = isTerminalBackgroundTaskStatus(status) ? 'terminal status' : 'unsupported event';
      const error = refusalOf(() => transitionBackgroundTaskStatus(status, event));
      expect(error.message).toBe(`Invalid background task transition: ${status} + ${event} (${why})`);
      expect(error).toMatchObject({ name: 'BackgroundTaskError', category: 'validation', recoverable: true });
      expect(error.hint).toBeTypeOf('string');
    },
  );

  it('calls exactly completed, failed and cancelled terminal', () => {
    expect(STATUSES.filter((status) => isTerminalBackgroundTaskStatus(status))).toEqual([
      'completed',
      'failed',
      'cancelled',
    ]);
  });
});

function refusalOf(run: () => unknown): BackgroundTaskError {
  try {
    run();
  } catch (error) {
    if (error instanceof BackgroundTaskError) return error;
  }
  throw new Error('expected a BackgroundTaskError');
}

describe('a task that is being stopped', () => {
  const after = (...events: readonly string[]): TaskLifecycleSnapshot =>
    events.reduce((snapshot, event) => taskLifecycle.next(snapshot, event) ?? snapshot, taskLifecycle.initial);

  it.each([
    ['an answer', 'REQUEST_PERMISSION', 'PERMISSION_ALLOWED'],
    ['a wake', 'SLEEP', 'WAKE'],
  ])('stays so whatever comes: %s does not undo the stop', (_what, rest, goOn) => {
    const stopping = after('START', 'STARTED', rest, 'STOP');
    expect(isStoppingTask(stopping)).toBe(true);
    const awake = after('START', 'STARTED', rest, 'STOP', goOn);
    expect([awake.value, isStoppingTask(awake)]).toEqual([{ running: 'stopping' }, true]);
  });

  it('is told from one that works, waits, sleeps or has ended', () => {
    const stopping = taskLifecycle.snapshots.filter(isStoppingTask).map(({ value }) => value);
    expect(stopping).toEqual(
      expect.arrayContaining([{ running: 'stopping' }, { waiting_permission: 'stopping' }, { sleeping: 'stopping' }]),
    );
    expect(stopping).toHaveLength(3);
  });
});
