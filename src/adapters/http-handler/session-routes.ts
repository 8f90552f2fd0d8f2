/** Sessions over HTTP: made, listed, shown, sent into, answered, cut short and ended. */
import * as z from 'zod';
import type { SendReceipt } from '../../actors/session/ingress.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { agentId, environmentId, sessionId } from '../../machines/ids.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS } from '../../machines/session/limits.ts';
import { approvalScope } from '../../machines/session/event-parts.ts';
import type { SendOptions, SessionIngress } from '../../machines/session/session-requests.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { fullViewOf, receiptView, sessionView, viewOf } from './session-view.ts';
import { json, queryNumber, route } from './route.ts';
import type { Exchange, Route } from './route.ts';

/** Of the sessions of a store, so many are searched for those of a caller at once. */
const SEARCHED_AT_ONCE = 1_000;
const MAX_PAGE = 200;

/** What came was JSON. */
const anyJson = z.unknown().refine((value) => value !== undefined, 'expected a JSON value');

const title = z.string().min(1).max(200);
const reason = z.string().min(1).max(2_000);

const IDEMPOTENCY = {
  'Idempotency-Key': 'The same key again, in the same session, stores nothing and gives the first receipt.',
};

const RECEIPT = { status: 202, what: 'It is stored; a worker wakes the session.', schema: receiptView };
const SESSION = { status: 200, what: 'The session.', schema: sessionView };

/** By the headers of the request. */
function onceOf(request: Request): Pick<SendOptions, 'idempotencyKey'> {
  const key = request.headers.get('idempotency-key');
  if (key === null) return {};
  if (key !== '' && key.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS - KEY_PREFIX.length)
    return { idempotencyKey: KEY_PREFIX + key };
  throw new RuntimeError(
    'API_REQUEST_INVALID',
    `expected an Idempotency-Key of 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS - KEY_PREFIX.length} characters`,
    { category: 'validation', hint: 'Use a UUID, best of version 7.' },
  );
}

/** Keys of clients are apart from those of the program. */
const KEY_PREFIX = 'http:';

function receipt({ eventId, seq, acceptedAs }: SendReceipt): Response {
  return json({ eventId, seq, acceptedAs }, 202);
}

const create = route({
  method: 'POST',
  path: '/sessions',
  action: 'create',
  summary: 'Make a session of an agent. It belongs to the caller.',
  headers: {
    'Idempotency-Key':
      'The same key again within a day, of the same caller and for the same agent, answers with the session that was made; with another body it is refused. Best a UUID of version 7.',
  },
  body: z.strictObject({ agentId, title: title.optional(), environmentId: environmentId.optional() }),
  answers: [{ status: 201, what: 'The session.', schema: sessionView }],
  async handle({ runtime, access, body, request }) {
    const { agentId: agent, environmentId: environment } = body;
    await access.require('create', { agentId: agent });
    if (environment !== undefined)
      await access.require('choose-environment', { agentId: agent, environmentId: environment });
    const state = await runtime.sessions.create({ ...body, owner: access.subject }, onceOf(request));
    requireSame(state, body);
    // What has happened to it since it was made is for those who may read it.
    if (state.head > 1) await access.require('read', { sessionId: state.sessionId, agentId: agent });
    return json(viewOf(state, access), 201);
  },
});

/** A session that was made before under the same key. @throws RuntimeError API_KEY_REUSED */
function requireSame(
  state: Pick<SessionState, 'title' | 'environmentId'>,
  body: Pick<SessionState, 'title' | 'environmentId'>,
): void {
  if (state.title === body.title && state.environmentId === body.environmentId) return;
  throw new RuntimeError(
    'API_KEY_REUSED',
    'a session was made under this Idempotency-Key with another title or environment',
    { category: 'conflict', hint: 'Send the same body again, or another key for another session.' },
  );
}

const list = route({
  method: 'GET',
  path: '/sessions',
  action: 'list',
  summary: 'The sessions that the caller sees, the newest first. `next` is there as long as there may be more.',
  query: z.strictObject({
    limit: queryNumber({ min: 1, max: MAX_PAGE }).default(50),
    before: sessionId.optional(),
    agentId: agentId.optional(),
  }),
  answers: [
    {
      status: 200,
      what: 'A page, which may be short or empty where others have many sessions; go on while there is a `next`.',
      schema: z.object({ sessions: z.array(sessionView), next: sessionId.optional() }),
    },
  ],
  async handle(exchange) {
    const { runtime, access } = exchange;
    const { limit, before, agentId: agent } = exchange.query;
    await access.require('list', agent === undefined ? {} : { agentId: agent });
    const searched = await runtime.sessions.list({ newest: SEARCHED_AT_ONCE, before, agentId: agent });
    const [oldest] = searched.length === SEARCHED_AT_ONCE ? searched : [];
    const end = oldest === undefined ? undefined : placeBehind(oldest.sessionId);
    const seen = searched
      .filter((state) => access.sees(state) && (end === undefined || state.sessionId > end))
      .toReversed();
    const page = seen.slice(0, limit);
    const next = seen.length > limit ? page.at(-1)?.sessionId : end;
    const sessions = await Promise.all(page.map((state) => fullViewOf(state, exchange)));
    return json({ sessions, ...(next === undefined ? {} : { next }) });
  },
});

/**
 * Right behind all sessions of the same moment: the next page begins with them. The oldest one that was searched may be
 * another caller's, whose id is not told.
 */
