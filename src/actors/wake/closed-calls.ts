/**
 * Calls that a dead wake left open, and that the next one has just closed in the log: each ends in its chart too, so
 * that it is seen where every other call is seen.
 */
import type { AnyActorRef } from 'xstate';
import type { OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import { closedByRepair } from '../../machines/wake/wake-repair.ts';
import type { ToolCallEvent } from '../../machines/turn/tool-call-machine.ts';
import type { ToolExecutor } from '../turn/tool-executor.ts';

export interface ClosedCalls {
  readonly executor: ToolExecutor;
  /** What was decided upon, and what the log says after that. */
  readonly before: SessionState;
  readonly after: SessionState;
  /** The wake's actor. */
  readonly parent: AnyActorRef;
}

export function endClosedCalls({ executor, before, after, parent }: ClosedCalls): void {
  const isOpen = new Set(after.openToolCalls.map(({ callId }) => callId));
  for (const { call, outcome, reason } of closedByRepair(before)) {
    if (isOpen.has(call.callId)) continue;
    const { callId, name } = call;
    const isLost = outcome === 'unknown';
    // The input stands in the log alone; a viewer of an end does not need it.
    executor.replay(
      {
        callId,
        name,
        input: undefined,
        history: [...askedBefore(call), ...(isLost ? [{ type: 'RUN' } as const] : [])],
      },
      { type: isLost ? 'LOSE' : 'CANCEL', reason },
      parent,
    );
  }
}

/** What a call has been through that a person or client had to do something for. */
export function askedBefore({ request }: OpenToolCall): readonly ToolCallEvent[] {
  if (request === undefined) return [];
  return [{ type: request.kind === 'permission' ? 'ASK_PERMISSION' : 'ASK_INPUT' }];
}
