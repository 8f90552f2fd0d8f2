/** The log of a session over HTTP: as a page, or as server-sent events that go on where a client was cut off. */
import * as z from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { merged, wordsOf } from './merged.ts';
import { json, queryNumber, route, streamed } from './route.ts';
import type { Exchange, Route } from './route.ts';
import { eventFor, told } from './event-view.ts';
import { sseText } from './event-stream.ts';
import { toldError } from './refusal.ts';

const MAX_PAGE = 1_000;

/** A page ends with the event that fills it. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

const query = z.strictObject({
  from: queryNumber({ min: 0 }).optional(),
  limit: queryNumber({ min: 1, max: MAX_PAGE }).optional(),
  words: z.enum(['0', '1']).optional(),
});

const eventView = z.object({
  id: z.string(),
  seq: z.int(),
  at: z.string(),
  type: z.string(),
  v: z.int(),
  epoch: z.int().optional(),
  data: z.record(z.string(), z.unknown()),
});

const events: Route = route({
  method: 'GET',
  path: '/sessions/{sessionId}/events',
  action: 'events',
  summary: 'The log from event `from` on: a page as JSON, or with `Accept: text/event-stream` all that comes.',
  query,
  headers: {
    Accept: '`text/event-stream`: what is stored, then what comes; `words=1` adds `event: word`, which is not stored.',
    'Last-Event-ID': 'Goes on behind this event. `from` is not counted then.',
  },
  answers: [
    {
      status: 200,
      what: 'A page of at most `limit` events, and of about 4 MiB; `next` is where the next one begins.',
      schema: z.object({ events: z.array(eventView), next: z.int() }),
    },
    {
      status: 200,
      what: 'Each event with its number as `id` and its type as `event`.',
      mediaType: 'text/event-stream',
    },
  ],
  async handle(exchange) {
    const { request, runtime, access, sessionId, query: asked } = exchange;
    const state = await access.session(runtime.sessions, sessionId, 'events');
    const wantsStream = (request.headers.get('accept') ?? '').includes('text/event-stream');
    if (!wantsStream) {
      const from = Math.max(1, asked.from ?? 1);
      const page = await pageOf(exchange, { from, limit: asked.limit ?? MAX_PAGE });
      const shown = page.map((event) => eventFor(event, state, access));
      return json({ events: shown, next: (page.at(-1)?.seq ?? from - 1) + 1 });
    }
    if (asked.limit !== undefined)
      throw new RuntimeError('API_REQUEST_INVALID', 'expected no limit for a stream of events', {
        category: 'validation',
        hint: 'Leave it out, or ask for JSON.',
      });
    const from = streamStart(request, asked.from, state.head);
    return streamed(exchange, {
      async *open(signal) {
        const words = asked.words === '1' ? [wordsOf(runtime.words(sessionId, { signal }))] : [];
        const log = runtime.sessions.events(sessionId, { from, follow: true, signal });
        for await (const { kind, value } of merged(log, ...words))
          yield kind === 'event'
            ? sseText({ id: value.seq, event: value.type, data: eventFor(value, state, access) })
            : sseText({ event: 'word', data: told(value, state, access) });
      },
      failed: (error) => sseText({ event: 'error', data: toldError(error) }),
    });
  },
});

async function pageOf(
  { runtime, access, reads, sessionId }: Exchange,
  range: { readonly from: number; readonly limit: number },
): Promise<readonly SessionEvent[]> {
  const give = reads.take(access.subject);
  try {
    const page: SessionEvent[] = [];
    let bytes = 0;
    for await (const event of runtime.sessions.events(sessionId, range)) {
      page.push(event);
      bytes += Buffer.byteLength(JSON.stringify(event));
      if (bytes >= MAX_PAGE_BYTES) break;
    }
    return page;
  } finally {
    give();
  }
}

/** A client that reconnects says what it has seen last. @throws RuntimeError API_REQUEST_INVALID */
function streamStart(request: Request, from: number | undefined, head: number): number {
  const last = request.headers.get('last-event-id');
  if (last === null || last === '') return Math.max(1, from ?? 1);
  const seen = /^\d{1,15}$/.test(last) ? Number(last) : undefined;
  if (seen !== undefined && seen <= head) return seen + 1;
  throw new RuntimeError(
    'API_REQUEST_INVALID',
    `expected a Last-Event-ID from 0 to ${head}, the number of an event of this session`,
    { category: 'validation', hint: 'Leave it out to begin at `from`.' },
  );
}

export const eventRoutes: readonly Route[] = [events];