function placeBehind(id: string): string {
  return `${id.slice(0, '01234567-0123-7012-'.length)}bfff-ffffffffffff`;
}

const get = route({
  method: 'GET',
  path: '/sessions/{sessionId}',
  action: 'read',
  summary: 'What a session is, where it stands, and what it waits for.',
  answers: [SESSION],
  async handle(exchange) {
    return json(await fullViewOf(await shown(exchange, 'read'), exchange));
  },
});

const send = route({
  method: 'POST',
  path: '/sessions/{sessionId}/messages',
  action: 'send',
  summary: 'Send a message.',
  headers: IDEMPOTENCY,
  body: z.strictObject({
    text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
    delivery: z.enum(['queue', 'steer', 'interrupt', 'reject-if-busy']).optional(),
  }),
  answers: [RECEIPT],
  async handle(exchange) {
    const { request, runtime, body } = exchange;
    const { agentId: agent } = await shown(exchange, 'send');
    const { text, delivery } = body;
    if (delivery === 'interrupt')
      await exchange.access.require('interrupt', { sessionId: exchange.sessionId, agentId: agent });
    const options = { ...onceOf(request), ...(delivery === undefined ? {} : { delivery }) };
    return receipt(await runtime.sessions.send(exchange.sessionId, { type: 'user.message', text }, options));
  },
});

const requestId = z.string().min(1).max(200);

/** One answer to a request that `pendingActions` shows. */
const answerBody = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('permission'),
    requestId,
    allowed: z.boolean(),
    note: z.string().min(1).max(2_000).optional(),
    scope: approvalScope.optional(),
  }),
  z.strictObject({
    kind: z.literal('answer'),
    requestId,
    response: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
  }),
  z.strictObject({ kind: z.literal('custom_tool'), requestId, output: anyJson }),
]);

export type GivenAnswer = z.output<typeof answerBody>;

/**
 * Sends the answer to a request that is pending, when the caller may answer for ever if it does. @throws RuntimeError API_FORBIDDEN,
 * REQUEST_NOT_PENDING and others of `send`
 */
export async function sendAnswer(
  { access, runtime, sessionId: id }: Pick<Exchange, 'access' | 'runtime' | 'sessionId'>,
  given: GivenAnswer,
  { toolName, agentId: agent }: { readonly toolName: string; readonly agentId: string },
  options: SendOptions = {},
): Promise<SendReceipt> {
  // Such a rule counts in the sessions of all owners.
  if (given.kind === 'permission' && given.scope === 'always')
    await access.require('answer-always', { sessionId: id, agentId: agent });
  return runtime.sessions.send(id, ingressOf(given, toolName), options);
}

function ingressOf(answer: GivenAnswer, toolName: string): SessionIngress {
  const { requestId: request } = answer;
  switch (answer.kind) {
    case 'permission': {
      const { allowed, note, scope } = answer;
      const more = { ...(note === undefined ? {} : { note }), ...(scope === undefined ? {} : { scope }) };
      return { type: 'user.tool_confirmation', requestId: request, toolName, allowed, ...more };
    }
    case 'answer':
      return { type: 'user.answer', requestId: request, response: answer.response };
    case 'custom_tool': {
      // What is no JSON is refused by the sessions themselves.
      const output = answer.output as z.output<z.ZodJSONSchema>;
      return { type: 'user.custom_tool_result', requestId: request, toolName, output };
    }
  }
}

const answer = route({
  method: 'POST',
  path: '/sessions/{sessionId}/answers',
  action: 'answer',
  summary: 'Allow or deny a tool call, answer a question, or give the result of a tool that the client runs.',
  headers: IDEMPOTENCY,
  body: answerBody,
  answers: [RECEIPT],
  async handle(exchange) {
    const state = await shown(exchange, 'answer');
    const pending = state.pendingActions.find((each) => each.requestId === exchange.body.requestId);
    // What is not pending may have been answered with the same key: the service knows.
    const toolName = pending?.toolName ?? 'unknown';
    const about = { toolName, agentId: state.agentId };
    return receipt(await sendAnswer(exchange, exchange.body, about, onceOf(exchange.request)));
  },
});

const optionalReason = z.strictObject({ reason: reason.optional() }).default({});

const interrupt = route({
  method: 'POST',
  path: '/sessions/{sessionId}/interrupt',
  action: 'interrupt',
  summary: 'Cut the turn that runs short; what was said stays.',
  body: optionalReason,
  answers: [RECEIPT],
  async handle(exchange) {
    await shown(exchange, 'interrupt');
    return receipt(await exchange.runtime.sessions.interrupt(exchange.sessionId, exchange.body));
  },
});

const terminate = route({
  method: 'POST',
  path: '/sessions/{sessionId}/terminate',
  action: 'terminate',
  summary: 'End the session for ever; its log stays.',
  body: optionalReason,
  answers: [SESSION],
  async handle(exchange) {
    await shown(exchange, 'terminate');
    const { access, runtime, sessionId: id, body } = exchange;
    return json(viewOf(await runtime.sessions.terminate(id, body), access));
  },
});

/** @throws RuntimeError SESSION_NOT_FOUND, API_FORBIDDEN */
function shown(
  { access, runtime, sessionId: id }: Exchange,
  action: Route['action'],
): ReturnType<typeof access.session> {
  return access.session(runtime.sessions, id, action);
}

export const sessionRoutes: readonly Route[] = [create, list, get, send, answer, interrupt, terminate];
