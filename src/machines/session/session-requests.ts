/** What callers pass to the sessions service, checked before anything is written. */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { agentId, environmentId, eventId, sessionId } from '../ids.ts';
import { hostPath } from '../text-schemas.ts';
import { MAX_ATTACHMENT_NAME_CHARACTERS } from './attachment-name.ts';
import { MAX_ATTACHMENTS, approvalScope, deliveryMode } from './event-parts.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS, MAX_SUMMARY_CHARACTERS } from './limits.ts';
import { isRecord, parseOrThrow } from '../validate.ts';

const title = z.string().min(1).max(200);

/** Whose a session is: a subject of the program's own, such as the id of a user or of a tenant. */
const owner = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'expected printable text on one line');

const newSession = z.strictObject({
  agentId,
  title: title.optional(),
  /** Whose it is; it never changes. A child has the owner of its parent. Default: none's. */
  owner: owner.optional(),
  /** The environment in which it works. Default: that of its agent. */
  environmentId: environmentId.optional(),
  /** The session that this one works for; it hears when this one comes to rest. */
  parentSessionId: sessionId.optional(),
});

/** What only the program itself says of a new session, so that no request from outside can hold it. */
const newSessionOptions = z.strictObject({
  /** The folder in which it works, absolute. Default: one of its own. */
  workspace: hostPath.startsWith('/', 'expected an absolute path').optional(),
  /**
   * The same key again within a day, for the same agent and owner, gives the session that was made. Lists sort it by the
   * hour (UTC) in which it was made. Two that are made in the same moment by two processes, one on either side of a full
   * hour, are two, unless the key is a UUIDv7 or ends with one: lists sort it by the time in that, and it is one.
   */
  idempotencyKey: z.string().min(1).max(MAX_IDEMPOTENCY_KEY_CHARACTERS).optional(),
});

const requestId = z.string().min(1).max(200);
const note = z.string().min(1).max(2_000);

/** A file to send with a message. */
const attachmentSource = z.strictObject({
  /** Absolute, or from the folder that the process is in. */
  path: hostPath,
  /** What it is called for its readers. Default: the last part of the path. */
  name: z
    .string()
    .min(1)
    .max(MAX_ATTACHMENT_NAME_CHARACTERS)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'expected printable text on one line')
    .optional(),
  /** What it holds, unless it is an image, which is seen. Default: told from how it begins, then from its name. */
  mediaType: z
    .string()
    .max(100)
    .regex(/^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/, 'expected a media type such as text/csv')
    .optional(),
});

/** What may be sent into a session from outside. */
const ingress = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('user.message'),
    text: z.string().min(1, 'expected a text that is not empty').max(MAX_MESSAGE_CHARACTERS),
    /** Files that are copied into the session's workspace before the message is stored. */
    attachments: z.array(attachmentSource).max(MAX_ATTACHMENTS).optional(),
  }),
  z.strictObject({
    type: z.literal('user.custom_tool_result'),
    requestId,
    toolName: z.string().min(1),
    output: z.json(),
  }),
  z.strictObject({
    type: z.literal('user.tool_confirmation'),
    requestId,
    toolName: z.string().min(1),
    allowed: z.boolean(),
    note: note.optional(),
    /** Default `once`. */
    scope: approvalScope.optional(),
  }),
  z.strictObject({
    type: z.literal('user.answer'),
    requestId,
    response: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
  }),
  z.strictObject({
    type: z.literal('user.define_outcome'),
    title,
    detail: note.optional(),
    criteria: z.array(z.string().min(1).max(500)).max(20).optional(),
    /** A command that is run in the session's environment; exit code 0 speaks for the outcome, any other against it. */
    check: z
      .strictObject({
        command: z.string().min(1).max(2_000),
        timeoutSeconds: z.number().int().min(1).max(3_600).optional(),
      })
      .optional(),
  }),
]);

/** Idempotency keys that begin like this are the runtime's own. */
export const OWN_KEYS = 'wakechart:';

const sendOptions = z.strictObject({
  idempotencyKey: z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_CHARACTERS)
    .refine(
      (key) => !key.startsWith(OWN_KEYS),
      `expected a key that does not begin with "${OWN_KEYS}", which is the runtime's own`,
    )
    .optional(),
  /** Only for messages. `reject-if-busy` refuses while a wake runs or others wait to be read. Default `queue`. */
  delivery: z.enum([...deliveryMode.options, 'reject-if-busy']).optional(),
  /**
   * The event's id, for a sender that has to know it before. The same id again gives the same receipt. Default: a new
   * one.
   */
  eventId: eventId.optional(),
});

