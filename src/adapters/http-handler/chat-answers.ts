/** What a chat client has answered: approvals of calls, and the results of calls that it runs itself. */
import * as z from 'zod';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { approvalScope } from '../../machines/session/event-parts.ts';
import type { PendingAction, SessionState } from '../../machines/session/session-state.ts';
import type { Exchange } from './route.ts';
import { sendAnswer } from './session-routes.ts';
import type { GivenAnswer } from './session-routes.ts';

type Scope = z.output<typeof approvalScope>;

/** A part of a message, as far as it is read. */
export const uiPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  toolCallId: z.string().optional(),
  state: z.string().optional(),
  approval: z
    .looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() })
    .optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
});

type UiPart = z.output<typeof uiPart>;

const MAX_NOTE_CHARACTERS = 2_000;

/**
 * Sends what is given and still pending. @returns the requests that the client holds for answered, by it or by another
 * client, with what it holds for allowed
 */
export async function sendAnswers(
  exchange: Exchange,
  state: SessionState,
  { parts, scope }: { readonly parts: readonly UiPart[]; readonly scope: Scope | undefined },
): Promise<ReadonlyMap<string, boolean | undefined>> {
  const answered = new Map<string, boolean | undefined>();
  for (const part of parts) {
    const approval = part.state === 'approval-responded' ? part.approval : undefined;
    if (approval !== undefined) answered.set(approval.id, approval.approved);
    const action = state.pendingActions.find((each) => isAnsweredBy(each, part));
    if (action === undefined) continue;
    answered.set(action.requestId, approval?.approved);
    await exchange.access.require('answer', { sessionId: state.sessionId, agentId: state.agentId });
    await sendOnce(exchange, answerOf(action, part, scope), { toolName: action.toolName, agentId: state.agentId });
  }
  return answered;
}

function isAnsweredBy({ kind, requestId, callId }: PendingAction, part: UiPart): boolean {
  if (kind === 'permission') return part.state === 'approval-responded' && part.approval?.id === requestId;
  const isDone = part.state === 'output-available' || part.state === 'output-error';
  return isDone && part.toolCallId === (callId ?? requestId);
}

function answerOf({ kind, requestId }: PendingAction, part: UiPart, scope: Scope | undefined): GivenAnswer {
  if (kind === 'permission') {
    const { approved = false, reason = '' } = part.approval ?? {};
    const note = beginningOf(reason, MAX_NOTE_CHARACTERS);
    return {
      kind,
      requestId,
      allowed: approved,
      ...(note === '' ? {} : { note }),
      ...(scope === undefined || !approved ? {} : { scope }),
    };
  }
  const output = part.state === 'output-error' ? { error: part.errorText ?? 'it failed' } : (part.output ?? null);
  if (kind === 'custom_tool') return { kind, requestId, output };
  return { kind, requestId, response: typeof output === 'string' ? output : JSON.stringify(output) };
}

/** Of two clients that answer at the same time the first counts; the other one sees in the stream what it has said. */
async function sendOnce(
  exchange: Exchange,
  answer: GivenAnswer,
  about: { readonly toolName: string; readonly agentId: string },
): Promise<void> {
  try {
    await sendAnswer(exchange, answer, about);
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'REQUEST_NOT_PENDING') throw error;
  }
}
