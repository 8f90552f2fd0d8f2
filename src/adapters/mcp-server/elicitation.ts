/** Asks the person in front of the client what a session asks, in a form of the protocol, and stores the answer. */
import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { InspectionAnswer } from '../../actors/inspection/inspection-source.ts';
import { storeAnswer } from '../../actors/inspection/session-answer.ts';
import { askedText } from '../../actors/protocol/asked-text.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Sessions } from '../../actors/session/sessions.ts';

/** Shows a form and resolves with what the person did. */
export type Elicit = (form: ElicitRequestFormParams, signal: AbortSignal) => Promise<ElicitResult>;

const ALLOW_ONCE = 'allow once';
const ALLOW_SESSION = 'allow in this session';
const ALLOW_ALWAYS = 'always allow';
const DENY = 'deny';

type Decided = { readonly type: 'allow'; readonly scope: 'once' | 'session' | 'always' } | { readonly type: 'deny' };

const DECISIONS: Readonly<Record<string, Decided>> = {
  [ALLOW_ONCE]: { type: 'allow', scope: 'once' },
  [ALLOW_SESSION]: { type: 'allow', scope: 'session' },
  [ALLOW_ALWAYS]: { type: 'allow', scope: 'always' },
  [DENY]: { type: 'deny' },
};

/**
 * @returns whether it has an answer now. A form that was closed leaves it unanswered; one that was declined denies a
 * permission.
 */
export async function elicitAnswer(
  sessions: Sessions,
  asked: AskedRequest,
  { elicit, signal }: { readonly elicit: Elicit; readonly signal: AbortSignal },
): Promise<boolean> {
  const answer = answerOf(asked, await elicit(formOf(asked), signal));
  if (answer === undefined) return false;
  await storeAnswer(sessions, asked.sessionId, answer);
  return true;
}

/** Whether a form can hold it: the result of a custom tool is the client's own work, not a person's. */
export function isForPerson({ kind }: AskedRequest): boolean {
  return kind !== 'custom_tool';
}

function formOf(asked: AskedRequest): ElicitRequestFormParams {
  const message = askedText(asked);
  if (asked.kind === 'permission') {
    const wider = (asked.data.rules ?? []).length > 0 ? [ALLOW_SESSION, ALLOW_ALWAYS] : [];
    const reach =
      wider.length === 0 ? '' : `\nTo allow it for longer would allow: ${(asked.data.rules ?? []).join(', ')}`;
    return {
      message: `${message}${reach}`,
      requestedSchema: {
        type: 'object',
        properties: { decision: { type: 'string', title: 'Decision', enum: [ALLOW_ONCE, ...wider, DENY] } },
        required: ['decision'],
      },
    };
  }
  const choices = asked.kind === 'answer' ? (asked.data.choices ?? []) : [];
  // One may answer in other words than the choices.
  const description = choices.length === 0 ? {} : { description: `Such as: ${choices.join('; ')}` };
  return {
    message,
    requestedSchema: {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer', minLength: 1, ...description } },
      required: ['answer'],
    },
  };
}

function answerOf({ kind, requestId }: AskedRequest, { action, content }: ElicitResult): InspectionAnswer | undefined {
  if (kind === 'permission' && action === 'decline') return { type: 'deny', requestId };
  if (action !== 'accept') return undefined;
  if (kind !== 'permission') {
    const text = content?.['answer'];
    return typeof text === 'string' && text !== '' ? { type: 'answer', requestId, text } : undefined;
  }
  const decision = content?.['decision'];
  const decided = typeof decision === 'string' && Object.hasOwn(DECISIONS, decision) ? DECISIONS[decision] : undefined;
  return decided === undefined ? undefined : { ...decided, requestId };
}
