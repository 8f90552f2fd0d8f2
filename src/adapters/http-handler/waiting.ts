/** What is told of a session that is due and that no worker takes, in the words of the chart of activations. */
import * as z from 'zod';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import { untakenSince } from '../../machines/session/session-activations.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ServedRuntime } from './handler-options.ts';

export const waiting = z.object({
  phase: z
    .enum(['waiting', 'elsewhere'])
    .describe('`elsewhere`: this server lacks what it needs; of those that have it none runs, or all are busy.'),
  reason: z.enum(['untaken', 'agent_missing', 'environment_missing']),
  since: z.string(),
});

export type Waiting = z.output<typeof waiting>;

/** Undefined as long as a worker may be about to take it. */
export async function waitingOf(
  runtime: Pick<ServedRuntime, 'lacks'>,
  state: SessionState,
  nowMs: number,
): Promise<Waiting | undefined> {
  const sinceMs = untakenSince(state, nowMs);
  if (sinceMs === undefined) return undefined;
  const lacked = await runtime.lacks(state);
  const since = isoTimeOf(sinceMs);
  return lacked === undefined
    ? { phase: 'waiting', reason: 'untaken', since }
    : { phase: 'elsewhere', reason: `${lacked.what}_missing`, since };
}

/** Of what tells it. */
export function waitingIn({ phase, reason, since }: Waiting): Waiting {
  return { phase, reason, since };
}
