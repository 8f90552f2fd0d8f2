/** A session as a chat of the AI SDK: what `useChat` asks for with its `DefaultChatTransport`. */
import * as z from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { sessionId as sessionIdSchema } from '../../machines/ids.ts';
import { approvalScope } from '../../machines/session/event-parts.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS } from '../../machines/session/limits.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { sendAnswers, uiPart } from './chat-answers.ts';
import type { ServedRuntime } from './handler-options.ts';
import { json, queryNumber, route, streamed } from './route.ts';
import type { Exchange, Route } from './route.ts';
import { toldError } from './refusal.ts';
import { answeredAt, isAtRest, newestReply, turnNews } from './turn.ts';
import type { TurnEnd, TurnRequest } from './turn.ts';
import { UiChunks } from './ui-chunks.ts';
import type { Answered, UiChunk } from './ui-chunks.ts';
import { partFor, troubleOf } from './session-view.ts';
import { UiMessages, replyIdOf } from './ui-messages.ts';

const HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' } as const;
const DONE = 'data: [DONE]\n\n';
const KEY_PREFIX = 'chat:';

const uiMessage = z.looseObject({
  id: z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_CHARACTERS - KEY_PREFIX.length),
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(uiPart),
});

const chatBody = z.strictObject({
  id: sessionIdSchema,
  messages: z.array(uiMessage).min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
  messageId: z.string().optional(),
  /** How far the approvals in it reach. Default `once`. */
  scope: approvalScope.optional(),
});

const STREAM = { status: 200, what: 'The answer, as chunks.', mediaType: 'text/event-stream' } as const;

const post = route({
  method: 'POST',
  path: '/chat',
  action: 'send',
  summary:
    "What `useChat` of the AI SDK sends: `id` is a session's. Sends the last message and the answers in it, and streams what the agent says to it.",
  body: chatBody,
  answers: [STREAM],
  async handle(exchange) {
    const { access, runtime, body } = exchange;
    const { id, messages, trigger, scope } = body;
    const state = await access.session(runtime.sessions, id, 'read');
    if (trigger === 'regenerate-message')
      throw refused('what was said stays said', 'Send another message, or fork the session.');
    const asked = { ...exchange, sessionId: id };
    const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []));
    const answered = await sendAnswers(asked, state, { parts, scope });
    const last = messages.at(-1);
    return last?.role === 'user' ? said(asked, state, last) : continued(asked, answered);
  },
});

/** Sends the message, and streams the answer to it as a message of its own. */
async function said(
  exchange: Exchange,
  { agentId }: SessionState,
  { id, parts }: z.output<typeof uiMessage>,
): Promise<Response> {
  const { access, runtime, sessionId } = exchange;
  await access.require('send', { sessionId, agentId });
  const text = parts.map((part) => textOf(part)).join('\n');
  if (text === '' || text.length > MAX_MESSAGE_CHARACTERS)
    throw refused(`expected a text of 1 to ${MAX_MESSAGE_CHARACTERS} characters`, 'Say something, and not too much.');
  // The client's id of the message: sent again, it is stored once.
  const { seq, eventId } = await runtime.sessions.send(
    sessionId,
    { type: 'user.message', text },
    { idempotencyKey: KEY_PREFIX + id },
  );
  return chunked(exchange, { messageId: replyIdOf(eventId), from: seq, reading: eventId });
}

/** Goes on with the message of the assistant that the client has, behind its answers. */
async function continued(exchange: Exchange, answered: Answered): Promise<Response> {
  const { runtime, sessionId } = exchange;
  const { head } = await runtime.sessions.get(sessionId);
  const seq = answered.size === 0 ? undefined : await answeredAt({ runtime, sessionId, head }, answered);
  return chunked(exchange, { from: (seq ?? head) + 1, reading: undefined, answered });
}

