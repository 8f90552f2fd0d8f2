/**
 * Stores what a person decided about a request that waits: once, from whichever client and however often it comes, also
 * across restarts.
 */
import { canonicalJson } from '../../machines/canonical-json.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionIngress } from '../../machines/session/session-requests.ts';
import type { PendingAction } from '../../machines/session/session-state.ts';
import type { SendReceipt } from '../session/ingress.ts';
import type { Sessions } from '../session/sessions.ts';
import { sha256Hex } from '../sha256.ts';
import type { InspectionAnswer } from './inspection-source.ts';

type ToolOutput = Extract<SessionIngress, { readonly type: 'user.custom_tool_result' }>['output'];

/**
 * A request that waits no more has no tool that could be looked up: only an answer that was stored before is found for
 * it.
 */
const NO_TOOL = '(none)';

/**
 * @param eventId of its event, where that and not what was decided says that it came before
 * @throws RuntimeError SESSION_NOT_FOUND; REQUEST_NOT_PENDING and others of category `conflict` for a request that was
 * answered otherwise, has expired or never was
 */
export async function storeAnswer(
  sessions: Pick<Sessions, 'status' | 'send'>,
  sessionId: string,
  answer: InspectionAnswer,
  eventId?: string,
): Promise<SendReceipt> {
  const { pendingActions } = await sessions.status(sessionId);
  const action = pendingActions.find(({ requestId }) => requestId === answer.requestId);
  const once = eventId === undefined ? { idempotencyKey: await keyOf(answer) } : { eventId };
  const send = (ingress: SessionIngress): Promise<SendReceipt> => sessions.send(sessionId, ingress, once);
  try {
    return await send(ingressOf(answer, action));
  } catch (error) {
    // It was stored before as the other of the two things that an answer can be.
    if (action !== undefined || answer.type !== 'answer' || !RuntimeError.is(error) || error.code !== 'EVENT_ID_TAKEN')
      throw error;
    return send(toolResult(answer, NO_TOOL));
  }
}

function ingressOf(answer: InspectionAnswer, action: PendingAction | undefined): SessionIngress {
  const { requestId } = answer;
  const toolName = action?.toolName ?? NO_TOOL;
  if (answer.type === 'answer')
    return action?.kind === 'custom_tool'
      ? toolResult(answer, toolName)
      : { type: 'user.answer', requestId, response: answer.text };
  const note = answer.note === undefined ? {} : { note: answer.note };
  if (answer.type === 'deny') return { type: 'user.tool_confirmation', requestId, toolName, allowed: false, ...note };
  return {
    type: 'user.tool_confirmation',
    requestId,
    toolName,
    allowed: true,
    ...note,
    ...(answer.scope === undefined ? {} : { scope: answer.scope }),
  };
}

function toolResult(
  { requestId, text }: InspectionAnswer & { readonly type: 'answer' },
  toolName: string,
): SessionIngress {
  return { type: 'user.custom_tool_result', requestId, toolName, output: jsonOrText(text) };
}

/** As the command line takes it: JSON where it is JSON. */
function jsonOrText(text: string): ToolOutput {
  try {
    return JSON.parse(text) as ToolOutput;
  } catch {
    return text;
  }
}

/** Of all that was decided: another decision about the same request has another key, and finds the request answered. */
async function keyOf(answer: InspectionAnswer): Promise<string> {
  // To allow it once is the default.
  const decided = answer.type === 'allow' ? { ...answer, scope: answer.scope ?? 'once' } : answer;
  return `inspector:${await sha256Hex(canonicalJson(decided))}`;
}
