/** The log of a session as the lines of an export, which is how sessions come in. */
import { ChainedHash } from '../../actors/session/chained-hash.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import {
  EXPORT_BLOCK_LINES,
  EXPORT_FORMAT,
  exportFooter,
  exportHeader,
} from '../../machines/session/session-export.ts';
import type { NewSessionEvent } from '../../machines/session/session-event.ts';

/** @param nowMs milliseconds since the epoch */
export async function* exportedLines(
  identity: SessionIdentity,
  events: readonly NewSessionEvent[],
  nowMs: number,
): AsyncGenerator<string, void, undefined> {
  const hash = new ChainedHash(EXPORT_BLOCK_LINES);
  const header = exportHeader.parse({
    format: EXPORT_FORMAT,
    ...identity,
    head: events.length,
    exportedAt: new Date(nowMs).toISOString(),
  });
  for (const value of [header, ...events.map((event, index) => ({ seq: index + 1, ...event }))]) {
    const text = `${JSON.stringify(value)}\n`;
    await hash.add(text);
    yield text;
  }
  yield `${JSON.stringify(exportFooter.parse({ events: events.length, sha256: await hash.digest() }))}\n`;
}
