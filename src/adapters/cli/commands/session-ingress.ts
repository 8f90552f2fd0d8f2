/** `wakechart session send | answer | confirm-tool | custom-tool-result | define-outcome | interrupt | terminate`: what somebody outside tells a session. */
import type { SendReceipt } from '../../../actors/session/ingress.ts';
import { RuntimeError } from '../../../machines/errors.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS } from '../../../machines/session/limits.ts';
import type { SessionIngress } from '../../../machines/session/session-requests.ts';
import type { PendingAction } from '../../../machines/session/session-state.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withSessions } from '../stores.ts';
import type { SessionStore } from '../stores.ts';
import { printable } from '../text.ts';
import { usageError } from '../usage.ts';
import { checkedSessionId } from './session.ts';

const DURABILITY = { disk: 'on disk', os: 'with the operating system', memory: 'in memory only' } as const;

const DELIVERY = { queue: 'is read after the turn that runs', steer: 'is read by the next step', interrupt: 'the turn that runs is cut short' } as const;

export interface SendOptions {
  readonly session: string;
  readonly message: string;
  readonly delivery: 'queue' | 'steer' | 'interrupt' | 'reject-if-busy';
  readonly idempotencyKey: string | undefined;
}

export function sendMessage(context: CommandContext, { session, message, delivery, idempotencyKey }: SendOptions): Promise<number> {
  checkLength('--message', message, MAX_MESSAGE_CHARACTERS);
  if (idempotencyKey !== undefined) checkLength('--idempotency-key', idempotencyKey, MAX_IDEMPOTENCY_KEY_CHARACTERS);
  return tell(context, session, ({ sessions }, id) => sessions.send(id, { type: 'user.message', text: message }, { delivery, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }));
}

export function defineOutcome(
  context: CommandContext,
  { session, title, detail, criterion }: { readonly session: string; readonly title: string; readonly detail: string | undefined; readonly criterion: readonly string[] },
): Promise<number> {
  const criteria = criterion.length === 0 ? {} : { criteria: [...criterion] };
  return tell(context, session, ({ sessions }, id) => sessions.send(id, { type: 'user.define_outcome', title, ...(detail === undefined ? {} : { detail }), ...criteria }));
}

export function answerQuestion(context: CommandContext, { session, request, text }: { readonly session: string; readonly request: string; readonly text: string }): Promise<number> {
  checkLength('--text', text, MAX_MESSAGE_CHARACTERS);
  return tell(context, session, ({ sessions }, id) => sessions.send(id, { type: 'user.answer', requestId: request, response: text }));
}

export interface Confirmation {
  readonly session: string;
  readonly request: string;
  readonly allow: boolean;
  readonly deny: boolean;
  readonly note: string | undefined;
}

export function confirmTool(context: CommandContext, { session, request, allow, deny, note }: Confirmation): Promise<number> {
  if (allow === deny) throw usageError('expected --allow or --deny, received neither', 'Say which.');
  return tell(context, session, async (store, id) => {
    const { toolName } = await pendingAction(store, id, request);
    const ingress: SessionIngress = { type: 'user.tool_confirmation', requestId: request, toolName, allowed: allow, ...(note === undefined ? {} : { note }) };
    return store.sessions.send(id, ingress);
  });
}

export function giveToolResult(context: CommandContext, { session, request, output }: { readonly session: string; readonly request: string; readonly output: string }): Promise<number> {
  return tell(context, session, async (store, id) => {
    const { toolName } = await pendingAction(store, id, request);
    return store.sessions.send(id, { type: 'user.custom_tool_result', requestId: request, toolName, output: jsonOrText(output) });
  });
}

export function interruptSession(context: CommandContext, session: string, reason: string | undefined): Promise<number> {
  return tell(context, session, ({ sessions }, id) => sessions.interrupt(id, reason === undefined ? {} : { reason }), { wakes: false });
}

export async function terminateSession(context: CommandContext, session: string, reason: string | undefined): Promise<number> {
  await withSessions(context, async ({ sessions }) => {
    const state = await sessions.terminate(checkedSessionId(session), reason === undefined ? {} : { reason });
    if (context.json) return context.out.document(state);
    await context.out.line(`${context.out.styles.green('Terminated')} session ${state.sessionId}: ${printable(state.summary ?? '')}`);
  });
  return EXIT_SUCCESS;
}

async function tell(
  context: CommandContext,
  session: string,
  send: (store: SessionStore, sessionId: string) => Promise<SendReceipt>,
  { wakes = true }: { readonly wakes?: boolean } = {},
): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async (store) => {
    const id = checkedSessionId(session);
    const receipt = await send(store, id);
    if (json) return out.document(receipt);
    const how = receipt.acceptedAs === 'queue' ? '' : `; ${DELIVERY[receipt.acceptedAs]}`;
    await out.line(`${out.styles.green('Stored')} as event ${receipt.seq} (${DURABILITY[receipt.durability]})${how}`);
    if (wakes) await out.line(`A worker reads it, or: ${nextCommand(context, 'wake', '--session', id)}`);
  });
  return EXIT_SUCCESS;
}

/** What waits under this id: its tool need not be typed again. @throws RuntimeError REQUEST_NOT_PENDING */
async function pendingAction({ sessions }: SessionStore, sessionId: string, requestId: string): Promise<PendingAction> {
  const { pendingActions } = await sessions.status(sessionId);
  const action = pendingActions.find((pending) => pending.requestId === requestId);
  if (action !== undefined) return action;
  const waiting = pendingActions.map((pending) => `${pending.requestId} (${pending.kind}, ${pending.toolName})`).join(', ') || 'none';
  throw new RuntimeError('REQUEST_NOT_PENDING', `session ${sessionId} has no request ${requestId} that waits for an answer`, { category: 'conflict', hint: `Waiting: ${waiting}.` });
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
  throw usageError(`expected at most ${maxCharacters} characters after ${option}, received ${text.length}`, 'Put long content into a file of the workspace and say where it is.');
}
