/** What a client sees of a session: nothing of where it lies, and of what binds it nothing but what it waits for. */
import * as z from 'zod';
import type { SessionState } from '../../machines/session/session-state.ts';
import { COULD_NOT_GO_ON, told } from './event-view.ts';
import type { Place, Viewer } from './event-view.ts';
import { PARKED } from './told-fields.ts';
import type { Exchange } from './route.ts';
import type { TurnPart } from './turn-part.ts';
import { waiting, waitingOf } from './waiting.ts';

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
  failed: z
    .object({ code: z.string(), reason: z.string(), retryAt: text })
    .optional()
    .describe('Why the last wake failed; `retryAt`: when it is tried again by itself, unless the session is parked.'),
  waiting: waiting.optional().describe('It is due, and no worker has taken it for five seconds.'),
  queuedWakes: z.array(z.object({ reason: z.string(), dueAt: z.string() })),
  used: z.object({ tokens: z.number(), cost: z.number() }),
});

export const receiptView = z.object({
  eventId: z.string(),
  seq: z.int(),
  acceptedAs: z.enum(['queue', 'steer', 'interrupt']),
});

/** With what keeps it waiting. */
export async function fullViewOf(
  state: SessionState,
  { access, runtime, settings }: Pick<Exchange, 'access' | 'runtime' | 'settings'>,
): Promise<z.output<typeof sessionView>> {
  return { ...viewOf(state, access), waiting: await waitingOf(runtime, state, settings.clock.now()) };
}

export function viewOf(state: SessionState, viewer: Viewer): z.output<typeof sessionView> {
  const { sessionId, agentId, title, owner, createdAt, updatedAt, status, stopReason, head, used } = state;
  const { parked, lastWake } = state;
  const failed = lastWake?.outcome === 'failed' ? lastWake : undefined;
  const { summary } = told(
    { summary: failed === undefined ? state.summary : reasonFor(viewer, state.summary) },
    state,
    viewer,
  );
  return {
    ...{ sessionId, agentId, title, owner, createdAt, updatedAt, status, stopReason, summary, head, used },
    unread: state.pending.length,
    pendingActions: state.pendingActions.map(({ requestId, kind, toolName, callId, question, rules, expiresAt }) => ({
      ...{ requestId, kind, toolName, callId, expiresAt },
      question: question === undefined ? undefined : told(question, state, viewer),
      ...(rules === undefined ? {} : { rules: told([...rules], state, viewer) }),
    })),
    ...(parked === undefined ? {} : { parked: { code: parked.code, reason: parkedBecause(parked, viewer) } }),
    ...(failed?.error === undefined
      ? {}
      : {
          failed: {
            code: failed.error.code,
            reason: reasonFor(viewer, failed.error.message),
            ...(failed.retryAt === undefined ? {} : { retryAt: failed.retryAt }),
          },
        }),
    queuedWakes: state.queuedWakes.map(({ reason, dueAt }) => ({ reason, dueAt })),
  };
}

function reasonFor({ seesAll }: Viewer, reason: string | undefined): string {
  return seesAll ? (reason ?? COULD_NOT_GO_ON) : COULD_NOT_GO_ON;
}

function parkedBecause({ code, reason }: NonNullable<SessionState['parked']>, viewer: Viewer): string {
  return PARKED[code] === 'told' ? reason : reasonFor(viewer, reason);
}

/** Why the session rests where it rests since something went wrong. */
export function troubleOf(state: SessionState, viewer: Viewer): string | undefined {
  const { status, parked, lastWake, summary } = state;
  if (status === 'terminated') return undefined;
  if (parked !== undefined) return parkedBecause(parked, viewer);
  return lastWake?.outcome === 'failed' ? reasonFor(viewer, summary) : undefined;
}

export function partFor(part: TurnPart, place: Place, viewer: Viewer): TurnPart {
  if (part.type === 'retrying' && !viewer.seesAll) return { ...part, because: COULD_NOT_GO_ON };
  // What is said is told in pieces, too: they have to be those of the whole.
  return part.type === 'permission-asked' || part.type === 'call' || part.type === 'result'
    ? told(part, place, viewer)
    : part;
}
