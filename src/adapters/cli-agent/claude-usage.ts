/** What a run of Claude Code took, from the results of its turns. */
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { ClaudeResult } from './claude-messages.ts';

interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

const NONE: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/**
 * `results` in order, one per turn. Where they tell what each turn alone has taken, that is it. Else the totals by model and the cost are those of the whole process; in a session that
 * goes on they may begin with what its earlier processes took. So a resumed run counts the tokens of its own turns,
 * without those of subagents, and takes its share of the cost by them.
 */
export function claudeUsage(
  results: readonly ClaudeResult[],
  { isResumed }: { readonly isResumed: boolean },
): RunUsage | undefined {
  const last = results.at(-1);
  if (last === undefined) return undefined;
  const turns = results.flatMap(({ model_usage_since_last_result: turn }) => (turn === undefined ? [] : [turn]));
  const taken = turns.flatMap((turn) => Object.values(turn));
  if (taken.length > 0 && turns.length === results.length)
    return usageOf(
      taken.map(tokensOfModel).reduce(sum, NONE),
      taken.reduce((cost, { costUSD = 0 }) => cost + costUSD, 0),
    );
  const own = results.map(tokensOfTurn).reduce(sum, NONE);
  const total = Object.values(last.modelUsage ?? {})
    .map(tokensOfModel)
    .reduce(sum, NONE);
  const tokens = isResumed || weight(total) < weight(own) ? own : total;
  const cost = last.total_cost_usd;
  if (weight(tokens) === 0 && cost === undefined) return undefined;
  return usageOf(tokens, cost === undefined ? undefined : cost * share(tokens, total));
}

function usageOf(tokens: Tokens, cost: number | undefined): RunUsage {
  return {
    inputTokens: tokens.input + tokens.cacheRead + tokens.cacheWrite,
    outputTokens: tokens.output,
    cachedInputTokens: tokens.cacheRead,
    cacheWriteTokens: tokens.cacheWrite,
    ...(tokens.reasoning === 0 ? {} : { reasoningTokens: tokens.reasoning }),
    ...(cost === undefined ? {} : { cost }),
  };
}

function tokensOfTurn({ usage }: ClaudeResult): Tokens {
  return {
    input: usage?.input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    cacheRead: usage?.cache_read_input_tokens ?? 0,
    cacheWrite: usage?.cache_creation_input_tokens ?? 0,
    reasoning: 0,
  };
}

function tokensOfModel(usage: NonNullable<ClaudeResult['modelUsage']>[string]): Tokens {
  return {
    input: usage.inputTokens ?? 0,
    output: usage.outputTokens ?? 0,
    cacheRead: usage.cacheReadInputTokens ?? 0,
    cacheWrite: usage.cacheCreationInputTokens ?? 0,
    reasoning: usage.thinkingTokens ?? 0,
  };
}

function sum(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    reasoning: one.reasoning + other.reasoning,
  };
}

function share(part: Tokens, whole: Tokens): number {
  return weight(whole) <= weight(part) ? 1 : weight(part) / weight(whole);
}

/** In tokens of uncached input: the prices of all models of this provider stand in these ratios. */
function weight({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + 5 * output + 0.1 * cacheRead + 1.25 * cacheWrite;
}
