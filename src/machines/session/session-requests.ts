/** What callers pass to the sessions service, checked before anything is written. */
import { z } from 'zod';
import { agentId, sessionId } from '../ids.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS, MAX_SUMMARY_CHARACTERS } from './limits.ts';
import { parseOrThrow } from '../validate.ts';

const newSession = z.strictObject({ agentId, title: z.string().min(1).max(200).optional() });

/** What may be sent into a session from outside. */
const ingress = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('user.message'), text: z.string().min(1, 'expected a text that is not empty').max(MAX_MESSAGE_CHARACTERS) }),
  z.strictObject({
    type: z.literal('user.custom_tool_result'),
    requestId: z.string().min(1),
    toolName: z.string().min(1),
    output: z.json(),
  }),
]);

const sendOptions = z.strictObject({ idempotencyKey: z.string().min(1).max(MAX_IDEMPOTENCY_KEY_CHARACTERS).optional() });

const filter = z.strictObject({
  agentId: agentId.optional(),
  status: z.enum(['idle', 'running', 'rescheduling', 'terminated']).optional(),
});

const eventsOptions = z.strictObject({
  from: z.number().int().nonnegative().optional(),
  follow: z.boolean().optional(),
  limit: z.number().int().nonnegative().optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

const terminateOptions = z.strictObject({ reason: z.string().min(1).max(MAX_SUMMARY_CHARACTERS).optional() });

export type NewSession = z.input<typeof newSession>;
export type SessionIngress = z.input<typeof ingress>;
export type SendOptions = z.input<typeof sendOptions>;
export type SessionFilter = z.input<typeof filter>;
export type TerminateOptions = z.input<typeof terminateOptions>;

const CODE = 'SESSION_REQUEST_INVALID';

export function checkSessionId(value: unknown): string {
  return parseOrThrow(sessionId, value, { what: 'session id', code: CODE, hint: 'Session ids are listed by sessions.list().' });
}

export function checkNewSession(value: unknown): z.output<typeof newSession> {
  return parseOrThrow(newSession, value, { what: 'new session', code: CODE });
}

export function checkIngress(value: unknown): z.output<typeof ingress> {
  return parseOrThrow(ingress, value, { what: 'message', code: CODE, hint: 'Send { type: "user.message", text } or { type: "user.custom_tool_result", requestId, toolName, output }.' });
}

export function checkSendOptions(value: unknown): z.output<typeof sendOptions> {
  return parseOrThrow(sendOptions, value, { what: 'send options', code: CODE });
}

export function checkFilter(value: unknown): z.output<typeof filter> {
  return parseOrThrow(filter, value, { what: 'session filter', code: CODE });
}

export function checkEventsOptions(value: unknown): z.output<typeof eventsOptions> {
  return parseOrThrow(eventsOptions, value, { what: 'events options', code: CODE });
}

export function checkTerminateOptions(value: unknown): z.output<typeof terminateOptions> {
  return parseOrThrow(terminateOptions, value, { what: 'terminate options', code: CODE });
}
