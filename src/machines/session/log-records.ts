/**
 * A whole log as records: cut where the events of one record would not share an epoch or be larger than readers take,
 * and judged as readers will.
 */
import { RuntimeError } from '../errors.ts';
import { MAX_RECORD_BYTES } from './limits.ts';
import { LogAdmission } from './log-admission.ts';
import type { LogRecord } from './log-admission.ts';
import type { NewSessionEvent } from './session-event.ts';

type Events = LogRecord['events'];

/** Leaves room for what frames a record. No event that was ever stored is larger than a record. */
const MAX_EVENTS_CHARACTERS = MAX_RECORD_BYTES / 8;

/**
 * The events in order, in as few records as that takes.
 * @throws RuntimeError SESSION_EVENT_INVALID when an epoch is below one before it: every reader would pass over such an
 * event
 */
export function recordsOf([first, ...rest]: Events): readonly Events[] {
  const records: [NewSessionEvent, ...NewSessionEvent[]][] = [[first]];
  let characters = sizeOf(first);
  let epoch = first.epoch ?? 0;
  for (const event of rest) {
    if ((event.epoch ?? epoch) < epoch) throw fallingEpoch(epoch, event.epoch ?? 0);
    epoch = event.epoch ?? epoch;
    const current = records.at(-1);
    const size = sizeOf(event);
    characters += size;
    if (current !== undefined && event.epoch === current[0].epoch && characters <= MAX_EVENTS_CHARACTERS)
      current.push(event);
    else {
      records.push([event]);
      characters = size;
    }
  }
  return records;
}

/**
 * What these records add up to as a log of their own.
 * @throws RuntimeError SESSION_EVENT_INVALID when one of them would not count
 */
export function admitted(records: readonly LogRecord[]): LogAdmission {
  const admission = new LogAdmission();
  for (const record of records) {
    const { kind } = admission.admit(record);
    if (kind !== 'admitted') throw notAdmitted(kind, record.events[0].id);
  }
  return admission;
}

function notAdmitted(kind: string, eventId: string): RuntimeError {
  const why = kind === 'duplicate' ? 'repeats an id or a key' : 'does not follow the one before';
  return new RuntimeError(
    'SESSION_EVENT_INVALID',
    `expected records that all count, the one that begins with event ${eventId} ${why}`,
    { category: 'validation', hint: 'Give the records in the order of their log, each once.' },
  );
}

function fallingEpoch(expected: number, received: number): RuntimeError {
  return new RuntimeError(
    'SESSION_EVENT_INVALID',
    `expected events with rising epochs, received epoch ${received} after ${expected}`,
    { category: 'validation', hint: 'Give the events in the order of their log.' },
  );
}

/** What is no JSON counts for nothing here: it is refused where it is written. */
function sizeOf(event: NewSessionEvent): number {
  try {
    return JSON.stringify(event).length;
  } catch {
    return 0;
  }
}
