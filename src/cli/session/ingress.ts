/**
 * `wakechart session send | answer | confirm-tool | custom-tool-result | define-outcome | interrupt | terminate`: what
 * a person or client tells a session.
 */
import type { SendReceipt } from '../../actors/session/ingress.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_ATTACHMENTS } from '../../machines/session/event-parts.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS } from '../../machines/session/limits.ts';
import type { MessageReader } from '../../machines/session/message-reader.ts';
import type { SessionIngress } from '../../machines/session/session-requests.ts';
import type { PendingAction, SessionState } from '../../machines/session/session-state.ts';
import { ownRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { askedLines, askedRecords } from './asked-text.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { exactLine } from '../../machines/exact-text.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { absolutePath } from '../home.ts';
import { withSessions } from '../open/stores.ts';
import type { SessionStore } from '../open/stores.ts';
import { printable } from '../terminal/text.ts';
import { readTextInput } from '../terminal/text-file.ts';
import { usageError } from '../usage.ts';
import { checkedSessionId } from './session.ts';

const DURABILITY = { disk: 'on disk', os: 'with the operating system', memory: 'in memory only' } as const;

const READ_BY = {
  running_turn: 'it is given to the turn that runs; if that ends first, the next step reads it',
  next_step: 'it is read by the next step',
  next_turn: 'it is read after the turn that runs',
  next_wake: 'it is read by the next wake',
} as const satisfies Record<MessageReader, string>;

export interface SendOptions {
  readonly session: string;
  readonly message: string;
  readonly delivery: 'queue' | 'steer' | 'interrupt' | 'reject-if-busy';
  readonly idempotencyKey: string | undefined;
  /** Paths of files that go with it. */
  readonly attach: readonly string[];
}

export function sendMessage(
  context: CommandContext,
  { session, message, delivery, idempotencyKey, attach }: SendOptions,
): Promise<number> {
  checkLength('--message', message, MAX_MESSAGE_CHARACTERS);
  if (idempotencyKey !== undefined) checkLength('--idempotency-key', idempotencyKey, MAX_IDEMPOTENCY_KEY_CHARACTERS);
  if (attach.length > MAX_ATTACHMENTS)
    throw usageError(
      `expected at most ${MAX_ATTACHMENTS} files with one message, received ${attach.length}`,
      'Send several messages, or one archive.',
    );
  const attachments = attach.map((path) => ({ path: absolutePath(path) }));
  return tell(
    context,
    session,
    ({ sessions }, id) =>
      sessions.send(
        id,
        { type: 'user.message', text: message, ...(attachments.length === 0 ? {} : { attachments }) },
        { delivery, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) },
      ),
    { delivery },
  );
}

export function defineOutcome(
  context: CommandContext,
  {
    session,
    title,
    detail,
    check,
    criterion,
  }: {
    readonly session: string;
    readonly title: string;
    readonly detail: string | undefined;
    readonly check: string | undefined;
    readonly criterion: readonly string[];
  },
): Promise<number> {
  const criteria = criterion.length === 0 ? {} : { criteria: [...criterion] };
  return tell(context, session, ({ sessions }, id) =>
    sessions.send(id, {
      type: 'user.define_outcome',
      title,
      ...(detail === undefined ? {} : { detail }),
      ...(check === undefined ? {} : { check: { command: check } }),
      ...criteria,
    }),
  );
}

export function answerQuestion(
  context: CommandContext,
  { session, request, text }: { readonly session: string; readonly request: string; readonly text: string },
): Promise<number> {
  checkLength('--text', text, MAX_MESSAGE_CHARACTERS);
  return tell(context, session, ({ sessions }, id) =>
    sessions.send(id, { type: 'user.answer', requestId: request, response: text }),
  );
}

export interface Confirmation {
  readonly session: string;
  readonly request: string;
  readonly allow: boolean;
  readonly deny: boolean;
  readonly note: string | undefined;
  /** How far an approval reaches. */
  readonly scope: ApprovalScope | undefined;
}

