/** What is told of a session that is due and that no worker takes, in the words of the chart of activations. */
import * as z from 'zod';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import { untakenSince } from '../../machines/session/session-activations.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ServedRuntime } from './handler-options.ts';

export const waiting = z.object({
  phase: z
    .enum(['waiting', 'elsewhere'])
    .describe('`elsewhere`: this server lacks what it needs and leaves it to others, and none has taken it.'),
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

/** After as long in `elsewhere` a client that waits for the answer is told that there is none for now. */
const GIVES_UP_MS = 60_000;

const NEEDED = { agent_missing: 'the agent', environment_missing: 'the environment' } as const;

/** Undefined where waiting goes on. */
export function givenUp({ phase, reason, since }: Waiting, nowMs: number): string | undefined {
  if (phase !== 'elsewhere' || reason === 'untaken' || nowMs - Date.parse(since) < GIVES_UP_MS) return undefined;
  return `No process that runs has ${NEEDED[reason]} of this session [${reason}]. What was said is kept, and is answered once there is one.`;
}
