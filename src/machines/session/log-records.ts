/** Cuts a whole log into records: the events of one record share an epoch, and a record has a size that readers take. */
import { MAX_RECORD_BYTES } from './limits.ts';
import type { LogRecord } from './log-admission.ts';
import type { NewSessionEvent } from './session-event.ts';

type Events = LogRecord['events'];

/** Leaves room for what frames a record. No event that was ever stored is larger than a record. */
const MAX_EVENTS_CHARACTERS = MAX_RECORD_BYTES / 8;

/** The events in order, in as few records as that takes. */
export function recordsOf([first, ...rest]: Events): readonly Events[] {
  const records: [NewSessionEvent, ...NewSessionEvent[]][] = [[first]];
  let characters = sizeOf(first);
  for (const event of rest) {
    const current = records.at(-1);
    const size = sizeOf(event);
    characters += size;
    if (current !== undefined && event.epoch === current[0].epoch && characters <= MAX_EVENTS_CHARACTERS) current.push(event);
    else {
      records.push([event]);
      characters = size;
    }
  }
  return records;
}

function sizeOf(event: NewSessionEvent): number {
  return JSON.stringify(event).length;
}