export type ApprovalScope = 'once' | 'session' | 'always';

export async function confirmTool(
  context: CommandContext,
  { session, request, allow, deny, note, scope }: Confirmation,
): Promise<number> {
  if (allow === deny) throw usageError('expected --allow or --deny, received neither', 'Say which.');
  if (deny && scope !== undefined)
    throw usageError(
      'expected no --scope with --deny',
      'A denial is for this call; to deny more, write a rule into the agent file or the policy.',
    );
  const reach = allow ? (scope ?? 'once') : undefined;
  let asked: AskedRequest | undefined;
  return tell(
    context,
    session,
    async ({ sessions }, id) => {
      const state = await sessions.status(id);
      const { toolName } = pendingAction(state, request);
      // Read before it is answered, so that a log that cannot be read gets no answer.
      asked = (await ownRequests(sessions, state)).find(({ requestId }) => requestId === request);
      const ingress: SessionIngress = {
        type: 'user.tool_confirmation',
        requestId: request,
        toolName,
        allowed: allow,
        ...(note === undefined ? {} : { note }),
        ...(scope === undefined ? {} : { scope }),
      };
      return sessions.send(id, ingress);
    },
    { more: () => ({ lines: confirmedLines(context, asked, reach), fields: confirmedFields(asked, reach) }) },
  );
}

const REACH = {
  once: 'Allowed this once',
  session: 'Allowed in this session from now on',
  always: 'Allowed in every session of this agent from now on',
} as const satisfies Record<ApprovalScope, string>;

/** What exactly has been answered. */
function confirmedLines(
  { out }: CommandContext,
  asked: AskedRequest | undefined,
  reach: ApprovalScope | undefined,
): string[] {
  if (asked?.kind !== 'permission') return askedLines(undefined, { out, indent: ANSWERED_INDENT });
  const { toolName, rules = [] } = asked.data;
  const lasting =
    reach === undefined || reach === 'once' ? [] : rules.map((rule) => `${REACH[reach]}: ${exactLine(rule)}`);
  return [
    `${reach === undefined ? 'Denied' : REACH.once}: ${exactLine(toolName)}`,
    ...askedLines(asked, { out, indent: ANSWERED_INDENT, tells: 'call' }),
    ...lasting,
  ];
}

const ANSWERED_INDENT = '  ';

function confirmedFields(asked: AskedRequest | undefined, reach: ApprovalScope | undefined): object {
  if (asked?.kind !== 'permission') return {};
  const { rules = [] } = asked.data;
  return {
    asked: askedRecords([asked])[0],
    ...(reach === undefined || reach === 'once' || rules.length === 0 ? {} : { scope: reach, rules }),
  };
}

/** Bytes of a result that is piped in. */
const MAX_RESULT_BYTES = 4 * 1024 * 1024;

export async function giveToolResult(
  context: CommandContext,
  { session, request, output }: { readonly session: string; readonly request: string; readonly output: string },
): Promise<number> {
  const result = output === '-' ? await readTextInput({ what: 'result', maxBytes: MAX_RESULT_BYTES }) : output;
  return tell(context, session, async (store, id) => {
    const { toolName } = pendingAction(await store.sessions.status(id), request);
    return store.sessions.send(id, {
      type: 'user.custom_tool_result',
      requestId: request,
      toolName,
      output: jsonOrText(result),
    });
  });
}

export function interruptSession(
  context: CommandContext,
  session: string,
  reason: string | undefined,
): Promise<number> {
  return tell(context, session, ({ sessions }, id) => sessions.interrupt(id, reason === undefined ? {} : { reason }), {
    wakes: false,
  });
}

