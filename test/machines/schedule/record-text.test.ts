import { expect, it } from 'vitest';
import { describeRecord } from '../../../src/machines/schedule/record-text.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';

const at = '2026-01-01T00:00:00.000Z';
const slot = '2026-01-01T00:05:00.000Z';
const common = { v: 1, at } as const;
const own = { ...common, slot, owner: 'a' } as const;

const LINES: readonly [ScheduleRecord, string][] = [
  [{ ...common, type: 'schedule.planned', cronExpression: '@daily', timezone: 'UTC' }, 'planned "@daily" in UTC'],
  [{ ...common, type: 'schedule.paused' }, 'paused'],
  [{ ...common, type: 'schedule.resumed' }, 'resumed'],
  [{ ...own, type: 'slot.queued' }, `${slot} stands in line`],
  [{ ...own, type: 'slot.claimed' }, `${slot} is due`],
  [{ ...own, type: 'slot.fired', childTaskId: 'task_2' }, `${slot} fired as task_2`],
  [
    { ...own, type: 'slot.fired', childTaskId: 'task_2', cancelledPrevious: { slot: at } },
    `${slot} fired as task_2 in place of ${at}, which was cancelled`,
  ],
  [
    { ...own, type: 'slot.refused', error: { code: 'X', category: 'capacity', message: 'the queue is full' } },
    `${slot} could not be started: the queue is full`,
  ],
  [
    { ...own, type: 'slot.interrupted' },
    `${slot} was interrupted by the end of its runtime; whether it fired is unknown, it is not fired again`,
  ],
  [
    { ...own, type: 'slot.skipped', reason: 'queue-full', overlap: 'queue' },
    `${slot} skipped: the line behind the running fire is full`,
  ],
  [{ ...own, type: 'slot.missed', reason: 'late' }, `${slot} missed: it was noticed too late`],
  [
    { ...common, type: 'slots.missed', owner: 'a', after: at, upTo: slot, reason: 'down' },
    `all slots after ${at} up to ${slot} missed: no runtime was there`,
  ],
];

it.each(LINES)('a record %o reads as "%s"', (record, line) => {
  expect(describeRecord(record)).toBe(line);
});
