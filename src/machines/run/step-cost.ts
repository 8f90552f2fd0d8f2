/** What a model step cost, by what its provider told of it. No imports of schemas: the page of the inspector tells it too. */
import type { ModelPrice } from './prices.ts';
import type { RunUsage } from './run-output.ts';

/** What a step cost, in US dollars: what the provider says, else by price; undefined when neither is known. */
export function costOf(
  { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cost }: RunUsage,
  price: ModelPrice | undefined,
): number | undefined {
  if (cost !== undefined) return cost;
  if (price === undefined) return undefined;
  const cached = Math.min(cachedInputTokens, inputTokens);
  return (
    ((inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input) + outputTokens * price.output) /
    1e6
  );
}

/** Of a step whose tokens no record tells nothing is known, unless none of them costs anything. */
export function costKnown(usage: RunUsage, price: ModelPrice | undefined): number | undefined {
  const tellsNothing = usage.inputTokens === undefined && usage.outputTokens === undefined && usage.cost === undefined;
  if (tellsNothing && (price === undefined || price.input > 0 || price.output > 0)) return undefined;
  return costOf(usage, price);
}
