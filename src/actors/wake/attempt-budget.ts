/**
 * What the budgets of a wake leave for each attempt of a model step. Attempts that fail are paid for too, and each
 * candidate has its price.
 */
import type { Candidate } from '../../machines/run/candidate.ts';
import { affordableOutput, costAtMost, priceOf } from '../../machines/run/prices.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { Allowance } from '../../machines/session/event-parts.ts';
import { DEFAULT_MAX_OUTPUT_TOKENS } from '../../machines/session/limits.ts';
import type { FinishedAttempt } from '../run/run-options.ts';
import { estimatedUsage, pricedUsage, reserveOf, tellsTokens } from './wake-budget.ts';
import { inputTokensOf } from './wake-context.ts';
import type { AssembledStep } from './wake-context.ts';

export interface AttemptBudgetOptions {
  readonly step: AssembledStep;
  /** What was left when the step began. */
  readonly remaining: Allowance;
  readonly prices: PriceTable;
}

export class AttemptBudget {
  readonly #options: AttemptBudgetOptions;

  constructor(options: AttemptBudgetOptions) {
    this.#options = options;
  }

  /** Tokens that an attempt may write; 0 where not even the reading is paid for; undefined where nothing bounds it. */
  outputBound(candidate: Candidate, used: RunUsage | undefined): number | undefined {
    const { remaining, prices, step } = this.#options;
    if (!this.#isBounded) return undefined;
    const input = inputTokensOf(step.context);
    const price = priceOf(candidate, prices);
    const tokens =
      remaining.tokens === undefined
        ? Infinity
        : remaining.tokens - (used?.inputTokens ?? 0) - (used?.outputTokens ?? 0) - input;
    const cost = remaining.cost === undefined ? undefined : remaining.cost - (used?.cost ?? 0);
    if (tokens < 1 || (cost !== undefined && costAtMost({ input, output: 1 }, price) > cost)) return 0;
    const affordable = cost === undefined ? undefined : affordableOutput(cost, input, price);
    return Math.max(1, Math.min(DEFAULT_MAX_OUTPUT_TOKENS, tokens, affordable ?? Infinity));
  }

  /** What is left to be spent after the attempts before, in US dollars; undefined where no budget of costs holds. */
  costBound(used: RunUsage | undefined): number | undefined {
    const { cost } = this.#options.remaining;
    return cost === undefined ? undefined : Math.max(0, cost - (used?.cost ?? 0));
  }

  /** What is set aside for the first attempt, until it is known what it used. */
  reserve(candidate: Candidate): Allowance | undefined {
    const { remaining, prices } = this.#options;
    return reserveOf(
      { ...this.#stepOf(candidate), maxOutputTokens: this.outputBound(candidate, undefined) },
      remaining,
      prices,
    );
  }

  /** What the backend tells; where a budget has to hold and it tells nothing, what the attempt has read and said. */
  usageOf({ candidate, result, said, before }: FinishedAttempt): RunUsage | undefined {
    const { prices } = this.#options;
    const told = pricedUsage(result.usage, candidate, prices);
    if (!this.#isBounded || tellsTokens(told)) return told;
    const { error } = result.meta ?? {};
    // As much as it was allowed to use. The log counts that by itself for a first attempt.
    if (error?.kind === 'aborted') return before === undefined ? told : { ...this.#atMost(candidate, before), ...told };
    // An attempt that fails before the first word has charged nothing.
    if (error !== undefined && said === '') return told;
    const payloads = said === '' || error === undefined ? result.payloads : [{ type: 'text' as const, text: said }];
    return { ...estimatedUsage(this.#stepOf(candidate), { payloads }, prices), ...told };
  }

  get #isBounded(): boolean {
    const { tokens, cost } = this.#options.remaining;
    return tokens !== undefined || cost !== undefined;
  }

  #atMost(candidate: Candidate, before: RunUsage): RunUsage {
    const usage = {
      inputTokens: inputTokensOf(this.#options.step.context),
      outputTokens: this.outputBound(candidate, before) ?? 0,
      isEstimate: true,
    };
    return pricedUsage(usage, candidate, this.#options.prices) ?? usage;
  }

  #stepOf({ provider, model }: Candidate): AssembledStep {
    const { step } = this.#options;
    return { ...step, params: { ...step.params, provider, model } };
  }
}
