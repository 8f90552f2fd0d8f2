/** A session as an agent of AG-UI: a thread is a session, a run is a turn, and what a person is asked is an interrupt. */
import * as z from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { sessionId as sessionIdSchema } from '../../machines/ids.ts';
import { approvalScope } from '../../machines/session/event-parts.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS } from '../../machines/session/limits.ts';
import type { PendingAction, SessionState } from '../../machines/session/session-state.ts';
import { AgUiEvents } from './ag-ui-events.ts';
import type { AgUiEvent, AgUiMessage } from './ag-ui-events.ts';
import { sseText } from './event-stream.ts';
import { toldError } from './refusal.ts';
import { route, streamed } from './route.ts';
import type { Exchange, Route } from './route.ts';
import { told as toldBy } from './event-view.ts';
import { partFor, troubleOf } from './session-view.ts';
import { sendAnswer } from './session-routes.ts';
import type { GivenAnswer } from './session-routes.ts';
import { answeredAt, turnNews } from './turn.ts';
import type { TurnEnd } from './turn.ts';

const KEY_PREFIX = 'ag-ui:';

const nothing = (what: string): z.ZodType =>
  z.array(z.unknown()).max(0, `expected no ${what}: the agent's own file says what it has`).optional();

const content = z.union([z.string(), z.array(z.strictObject({ type: z.literal('text'), text: z.string() }))]);

const message = z.looseObject({
  id: z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_CHARACTERS - KEY_PREFIX.length),
  role: z.string(),
  content: z.unknown().optional(),
  toolCallId: z.string().optional(),
});

const runInput = z.strictObject({
  threadId: sessionIdSchema,
  runId: z.string().min(1).max(200),
  protocolVersion: z.string().optional(),
  parentRunId: z.string().optional(),
  messages: z.array(message),
  tools: nothing('tools'),
  context: nothing('context'),
  state: z.union([z.null(), z.strictObject({})]).optional(),
  forwardedProps: z.union([z.null(), z.strictObject({})]).optional(),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string(),
        status: z.enum(['resolved', 'cancelled']),
        payload: z.unknown().optional(),
      }),
    )
    .optional(),
});

type RunInput = z.output<typeof runInput>;

const run = route({
  method: 'POST',
  path: '/ag-ui',
  action: 'send',
  summary:
    'A run of AG-UI: `threadId` is a session. Sends the last message or the answers in it, and streams the turn.',
  body: runInput,
  answers: [{ status: 200, what: 'The events of the run.', mediaType: 'text/event-stream' }],
  async handle(exchange) {
    const { access, runtime, body } = exchange;
    const { threadId, resume = [], messages } = body;
    const state = await access.session(runtime.sessions, threadId, 'read');
    const asked = { ...exchange, sessionId: threadId };
    const answered = await sendAll(asked, state, { resume, messages });
    const last = messages.at(-1);
    if (resume.length === 0 && last?.role === 'user') return said(asked, state, last);
    const { head } = await runtime.sessions.get(threadId);
    const seq = answered.size === 0 ? undefined : await answeredAt({ runtime, sessionId: threadId, head }, answered);
    return ran(asked, { from: (seq ?? head) + 1, reading: undefined });
  },
});

async function said(
  exchange: Exchange<RunInput>,
  { agentId }: SessionState,
  { id, content: given }: AgUiMessage,
): Promise<Response> {
  const { access, runtime, sessionId } = exchange;
  await access.require('send', { sessionId, agentId });
  const parsed = content.safeParse(given);
  const text = !parsed.success
    ? ''
    : typeof parsed.data === 'string'
      ? parsed.data
      : parsed.data.map((part) => part.text).join('\n');
  if (text === '' || text.length > MAX_MESSAGE_CHARACTERS)
    throw new RuntimeError('API_REQUEST_INVALID', `expected a text of 1 to ${MAX_MESSAGE_CHARACTERS} characters`, {
      category: 'validation',
      hint: 'Files are not taken here.',
    });
  const { seq, eventId } = await runtime.sessions.send(
    sessionId,
    { type: 'user.message', text },
    { idempotencyKey: KEY_PREFIX + id },
  );
  return ran(exchange, { from: seq, reading: eventId });
}

