import { describe, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { scheduleLifecycle, scheduleMachine } from '../../../src/machines/schedule/schedule-machine.ts';
import type { ScheduleEvent } from '../../../src/machines/schedule/schedule-machine.ts';

const show = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value as object)
        .map(([state, inner]) => `${state}.${show(inner)}`)
        .join();

describe('a schedule', () => {
  it('moves along these edges and no others', () => {
    const edges = scheduleLifecycle.snapshots.flatMap((snapshot) =>
      scheduleLifecycle.events.flatMap((event) => {
        const next = scheduleLifecycle.next(snapshot, event);
        return next === undefined ? [] : [`${show(snapshot.value)} ${event} ${show(next.value)}`];
      }),
    );
    expect(edges.toSorted()).toEqual([
      'active.firing EXHAUST draining',
      'active.firing FAIL failed',
      'active.firing PAUSE paused',
      'active.firing SETTLED active.waiting',
      'active.firing STOP stopping',
      'active.waiting DUE active.firing',
      'active.waiting EXHAUST draining',
      'active.waiting FAIL failed',
      'active.waiting PAUSE paused',
      'active.waiting STOP stopping',
      'draining DRAINED exhausted',
      'draining FAIL failed',
      'draining PAUSE paused',
      'draining REPLAN active.waiting',
      'draining STOP stopping',
      'opening FAIL failed',
      'opening OPENED active.waiting',
      'opening STOP stopping',
      'paused EXHAUST draining',
      'paused FAIL failed',
      'paused RESUME active.waiting',
      'paused STOP stopping',
      'stopping FAIL failed',
      'stopping STOPPED stopped',
    ]);
  });

  it('ends in one of three ways, and then hears nothing any more', () => {
    const ends = scheduleLifecycle.snapshots.filter((snapshot) => snapshot.status === 'done');
    expect(ends.map((snapshot) => show(snapshot.value)).toSorted()).toEqual(['exhausted', 'failed', 'stopped']);
    expect(
      ends.flatMap((snapshot) =>
        scheduleLifecycle.events.filter((event) => scheduleLifecycle.next(snapshot, event) !== undefined),
      ),
    ).toEqual([]);
  });

  it('can be stopped from every state in which it lives', () => {
    const deaf = scheduleLifecycle.snapshots.filter(
      (snapshot) => snapshot.status === 'active' && !snapshot.can({ type: 'STOP' }),
    );
    expect(deaf.map((snapshot) => snapshot.value)).toEqual(['stopping']);
  });

  it('moves compiled as it does interpreted', () => {
    const [initial] = initialTransition(scheduleMachine);
    expect(scheduleLifecycle.initial.value).toEqual(initial.value);
    for (const snapshot of scheduleLifecycle.snapshots) {
      for (const type of scheduleLifecycle.events as ScheduleEvent['type'][]) {
        const [interpreted] = transition(
          scheduleMachine,
          scheduleMachine.resolveState({ value: snapshot.value, context: {} }),
          { type },
        );
        const compiled = scheduleLifecycle.next(snapshot, type) ?? snapshot;
        expect([show(snapshot.value), type, show(compiled.value)]).toEqual([
          show(snapshot.value),
          type,
          show(interpreted.value),
        ]);
      }
    }
  });
});
