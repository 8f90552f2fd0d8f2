/** The newest events of a log that a page of a chat is made of: as much as may be held in memory for one request. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { ServedRuntime } from './handler-options.ts';

const MAX_EVENTS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Those up to `end`. Where more come before, it begins with a message, if there is one in it. */
export async function newestPage(
  { sessions }: ServedRuntime,
  { sessionId, end }: { readonly sessionId: string; readonly end: number },
): Promise<readonly SessionEvent[]> {
  const from = Math.max(1, end - MAX_EVENTS + 1);
  const limit = end - from + 1;
  if (limit < 1) return [];
  const kept: { readonly event: SessionEvent; readonly bytes: number }[] = [];
  let bytes = 0;
  for await (const event of sessions.events(sessionId, { from, limit })) {
    const entry = { event, bytes: Buffer.byteLength(JSON.stringify(event)) };
    kept.push(entry);
    bytes += entry.bytes;
    while (bytes > MAX_BYTES && kept.length > 1) bytes -= kept.shift()?.bytes ?? 0;
  }
  const page = kept.map(({ event }) => event);
  if ((page[0]?.seq ?? 1) === 1) return page;
  return page.slice(
    Math.max(
      0,
      page.findIndex(({ type }) => type === 'user.message'),
    ),
  );
}
