/**
 * Completes the receipt of a message with who reads it first: from the state it was sent in, or from the log before it.
 */
import { PlaceSearch, placeOf, readerOf } from '../../machines/session/message-reader.ts';
import type { MessagePlace } from '../../machines/session/message-reader.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS } from './event-store.ts';
import type { EventStore } from './event-store.ts';
import type { SendReceipt } from './ingress.ts';

export interface MessageReceiptOptions {
  readonly store: Pick<EventStore, 'read'>;
  readonly sessionId: string;
  readonly hasFiles: boolean;
  /** The session before it was sent. Absent for one that was sent earlier. */
  readonly before?: SessionState | undefined;
}

/** Events that are checked first. */
const FIRST_PAGE = 32;

/** Never rejects: the message is stored, whatever comes of checking. */
export async function withReader(receipt: SendReceipt, options: MessageReceiptOptions): Promise<SendReceipt> {
  try {
    const place = await placeBefore(receipt.seq, options);
    return Object.freeze({
      ...receipt,
      readBy: readerOf({ delivery: receipt.acceptedAs, hasFiles: options.hasFiles }, place),
    });
  } catch {
    return receipt;
  }
}

/** Reads back from the message only as far as others have written since the session was checked. */
async function placeBefore(seq: number, { store, sessionId, before }: MessageReceiptOptions): Promise<MessagePlace> {
  const first = before === undefined ? 1 : before.head + 1;
  const search = new PlaceSearch();
  let last = seq - 1;
  for (let size = FIRST_PAGE; last >= first; size = Math.min(size * 4, MAX_READ_EVENTS)) {
    const from = Math.max(first, last - size + 1);
    const events = await store.read(sessionId, { from, limit: last - from + 1 });
    for (const event of events.toReversed()) {
      const place = search.take(event);
      if (place !== undefined) return place;
    }
    last = from - 1;
  }
  return search.end(before === undefined ? 'no_wake' : placeOf(before));
}
