/** What a client sees of a session: nothing of where it lies, and of what binds it nothing but what it waits for. */
import * as z from 'zod';
import type { SessionState } from '../../machines/session/session-state.ts';
import { COULD_NOT_GO_ON, told } from './event-view.ts';
import type { Place, Viewer } from './event-view.ts';
import type { TurnPart } from './turn-part.ts';

const text = z.string().optional();

export const sessionView = z.object({
  sessionId: z.string(),
  agentId: z.string(),
  title: text,
  owner: text,
  createdAt: text,
  updatedAt: text,
  status: z.enum(['idle', 'running', 'rescheduling', 'terminated']),
  stopReason: z.enum(['idle', 'requires_action', 'rescheduling', 'terminated']).optional(),
  summary: text.describe('What the last wake did, or why it could not.'),
  head: z.int().describe('Number of the last event.'),
  unread: z.int().describe('Messages and answers that nothing has read yet.'),
  pendingActions: z.array(
    z.object({
      requestId: z.string(),
      kind: z.enum(['custom_tool', 'permission', 'answer']),
      toolName: z.string(),
      callId: text,
      question: text,
      rules: z.array(z.string()).optional().describe('What an approval for more than once would allow.'),
      expiresAt: text,
    }),
  ),
  parked: z
    .object({ code: z.string(), reason: z.string() })
    .optional()
    .describe('Why it does not go on by itself any more.'),
  queuedWakes: z.array(z.object({ reason: z.string(), dueAt: z.string() })),
  used: z.object({ tokens: z.number(), cost: z.number() }),
});

export const receiptView = z.object({
  eventId: z.string(),
  seq: z.int(),
  acceptedAs: z.enum(['queue', 'steer', 'interrupt']),
});

export function viewOf(state: SessionState, viewer: Viewer): z.output<typeof sessionView> {
  const { sessionId, agentId, title, owner, createdAt, updatedAt, status, stopReason, head, used } = state;
  const hidden = hasFailed(state) && !viewer.seesAll ? COULD_NOT_GO_ON : undefined;
  const { summary } = told({ summary: hidden ?? state.summary }, state, viewer);
  return {
    ...{ sessionId, agentId, title, owner, createdAt, updatedAt, status, stopReason, summary, head, used },
    unread: state.pending.length,
    pendingActions: state.pendingActions.map(({ requestId, kind, toolName, callId, question, rules, expiresAt }) => ({
      ...{ requestId, kind, toolName, callId, expiresAt },
      question: question === undefined ? undefined : told(question, state, viewer),
      ...(rules === undefined ? {} : { rules: [...rules] }),
    })),
    ...(state.parked === undefined
      ? {}
      : { parked: { code: state.parked.code, reason: hidden ?? state.parked.reason } }),
    queuedWakes: state.queuedWakes.map(({ reason, dueAt }) => ({ reason, dueAt })),
  };
}

function hasFailed({ parked, lastWake }: SessionState): boolean {
  return parked !== undefined || lastWake?.outcome === 'failed';
}

/** Why the session rests where it rests since something went wrong. */
export function troubleOf(state: SessionState, { seesAll }: Viewer): string | undefined {
  if (state.status === 'terminated' || !hasFailed(state)) return undefined;
  return seesAll ? (state.parked?.reason ?? state.summary ?? COULD_NOT_GO_ON) : COULD_NOT_GO_ON;
}

export function partFor(part: TurnPart, place: Place, viewer: Viewer): TurnPart {
  if (part.type === 'retrying' && !viewer.seesAll) return { ...part, because: COULD_NOT_GO_ON };
  // What is said is told in pieces, too: they have to be those of the whole.
  return part.type === 'permission-asked' || part.type === 'call' || part.type === 'result'
    ? told(part, place, viewer)
    : part;
}
