/** What a person has answered to the one thing that the demo asks. */
import type { Sessions } from '../../actors/session/sessions.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';

/** `withdrawn`: the request was taken back, so that it cannot be answered any more. */
export type DemoAnswer =
  | { readonly decision: 'allowed'; readonly scope: 'once' | 'session' | 'always' }
  | { readonly decision: 'denied' | 'withdrawn' };

export interface AskedInDemo {
  readonly sessionId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** Waits until it is answered, from wherever. Undefined when the signal comes first. */
export async function answerTo(
  sessions: Pick<Sessions, 'events' | 'status'>,
  { sessionId, requestId, signal }: AskedInDemo,
): Promise<DemoAnswer | undefined> {
  const events = sessions.events(sessionId, { follow: true });
  const leave = (): void => events.end();
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    for await (const event of events) {
      const answer = answerIn(event, requestId);
      if (answer !== undefined) return answer;
    }
    return undefined;
  } finally {
    signal.removeEventListener('abort', leave);
    events.end();
  }
}

function answerIn({ type, data }: SessionEvent, requestId: string): DemoAnswer | undefined {
  const isOver = type === 'session.status_changed' && data.to === 'terminated';
  const isExpired = type === 'permission.resolved' && data.requestId === requestId && data.decision === 'expired';
  if (isOver || isExpired || type === 'user.interrupt') return { decision: 'withdrawn' };
  if (type !== 'user.tool_confirmation' || data.requestId !== requestId) return undefined;
  return data.allowed ? { decision: 'allowed', scope: data.scope ?? 'once' } : { decision: 'denied' };
}