export async function terminateSession(
  context: CommandContext,
  session: string,
  reason: string | undefined,
): Promise<number> {
  await withSessions(context, async ({ sessions }) => {
    const state = await sessions.terminate(checkedSessionId(session), reason === undefined ? {} : { reason });
    if (context.json) return context.out.document(state);
    await context.out.line(
      `${context.out.styles.green('Terminated')} session ${state.sessionId}: ${printable(state.summary ?? '')}`,
    );
  });
  return EXIT_SUCCESS;
}

interface Telling {
  /** Whether it has to be woken for what was sent. Default true. */
  readonly wakes?: boolean;
  /** How a message was to be delivered. */
  readonly delivery?: SendOptions['delivery'];
  /** What else there is to say, once it is stored. */
  readonly more?: () => { readonly lines: readonly string[]; readonly fields: object };
}

async function tell(
  context: CommandContext,
  session: string,
  send: (store: SessionStore, sessionId: string) => Promise<SendReceipt>,
  { wakes = true, delivery, more }: Telling = {},
): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async (store) => {
    const id = checkedSessionId(session);
    const receipt = await send(store, id);
    const { lines, fields } = more?.() ?? { lines: [], fields: {} };
    if (json) return out.document({ ...receipt, ...fields });
    await out.line(
      `${out.styles.green('Stored')} as event ${receipt.seq} (${DURABILITY[receipt.durability]})${readingText(receipt, delivery)}`,
    );
    for (const line of lines) await out.line(line);
    if (wakes) await out.line(whatFollows(context, await store.sessions.status(id)));
  });
  return EXIT_SUCCESS;
}

/** Who reads it, where that is not simply the next wake. */
function readingText({ acceptedAs, readBy }: SendReceipt, delivery: SendOptions['delivery'] | undefined): string {
  if (acceptedAs === 'interrupt') return '; the turn that runs is cut short';
  if (readBy === undefined || (readBy === 'next_wake' && delivery !== 'steer')) return '';
  const isQueued = delivery === 'steer' && acceptedAs === 'queue';
  return `; ${isQueued ? `the turn that runs takes no messages, so ${READ_BY[readBy]}` : READ_BY[readBy]}`;
}

/** Who goes on now. What still waits for a person is not to be forgotten. */
function whatFollows(context: CommandContext, { sessionId, parent, pendingActions, openWake }: SessionState): string {
  // A wake of the parent wakes the children that its calls wait for.
  const woken = parent?.callId === undefined ? sessionId : parent.sessionId;
  const who =
    openWake !== undefined && openWake.interruption === undefined
      ? 'The wake that runs goes on with it, or if that has died'
      : 'A worker goes on with it, or';
  const next = `${who}: ${nextCommand(context, 'wake', '--session', woken)}`;
  if (pendingActions.length === 0) return next;
  return `It still waits for ${pendingActions.length} more ${pendingActions.length === 1 ? 'answer' : 'answers'}; see: ${nextCommand(context, 'session', 'why', '--session', sessionId)}\n${next}`;
}

/** What waits under this id: its tool need not be typed again. @throws RuntimeError REQUEST_NOT_PENDING */
function pendingAction({ sessionId, pendingActions }: SessionState, requestId: string): PendingAction {
  const action = pendingActions.find((pending) => pending.requestId === requestId);
  if (action !== undefined) return action;
  const waiting =
    pendingActions.map((pending) => `${pending.requestId} (${pending.kind}, ${pending.toolName})`).join(', ') || 'none';
  throw new RuntimeError(
    'REQUEST_NOT_PENDING',
    `session ${sessionId} has no request ${requestId} that waits for an answer`,
    { category: 'conflict', hint: `Waiting: ${waiting}.` },
  );
}

/** Any JSON; a plain word need not be quoted twice. */
function jsonOrText(text: string): string | number | boolean | null | Record<string, never> {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}

function checkLength(option: string, text: string, maxCharacters: number): void {
  if (text.length <= maxCharacters) return;
  throw usageError(
    `expected at most ${maxCharacters} characters after ${option}, received ${text.length}`,
    'Put long content into a file of the workspace and say where it is.',
  );
}
