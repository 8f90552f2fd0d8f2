/** One wake, and every event it stores as soon as it is stored. */
import type { Runtime } from '../../runtime.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';

export interface FollowedWake {
  readonly runtime: Runtime;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SessionEvent) => Promise<void>;
}

/** Resolves when the wake has ended and `onEvent` has heard all of it, in order. */
export async function followedWake({ runtime, sessionId, signal, onEvent }: FollowedWake): Promise<WakeOutcome> {
  const { head } = await runtime.sessions.status(sessionId);
  const events = runtime.sessions.events(sessionId, { from: head + 1, follow: true });
  let heard = head;
  const hearing = (async () => {
    for await (const event of events) {
      heard = event.seq;
      await onEvent(event);
    }
  })();
  // What goes wrong with the hearing is told once the wake is over: the wake itself must not suffer from it.
  hearing.catch(() => undefined);
  try {
    const outcome = await runtime.wake(sessionId, { signal });
    events.end();
    await hearing;
    // What was stored between the last look and the end.
    for await (const event of runtime.sessions.events(sessionId, { from: heard + 1, limit: Math.max(0, outcome.head - heard) })) await onEvent(event);
    return outcome;
  } finally {
    events.end();
    await hearing.catch(() => undefined);
  }
}
