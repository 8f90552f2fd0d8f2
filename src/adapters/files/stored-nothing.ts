/** Which hints of an append nothing will come of, when it turns out to store nothing. */
import { RuntimeError } from '../../machines/errors.ts';
import type { Activation } from '../../machines/session/activation.ts';
import type { NewSessionEvents } from '../../actors/session/event-store.ts';

/** Refusals after which none of the events is in the log. After any other it may be. */
const STORED_NOTHING: ReadonlySet<string> = new Set([
  'HEAD_MOVED',
  'EPOCH_SUPERSEDED',
  'RECORD_TOO_LARGE',
  'SESSION_EVENT_INVALID',
  'SESSION_NOT_FOUND',
]);

/** Whether an append that was refused with this error has certainly stored nothing. */
export function hasStoredNothing(error: unknown): boolean {
  return RuntimeError.is(error) && STORED_NOTHING.has(error.code);
}

/** The hints whose cause is one of these events, or a wake that one of them queues. What others caused stays due. */
export function hintsOf(events: NewSessionEvents, hints: readonly Activation[]): Activation[] {
  const causes = new Set(events.flatMap(causesIn));
  return hints.filter(({ causeId }) => causes.has(causeId));
}

function causesIn({ id, type, data }: NewSessionEvents[0]): string[] {
  const queuedWakeId =
    type === 'wake.queued' && typeof data === 'object' && data !== null && 'queuedWakeId' in data
      ? data.queuedWakeId
      : undefined;
  return typeof queuedWakeId === 'string' ? [id, queuedWakeId] : [id];
}