const resume = route({
  method: 'GET',
  path: '/chat/{sessionId}/stream',
  action: 'read',
  summary: 'The answer that is being given, from its beginning on: what `useChat` asks for with `resume`.',
  answers: [STREAM, { status: 204, what: 'The session rests.' }],
  async handle(exchange) {
    const { access, runtime, settings, sessionId } = exchange;
    const state = await access.session(runtime.sessions, sessionId, 'read');
    if (isAtRest(state, settings.clock.now())) return new Response(null, { status: 204 });
    const waiting = state.pending.findLast(({ type }) => type === 'user.message');
    if (state.openWake === undefined && waiting !== undefined) {
      const { eventId, seq } = waiting;
      return chunked(exchange, { messageId: replyIdOf(eventId), from: seq, reading: eventId });
    }
    const reply = await newestReply({ runtime, sessionId, head: state.head });
    const last = reply?.eventIds.at(-1);
    return reply === undefined || last === undefined
      ? chunked(exchange, { from: 1, reading: undefined, isReplayed: true })
      : chunked(exchange, { messageId: replyIdOf(last), from: reply.seq, reading: last, read: reply.eventIds });
  },
});

const messages = route({
  method: 'GET',
  path: '/chat/{sessionId}/messages',
  action: 'read',
  summary: 'What was said so far, as `UIMessage[]`: the `messages` that `useChat` begins with.',
  query: z.strictObject({ before: queryNumber({ min: 1 }).optional() }),
  answers: [
    {
      status: 200,
      what: 'The newest messages, oldest first: about 4 MiB. `Link` with `rel="prev"` leads to those before them.',
      schema: z.array(z.looseObject({ id: z.string() })),
    },
  ],
  async handle(exchange) {
    const { access, runtime, reads, sessionId, query } = exchange;
    const state = await access.session(runtime.sessions, sessionId, 'read');
    const give = reads.take(access.subject);
    try {
      const end = Math.min(state.head, (query.before ?? Infinity) - 1);
      const page = await newestPage(runtime, { sessionId, end });
      const all = new UiMessages((part) => partFor(part, state, access));
      for (const event of page) all.add(event);
      const response = json(all.all());
      const first = page[0]?.seq ?? 1;
      if (first > 1) response.headers.set('link', `<?before=${first}>; rel="prev"`);
      return response;
    } finally {
      give();
    }
  },
});

interface Chunked extends Pick<TurnRequest, 'from' | 'reading' | 'read'> {
  /** Of the message that the chunks make. Undefined: the one that the client has goes on. */
  readonly messageId?: string;
  readonly isReplayed?: true;
  readonly answered?: Answered;
}

function chunked(exchange: Exchange, { messageId, from, reading, read, isReplayed, answered }: Chunked): Response {
  const { runtime, access, sessionId, settings } = exchange;
  return streamed(exchange, {
    headers: HEADERS,
    async *open(signal) {
      yield chunkText({ type: 'start', ...(messageId === undefined ? {} : { messageId }) });
      const view = new UiChunks({ isContinued: reading === undefined && isReplayed === undefined, answered });
      const { clock } = settings;
      for await (const news of turnNews({ runtime, sessionId, from, reading, read, signal, clock })) {
        if ('part' in news) for (const chunk of view.of(partFor(news.part, news.in, access))) yield chunkText(chunk);
        else yield `${lastChunks(news, access).map(chunkText).join('')}${DONE}`;
      }
    },
    failed: (error) => `${chunkText({ type: 'error', errorText: toldError(error).message })}${DONE}`,
  });
}

function lastChunks({ over: rest }: TurnEnd, access: Exchange['access']): readonly UiChunk[] {
  const trouble = rest === undefined ? undefined : troubleOf(rest, access);
  if (trouble !== undefined)
    return [
      { type: 'error', errorText: trouble },
      { type: 'finish', finishReason: 'error' },
    ];
  const isAsking = (rest?.pendingActions.length ?? 0) > 0;
  return [{ type: 'finish', finishReason: isAsking ? 'tool-calls' : 'stop' }];
}

function chunkText(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** @throws RuntimeError API_REQUEST_INVALID for what is no text */
function textOf({ type, text = '' }: z.output<typeof uiPart>): string {
  if (type === 'text') return text;
  throw refused(`expected parts of the type text, received ${type.slice(0, 50)}`, 'Files are not taken here.');
}

function refused(message: string, hint: string): RuntimeError {
  return new RuntimeError('API_REQUEST_INVALID', message, { category: 'validation', hint });
}

export const chatRoutes: readonly Route[] = [post, resume, messages];

// The newest events of a log that a page of a chat is made of: as much as may be held in memory for one request.

const MAX_EVENTS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Those up to `end`. Where more come before, it begins with a message, if there is one in it. */
async function newestPage(
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
