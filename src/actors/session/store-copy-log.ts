/**
 * The log of one session as a copy sees it: record by record, and as a hash that is the same for the same log in any
 * store.
 */
import { canonicalJson } from '../../machines/canonical-json.ts';
import { asStored } from '../../machines/session/session-fork.ts';
import { ChainedHash } from './chained-hash.ts';
import type { EventStore, SessionRecord, StoredRecord } from './event-store.ts';

/** Records that are hashed at once. */
const BLOCK_RECORDS = 64;

export interface LogRange {
  /** Sequence number of the first event wanted. */
  readonly from: number;
  /** Of the last. */
  readonly to: number;
}

/** The records of these events, in order. A record that goes on behind the last one is not among them. */
export async function* recordsOfLog(
  store: EventStore,
  sessionId: string,
  { from, to }: LogRange,
): AsyncGenerator<StoredRecord, void, undefined> {
  for (let next = from; next <= to;) {
    const page = await store.records(sessionId, { from: next });
    if (page.length === 0) return;
    for (const record of page) {
      const end = lastSeqOf(record);
      if (end > to) return;
      yield record;
      next = end + 1;
    }
  }
}

/**
 * SHA-256 over the records of a log from the first one on: their events as canonical JSON, their places and their keys.
 */
export class LogHash {
  readonly #hash = new ChainedHash(BLOCK_RECORDS);

  async add(record: StoredRecord): Promise<void> {
    await this.#hash.add(recordText(record));
  }

  /** As 64 hexadecimal digits. */
  digest(): Promise<string> {
    return this.#hash.digest();
  }
}

/** One line that is the same for the same record, whichever store it comes from. */
export function recordText({ events, key }: StoredRecord): string {
  return `${canonicalJson({ seq: events[0].seq, key, events: events.map(asStored) })}\n`;
}

/** A record as it is given to another store. */
export function recordToStore({ events: [first, ...rest], key }: StoredRecord): SessionRecord {
  return { events: [asStored(first), ...rest.map(asStored)], key };
}

export function lastSeqOf({ events }: StoredRecord): number {
  return (events.at(-1) ?? events[0]).seq;
}
