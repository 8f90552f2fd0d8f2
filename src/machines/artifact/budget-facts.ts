/** The bounds on what a session may use up: what each is, who said it, and how much of it is left. */
import type { AgentBudget } from '../agent/agent-definition.ts';
import {
  DEFAULT_MAX_AUTONOMOUS_WAKES,
  DEFAULT_MAX_IDENTICAL_CALLS,
  DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
  DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
} from '../session/limits.ts';
import type { SessionState } from '../session/session-state.ts';
import { heldByJobs } from '../wake/held-budget.ts';
import { table } from './artifact.ts';

export type BudgetSource = 'agent' | 'environment' | 'its parent' | 'the runtime';

export interface BudgetFact {
  readonly bound: keyof AgentBudget;
  readonly limit: number;
  readonly from: BudgetSource;
  readonly used?: number | undefined;
  /** What was promised to jobs that have not ended is not left. */
  readonly left?: number | undefined;
}

export interface BudgetSources {
  /** Of the agent within the bounds of its environment. */
  readonly budget: AgentBudget;
  /** Of the environment alone. */
  readonly environment: AgentBudget | undefined;
  readonly state: SessionState;
}

const DEFAULTS: AgentBudget = {
  maxModelStepsPerWake: DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
  maxIdenticalCalls: DEFAULT_MAX_IDENTICAL_CALLS,
  maxStepsWithoutProgress: DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
  maxAutonomousWakes: DEFAULT_MAX_AUTONOMOUS_WAKES,
};

const BOUNDS = [
  'maxTokensPerSession',
  'maxCostPerSession',
  'maxTokensPerWake',
  'maxCostPerWake',
  'maxModelStepsPerWake',
  'maxSecondsPerWake',
  'maxAutonomousWakes',
  'maxIdenticalCalls',
  'maxStepsWithoutProgress',
] as const satisfies readonly (keyof AgentBudget)[];

export function budgetFacts({ budget, environment, state }: BudgetSources): readonly BudgetFact[] {
  const used = usedOf(state);
  const held = heldByJobs(state);
  return BOUNDS.flatMap((bound): BudgetFact[] => {
    const holding = holdingBound(bound, { budget, environment, state });
    if (holding === undefined) return [];
    const spent = used[bound];
    if (spent === undefined) return [{ bound, ...holding }];
    const promised = bound.startsWith('maxTokens') ? held.tokens : bound.startsWith('maxCost') ? held.cost : 0;
    return [{ bound, ...holding, used: rounded(spent), left: rounded(Math.max(0, holding.limit - spent - promised)) }];
  });
}

/** The lowest of those that there are. */
function holdingBound(
  bound: keyof AgentBudget,
  { budget, environment, state: { allowance } }: BudgetSources,
): Pick<BudgetFact, 'limit' | 'from'> | undefined {
  const written = budget[bound] ?? DEFAULTS[bound];
  const allowed =
    bound === 'maxTokensPerSession' ? allowance?.tokens : bound === 'maxCostPerSession' ? allowance?.cost : undefined;
  if (allowed !== undefined && (written === undefined || allowed < written))
    return { limit: allowed, from: 'its parent' };
  if (written === undefined) return undefined;
  return {
    limit: written,
    from: budget[bound] === undefined ? 'the runtime' : environment?.[bound] === written ? 'environment' : 'agent',
  };
}

/**
 * Between wakes nothing is used of the next one, which is what its first step begins with: so the same is laid out for
 * both.
 */
function usedOf({ used, openWake, autonomousWakesInARow }: SessionState): AgentBudget {
  return {
    maxTokensPerSession: used.tokens,
    maxCostPerSession: used.cost,
    maxAutonomousWakes: autonomousWakesInARow,
    maxTokensPerWake: openWake?.tokens ?? 0,
    maxCostPerWake: openWake?.cost ?? 0,
    maxModelStepsPerWake: openWake?.steps ?? 0,
  };
}

/** To the millionth of a dollar: sums of prices have more digits than prices mean. */
function rounded(amount: number): number {
  return Math.round(amount * 1_000_000) / 1_000_000;
}

export function budgetTable(facts: readonly BudgetFact[]): string {
  return table(
    ['bound', 'at most', 'used', 'left', 'said by'],
    facts.map(({ bound, limit, used, left, from }) => [
      bound,
      String(limit),
      used === undefined ? '' : String(used),
      left === undefined ? '' : String(left),
      from,
    ]),
  );
}
