/** What the chart pane shows besides the picture. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { HANDLED_BY_LOGIC } from '../../../src/machines/inspection-log/taken-words.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { ignoredBecause } from '../../../src/adapters/inspector-page/chart/ignored-why.ts';
import { litStates } from '../../../src/adapters/inspector-page/chart/chart-figure.tsx';
import { runningTimers } from '../../../src/adapters/inspector-page/chart/timers.ts';
import {
  LARGEST,
  LEGIBLE,
  SMALLEST,
  closer,
  fitted,
  scrollAround,
  wholeZoom,
} from '../../../src/adapters/inspector-page/chart/zoom.ts';
import { takenText } from '../../../src/adapters/inspector-page/events/record-detail.tsx';
import { eventName, stepName } from '../../../src/adapters/inspector-page/model/event-names.ts';

const chart = describeChart(taskMachine);

describe('what is lit', () => {
  it.each([
    ['queued', ['queued']],
    [{ running: 'active' }, ['running', 'running.active']],
    [{ a: { b: 'c' }, d: {} }, ['a', 'a.b', 'a.b.c', 'd']],
    [undefined, []],
  ])('is every state of %j and those around it', (value, states) => {
    expect([...litStates(value)]).toEqual(states);
  });
});

describe('why an event was ignored', () => {
  it.each([
    [['queued'], 'COMPLETE', 'queued has no transition for it. It would be in running.'],
    [['completed'], 'START', 'completed is final: nothing is taken any more. It would be in queued.'],
    [
      ['running.stopping'],
      'SLEEP',
      'running.stopping takes it on purpose without doing anything. It would be in running.',
    ],
    [['queued'], 'NEVER_HEARD', 'No change of state: the chart says nothing of it, and stayed in queued.'],
    [['queued'], 'xstate.done.actor.7', 'queued does not wait for this any more.'],
    [['queued'], 'START', 'queued has a transition for it, yet none was taken.'],
  ])('in %j, %s: %s', (leaves, event, sentence) => {
    expect(ignoredBecause(chart, leaves, event)).toBe(sentence);
  });

  it('is not known without a chart', () => {
    expect(ignoredBecause(undefined, ['queued'], 'START')).toContain('was not recorded');
  });
});

describe('timers', () => {
  const record = (s: number, rest: object): InspectionRecord =>
    ({ s, t: s, a: 'b:x:0', ...rest }) as unknown as InspectionRecord;
  const timeline = new InspectionTimeline();
  timeline.append([
    record(1, { k: 'actor', id: 'a', chart: 'a', status: 'active' }),
    record(2, { k: 'timer', id: 'xstate.after.late.a', delayMs: 90, dueAt: 92 }),
    record(3, { k: 'timer', id: 'soon', delayMs: 10, dueAt: 13 }),
    record(4, { k: 'timer', id: 'never', delayMs: 10, dueAt: 14 }),
    record(5, { k: 'cancel', id: 'never' }),
    record(6, { k: 'event', e: 1, from: 'b:x:0', type: 'soon' }),
    record(7, { k: 'timer', id: 'soon', delayMs: 10, dueAt: 17 }),
    record(8, { k: 'snap', status: 'done' }),
  ]);
  const at = (seq: number): string[] =>
    runningTimers(timeline.sequence('b:x:0'), seq).map(({ name, dueAt }) => `${name} ${dueAt}`);

  it('run from where they are set to where they are cleared, due, or their actor is over, the first that is due first', () => {
    expect(at(1)).toEqual([]);
    expect(at(4)).toEqual(['soon 13', 'never 14', 'after(late) 92']);
    expect(at(6)).toEqual(['after(late) 92']);
    expect(at(7)).toEqual(['soon 17', 'after(late) 92']);
    expect(at(8)).toEqual([]);
  });
});

describe('the size of a picture', () => {
  it('fits, can be read, and is never more than its own', () => {
    expect(fitted({ width: 400, height: 300 }, { width: 800, height: 600 })).toBe(1);
    expect(fitted({ width: 1_000, height: 500 }, { width: 950, height: 600 })).toBeCloseTo(0.95);
    expect(fitted({ width: 4_000, height: 500 }, { width: 900, height: 600 })).toBe(LEGIBLE);
    expect(fitted({ width: 0, height: 0 }, { width: 900, height: 600 })).toBe(1);
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 1e5, noNaN: true }),
        fc.double({ min: 1, max: 1e4, noNaN: true }),
        fc.integer({ min: -50, max: 50 }),
        (width, frame, steps) => {
          const zoom = fitted({ width, height: width }, { width: frame, height: frame });
          expect(zoom).toBeGreaterThanOrEqual(LEGIBLE);
          expect(zoom).toBeLessThanOrEqual(1);
          expect(closer(zoom, steps)).toBeGreaterThanOrEqual(SMALLEST);
          expect(closer(zoom, steps)).toBeLessThanOrEqual(LARGEST);
        },
      ),
    );
  });

  it('is as small as it has to be for one who wants to see all of it', () => {
    expect(wholeZoom({ width: 400, height: 300 }, { width: 800, height: 600 })).toBe(1);
    expect(wholeZoom({ width: 400, height: 1_200 }, { width: 800, height: 600 })).toBe(0.5);
    expect(wholeZoom({ width: 1e6, height: 10 }, { width: 800, height: 600 })).toBe(SMALLEST);
  });

  it('changes around a point that stays where it is', () => {
    expect(scrollAround(100, 50, { from: 1, to: 2 })).toBe(250);
    expect(scrollAround(0, 50, { from: 1, to: 0.5 })).toBe(0);
  });
});

describe('the names of events', () => {
  it.each([
    ['START', undefined, 'START'],
    ['xstate.done.actor.0.wake.claiming', { id: '0.wake.claiming', kind: 'claim' }, 'claim is done'],
    ['xstate.done.actor.task_7', { id: 'task_7', kind: 'task' }, 'task_7 is done'],
    ['xstate.error.actor.load', undefined, 'load failed'],
    ['xstate.after.soon.task.running', undefined, 'after(soon)'],
    ['xstate.done.state.task.a.b', undefined, 'done'],
    ['xstate.promise.resolve', undefined, 'resolved'],
    ['xstate.unheard', undefined, 'unheard'],
    ['xstate.constructor', undefined, 'constructor'],
    ['a\u202Eb', undefined, 'a\\u{202E}b'],
  ])('%s of %j is %s', (type, sender, name) => {
    expect(eventName(type, sender)).toBe(name);
  });

  it('are those of the chart where a transition was taken', () => {
    const step = {
      k: 'step' as const,
      s: 1,
      t: 1,
      a: 'b',
      type: 'xstate.done.actor.0.x',
      taken: ['claiming|done(claim)|0'],
      value: 'folding',
      status: 'active' as const,
    };
    expect(stepName(step)).toBe('claim is done');
    expect(stepName({ ...step, type: 'GO', taken: ['a|*|0'] })).toBe('GO');
    expect(stepName({ ...step, taken: [HANDLED_BY_LOGIC] })).toBe('0.x is done');
    expect(takenText(HANDLED_BY_LOGIC, chart)).toBe('none: no change of state');
    expect(takenText('queued|START|0', chart)).toBe('queued — START → running');
    expect(takenText('(unknown)', chart)).toBe('(unknown)');
  });
});