const interruptOptions = z.strictObject({ reason: z.string().min(1).max(MAX_SUMMARY_CHARACTERS).optional() });

const importOptions = z.strictObject({ isTrusted: z.boolean().optional() });
const forkOptions = z.strictObject({
  /** The last event that the fork has in common. Default: the newest. */
  atSeq: z.number().int().positive().optional(),
  title: title.optional(),
});

const filter = z.strictObject({
  agentId: agentId.optional(),
  status: z.enum(['idle', 'running', 'rescheduling', 'terminated']).optional(),
  /** Only those that were made last, so many: the others are not read. */
  newest: z.int().positive().optional(),
  /** Only those that were made before this session: with `newest`, the page before. */
  before: sessionId.optional(),
  /** Only those of this owner. */
  owner: owner.optional(),
});

const eventsOptions = z.strictObject({
  from: z.number().int().nonnegative().optional(),
  follow: z.boolean().optional(),
  limit: z.number().int().nonnegative().optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

const terminateOptions = z.strictObject({ reason: z.string().min(1).max(MAX_SUMMARY_CHARACTERS).optional() });

export type AttachmentSource = Readonly<z.output<typeof attachmentSource>>;
export type NewSession = z.input<typeof newSession>;
export type NewSessionOptions = z.input<typeof newSessionOptions>;
export type SessionIngress = z.input<typeof ingress>;
export type SendOptions = z.input<typeof sendOptions>;
export type CheckedIngress = Readonly<z.output<typeof ingress>>;
export type CheckedSendOptions = Readonly<z.output<typeof sendOptions>>;
export type SessionFilter = z.input<typeof filter>;
export type TerminateOptions = z.input<typeof terminateOptions>;
export type InterruptOptions = z.input<typeof interruptOptions>;
export type ForkOptions = z.input<typeof forkOptions>;

const CODE = 'SESSION_REQUEST_INVALID';

export function checkSessionId(value: unknown): string {
  return parseOrThrow(sessionId, value, {
    what: 'session id',
    code: CODE,
    hint: 'Session ids are listed by sessions.list().',
  });
}

export function checkNewSession(value: unknown): z.output<typeof newSession> {
  return parseOrThrow(newSession, value, { what: 'new session', code: CODE });
}

/** @throws RuntimeError for a child too: it works where its parent lets it, which makes it once */
export function checkNewSessionOptions(
  value: unknown,
  parentSessionId: string | undefined,
): z.output<typeof newSessionOptions> {
  const options = parseOrThrow(newSessionOptions, value, { what: 'options of a new session', code: CODE });
  const refused = Object.entries(options).find(([, given]) => given !== undefined)?.[0];
  if (refused === undefined || parentSessionId === undefined) return options;
  throw new RuntimeError(CODE, `options of a new session are not valid: expected no ${refused} for a child`, {
    category: 'validation',
    hint: 'Give a worktree or a folder to a subagent instead: subagents.spawn({ cwd }).',
  });
}

export function checkIngress(value: unknown): z.output<typeof ingress> {
  return parseOrThrow(ingress, value, {
    what: 'message',
    code: CODE,
    hint:
      sendOptionIn(value) ??
      'Send { type: "user.message", text }, or an answer to a request that the session\'s status shows.',
  });
}

/** An option of the sending that stands within the message. */
function sendOptionIn(message: unknown): string | undefined {
  const option = isRecord(message) ? Object.keys(message).find((key) => key in sendOptions.shape) : undefined;
  return option === undefined
    ? undefined
    : `"${option}" is an option, the third argument: send(id, message, { ${option} }).`;
}

export function checkSendOptions(value: unknown, type: CheckedIngress['type']): CheckedSendOptions {
  const options = parseOrThrow(sendOptions, value, { what: 'send options', code: CODE });
  if (options.delivery === undefined || type === 'user.message') return options;
  throw new RuntimeError(
    CODE,
    `send options are not valid: expected no delivery for ${type}, received ${options.delivery}`,
    { category: 'validation', hint: 'Only messages have a delivery.' },
  );
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

export function checkInterruptOptions(value: unknown): z.output<typeof interruptOptions> {
  return parseOrThrow(interruptOptions, value, { what: 'interrupt options', code: CODE });
}

export function checkImportOptions(value: unknown): z.output<typeof importOptions> {
  return parseOrThrow(importOptions, value, { what: 'import options', code: CODE });
}

export function checkForkOptions(value: unknown): z.output<typeof forkOptions> {
  return parseOrThrow(forkOptions, value, { what: 'fork options', code: CODE });
}
