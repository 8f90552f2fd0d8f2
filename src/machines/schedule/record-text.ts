/** Records of a schedule as people read them in its log. */
import { assertNever } from '../errors.ts';
import type { MissedReason, RecordOf, ScheduleRecord, SkippedReason } from './slot-record.ts';

const MISSED = {
  down: 'no runtime was there',
  late: 'it was noticed too late',
  paused: 'the schedule was paused',
  'plan-changed': 'the plan has been replaced since',
} as const satisfies Record<MissedReason, string>;

const SKIPPED = {
  overlap: 'the fire before it still runs',
  'queue-full': 'the line behind the running fire is full',
  superseded: 'a newer slot took its place',
} as const satisfies Record<SkippedReason, string>;

export function describeRecord(record: ScheduleRecord): string {
  switch (record.type) {
    case 'schedule.planned':
      return `planned "${record.cronExpression}" in ${record.timezone}`;
    case 'schedule.paused':
      return 'paused';
    case 'schedule.resumed':
      return 'resumed';
    case 'slot.queued':
      return `${record.slot} stands in line`;
    case 'slot.claimed':
      return `${record.slot} is due`;
    case 'slot.fired':
      return `${record.slot} fired as ${record.childTaskId}${describeReplaced(record)}`;
    case 'slot.refused':
      return `${record.slot} could not be started: ${record.error.message}`;
    case 'slot.interrupted':
      return `${record.slot} was interrupted by the end of its runtime; whether it fired is unknown, it is not fired again`;
    case 'slot.skipped':
      return `${record.slot} skipped: ${SKIPPED[record.reason]}`;
    case 'slot.missed':
      return `${record.slot} missed: ${MISSED[record.reason]}`;
    case 'slots.missed':
      return `all slots after ${record.after} up to ${record.upTo} missed: ${MISSED[record.reason]}`;
    default:
      return assertNever(record, 'unknown schedule record');
  }
}

function describeReplaced({ cancelledPrevious }: RecordOf<'slot.fired'>): string {
  return cancelledPrevious === undefined ? '' : ` in place of ${cancelledPrevious.slot}, which was cancelled`;
}
