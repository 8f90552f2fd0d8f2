/** Appends on their way into a log, and how much is tried for them. */
import type { AppendOptions, AppendResult, NewSessionEvents } from '../../actors/session/event-store.ts';
import type { EncodedRecord } from './record-codec.ts';

/** Bytes that one write may hold. What waits beyond goes into the next. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** How often a record is written again that another process's write has cut in two. */
export const MAX_WRITE_ATTEMPTS = 3;

/** How often in a row a write may come too late, into a segment that another process has just sealed. */
export const MAX_SEALED_WRITES = 1_000;

/** One that waits for its turn, or for its receipt. */
export interface PendingAppend {
  readonly events: NewSessionEvents;
  readonly options: AppendOptions;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** One whose record is written. */
export interface Written extends EncodedRecord {
  readonly pending: PendingAppend;
}
