/**
 * What of a session's budget is not its own to use: what was promised to the sessions that work for it and has not been
 * used up.
 */
import type { Allowance } from '../session/event-parts.ts';
import { delegatedCalls } from '../session/session-activations.ts';
import type { SessionState } from '../session/session-state.ts';

export interface HeldBudget {
  readonly tokens: number;
  readonly cost: number;
}

/** Promised to jobs that have not ended. What they use is told with their end, so all of it is held until then. */
export function heldByJobs({ jobs }: Pick<SessionState, 'jobs'>): HeldBudget {
  return sumOf(jobs.map(({ allowance }) => allowance ?? {}));
}

/** Promised to the children that calls wait for, as far as they have not used it. */
export function heldBySubflows(state: SessionState): HeldBudget {
  return sumOf(
    delegatedCalls(state).map(({ request }) => {
      if (request?.kind !== 'subflow') return {};
      const { allowance = {}, used } = request;
      return {
        tokens: Math.max(0, (allowance.tokens ?? 0) - (used.tokens ?? 0)),
        cost: Math.max(0, (allowance.cost ?? 0) - (used.cost ?? 0)),
      };
    }),
  );
}

export function sumOf(allowances: readonly Allowance[]): HeldBudget {
  return allowances.reduce<HeldBudget>(
    (sum, { tokens = 0, cost = 0 }) => ({ tokens: sum.tokens + tokens, cost: sum.cost + cost }),
    { tokens: 0, cost: 0 },
  );
}