/** @returns the requests that were answered, by this client or before it */
async function sendAll(
  exchange: Exchange,
  state: SessionState,
  { resume, messages }: Required<Pick<RunInput, 'messages'>> & { readonly resume: NonNullable<RunInput['resume']> },
): Promise<ReadonlySet<string>> {
  const answered = new Set(resume.map(({ interruptId }) => interruptId));
  const given = state.pendingActions.flatMap((action): readonly [PendingAction, GivenAnswer][] => {
    const entry = resume.find(({ interruptId }) => interruptId === action.requestId);
    const result = messages.find(
      ({ role, toolCallId }) => role === 'tool' && toolCallId === (action.callId ?? action.requestId),
    );
    const answer =
      entry !== undefined
        ? answerOf(action, entry)
        : result === undefined
          ? undefined
          : resultOf(action, result.content);
    return answer === undefined ? [] : [[action, answer]];
  });
  if (given.length > 0) await exchange.access.require('answer', { sessionId: state.sessionId, agentId: state.agentId });
  for (const [{ requestId, toolName }, answer] of given) {
    answered.add(requestId);
    await sendAnswer(exchange, answer, { toolName, agentId: state.agentId });
  }
  return answered;
}

const approval = z.strictObject({
  approved: z.boolean(),
  note: z.string().min(1).max(2_000).optional(),
  scope: approvalScope.optional(),
});

/** @throws RuntimeError API_REQUEST_INVALID for a payload that its schema does not allow */
function answerOf(
  { kind, requestId }: PendingAction,
  { status, payload }: NonNullable<RunInput['resume']>[number],
): GivenAnswer {
  if (kind === 'permission') {
    if (status === 'cancelled') return { kind, requestId, allowed: false };
    const parsed = approval.safeParse(payload);
    if (!parsed.success)
      throw new RuntimeError('API_REQUEST_INVALID', 'expected { approved: true | false, note?, scope? } as payload', {
        category: 'validation',
        hint: 'The interrupt has the schema of its answer.',
      });
    const { approved, ...more } = parsed.data;
    return { kind, requestId, allowed: approved, ...more };
  }
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload ?? 'the question was not answered');
  return kind === 'answer' ? { kind, requestId, response: text } : { kind, requestId, output: payload ?? null };
}

/** A permission is given by no result. */
function resultOf({ kind, requestId }: PendingAction, given: unknown): GivenAnswer | undefined {
  if (kind === 'permission') return undefined;
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? null);
  return kind === 'answer' ? { kind, requestId, response: text } : { kind, requestId, output: given ?? null };
}

function ran(
  exchange: Exchange<RunInput>,
  { from, reading }: { readonly from: number; readonly reading: string | undefined },
): Response {
  const { runtime, access, sessionId, settings, body } = exchange;
  const { threadId, runId, messages } = body;
  return streamed(exchange, {
    async *open(signal) {
      yield eventText({ type: 'RUN_STARTED', threadId, runId });
      const view = new AgUiEvents(messages);
      const { clock } = settings;
      for await (const news of turnNews({ runtime, sessionId, from, reading, signal, clock })) {
        const events =
          'part' in news
            ? view.of(partFor(news.part, news.in, access))
            : [...view.end(), lastEvent({ body, access, view }, news)];
        for (const event of events) yield eventText(event);
      }
    },
    failed: (error) => {
      const { code, message: what } = toldError(error);
      return eventText({ type: 'RUN_ERROR', message: what, code });
    },
  });
}

interface Run {
  readonly body: RunInput;
  readonly access: Exchange['access'];
  readonly view: AgUiEvents;
}

function lastEvent({ body: { threadId, runId }, access, view: { ofClient } }: Run, { over: rest }: TurnEnd): AgUiEvent {
  const trouble = rest === undefined ? undefined : troubleOf(rest, access);
  if (trouble !== undefined) return { type: 'RUN_ERROR', message: trouble };
  const finished = { type: 'RUN_FINISHED', threadId, runId };
  const told = (text: string): string => (rest === undefined ? text : toldBy(text, rest, access));
  const asked = (rest?.pendingActions ?? []).filter(({ kind }) => kind !== 'custom_tool');
  if (asked.length > 0)
    return { ...finished, outcome: { type: 'interrupt', interrupts: asked.map((each) => interruptOf(each, told)) } };
  const pendingToolCallIds = [...ofClient];
  return {
    ...finished,
    outcome: { type: 'success', ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }) },
  };
}

function interruptOf(
  { kind, requestId, callId, question, expiresAt, rules, toolName }: PendingAction,
  told: (text: string) => string,
): object {
  const schema = kind === 'permission' ? z.toJSONSchema(approval) : { type: 'string' };
  return {
    id: requestId,
    reason: kind === 'permission' ? 'tool_approval' : 'input_required',
    ...(question === undefined ? {} : { message: told(question) }),
    ...(callId === undefined ? {} : { toolCallId: callId }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    responseSchema: schema,
    metadata: { toolName, ...(rules === undefined ? {} : { rules }) },
  };
}

function eventText(event: AgUiEvent): string {
  return sseText({ data: event });
}

export const agUiRoutes: readonly Route[] = [run];
