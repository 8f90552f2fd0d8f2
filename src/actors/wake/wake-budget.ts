/** The budgets of a wake: what the agent's file, the parent session and the defaults allow, and what is left of it. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { costAtMost, priceOf } from '../../machines/run/prices.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import { costOf } from '../../machines/run/step-cost.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { Allowance } from '../../machines/session/event-parts.ts';
import {
  DEFAULT_MAX_IDENTICAL_CALLS,
  DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
  DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
} from '../../machines/session/limits.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { heldByJobs } from '../../machines/wake/held-budget.ts';
import type { WakeLimits } from '../../machines/wake/wake-decision.ts';
import { estimateTokens } from '../../machines/turn/token-estimate.ts';
import type { AgentRunResult } from '../run/agent-runtime.ts';
import { inputTokensOf } from './wake-context.ts';
import type { AssembledStep } from './wake-context.ts';

/** A step without a budget that bounds it may write this much. */
const LEAST_OUTPUT_TOKENS = 1;

export function wakeLimits(definition: AgentDefinition | undefined, { allowance }: SessionState): WakeLimits {
  const budget = definition?.budget ?? {};
  return {
    maxModelStepsPerWake: budget.maxModelStepsPerWake ?? DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
    maxTokensPerWake: budget.maxTokensPerWake,
    maxTokensPerSession: least(budget.maxTokensPerSession, allowance?.tokens),
    maxCostPerWake: budget.maxCostPerWake,
    maxCostPerSession: least(budget.maxCostPerSession, allowance?.cost),
    maxSecondsPerWake: budget.maxSecondsPerWake,
    maxIdenticalCalls: budget.maxIdenticalCalls ?? DEFAULT_MAX_IDENTICAL_CALLS,
    maxStepsWithoutProgress: budget.maxStepsWithoutProgress ?? DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
  };
}

/** What is left for steps and children, without what jobs were promised; nothing is said where nothing bounds it. */
export function remainingOf(limits: WakeLimits, state: SessionState): Allowance {
  const { used, openWake } = state;
  const { tokens = 0, cost = 0 } = openWake ?? {};
  const held = heldByJobs(state);
  const leftTokens = least(
    left(limits.maxTokensPerWake, tokens + held.tokens),
    left(limits.maxTokensPerSession, used.tokens + held.tokens),
  );
  const leftCost = least(
    left(limits.maxCostPerWake, cost + held.cost),
    left(limits.maxCostPerSession, used.cost + held.cost),
  );
  return {
    ...(leftTokens === undefined ? {} : { tokens: leftTokens }),
    ...(leftCost === undefined ? {} : { cost: leftCost }),
  };
}

/** The least that a step will use up: what it reads, and one token of an answer. */
export function needOf({ params, context }: AssembledStep, prices: PriceTable): Allowance {
  const input = inputTokensOf(context);
  return {
    tokens: input + LEAST_OUTPUT_TOKENS,
    cost: costAtMost({ input, output: LEAST_OUTPUT_TOKENS }, priceOf(params, prices)),
  };
}

/** What is reserved for a step before it is taken; undefined where no budget bounds it. */
export function reserveOf(
  { params, context, maxOutputTokens }: AssembledStep,
  remaining: Allowance,
  prices: PriceTable,
): Allowance | undefined {
  const input = inputTokensOf(context);
  const price = priceOf(params, prices);
  if (remaining.tokens === undefined && remaining.cost === undefined) return undefined;
  return {
    ...(remaining.tokens === undefined ? {} : { tokens: input + (maxOutputTokens ?? LEAST_OUTPUT_TOKENS) }),
    ...(remaining.cost === undefined
      ? {}
      : {
          cost: Math.min(remaining.cost, costAtMost({ input, output: maxOutputTokens ?? LEAST_OUTPUT_TOKENS }, price)),
        }),
  };
}

/** What a step used by what it read and said, for a backend that tells no tokens: a budget must hold all the same. */
export function estimatedUsage(
  { params, context }: AssembledStep,
  { payloads }: AgentRunResult,
  prices: PriceTable,
): RunUsage {
  const outputTokens = payloads.reduce(
    (sum, payload) => sum + estimateTokens('text' in payload ? payload.text : (JSON.stringify(payload) ?? '')),
    0,
  );
  const usage = { inputTokens: inputTokensOf(context), outputTokens, isEstimate: true };
  return pricedUsage(usage, params, prices) ?? usage;
}

/** Whether a provider told what a step used. */
export function tellsTokens(usage: RunUsage | undefined): boolean {
  return usage?.inputTokens !== undefined || usage?.outputTokens !== undefined;
}

/** The usage that a provider told, with what it cost where the price is known. */
export function pricedUsage(
  usage: RunUsage | undefined,
  model: { readonly provider: string; readonly model: string },
  prices: PriceTable,
): RunUsage | undefined {
  if (usage === undefined) return undefined;
  const cost = costOf(usage, priceOf(model, prices));
  return cost === undefined ? usage : { ...usage, cost };
}

function left(limit: number | undefined, used: number): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit - used);
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
