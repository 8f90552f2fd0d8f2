/**
 * One wake, and every event it stores as soon as it is stored; those of the children that it waits for too, where that
 * is wanted.
 */
import type { WakeOptions } from '../../actors/wake/wake-ports.ts';
import type { Runtime } from '../../runtime.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { FollowedChildren } from './followed-children.ts';

export interface FollowedWake extends Pick<WakeOptions, 'force' | 'humans' | 'onToolProgress' | 'onRunEvent'> {
  readonly runtime: Runtime;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SessionEvent) => Promise<void>;
  /** Hears what happens in the sessions that answer calls of this one. */
  readonly onChildEvent?: ((event: SessionEvent) => Promise<void>) | undefined;
}

/** Resolves when the wake has ended and `onEvent` has heard all of it, in order. */
export async function followedWake({
  runtime,
  sessionId,
  onEvent,
  onChildEvent,
  ...options
}: FollowedWake): Promise<WakeOutcome> {
  const { sessions } = runtime;
  const { head, openToolCalls } = await sessions.status(sessionId);
  const events = sessions.events(sessionId, { from: head + 1, follow: true });
  const children = onChildEvent === undefined ? undefined : new FollowedChildren({ sessions, onEvent: onChildEvent });
  for (const { request } of openToolCalls) if (request?.kind === 'subflow') children?.goOnWith(request.childSessionId);
  let heard = head;
  const hear = async (event: SessionEvent): Promise<void> => {
    // What a child did comes before what it came to.
    if (event.type === 'agent.tool_result') await children?.endedBy(event.data.callId);
    await onEvent(event);
    children?.heard(event);
  };
  const hearing = (async () => {
    for await (const event of events) {
      heard = event.seq;
      await hear(event);
    }
  })();
  // What goes wrong with the hearing is told once the wake is over: the wake itself must not suffer from it.
  hearing.catch(() => undefined);
  try {
    const outcome = await runtime.wake(sessionId, options);
    events.end();
    await hearing;
    // What was stored between the last read and the end.
    for await (const event of sessions.events(sessionId, { from: heard + 1, limit: Math.max(0, outcome.head - heard) }))
      await hear(event);
    await children?.end();
    return outcome;
  } finally {
    events.end();
    await hearing.catch(() => undefined);
    await children?.end();
  }
}
