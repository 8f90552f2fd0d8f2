/** What several attempts of a run have used up together. */
import type { RunUsage } from '../../machines/run/run-output.ts';

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'cost',
] as const;

/** A count that neither tells stays untold. */
export function sumOfUsage(one: RunUsage | undefined, other: RunUsage | undefined): RunUsage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const counts = COUNTS.flatMap((name) =>
    one[name] === undefined && other[name] === undefined
      ? []
      : [[name, (one[name] ?? 0) + (other[name] ?? 0)] as const],
  );
  return {
    ...Object.fromEntries(counts),
    ...(one.isEstimate === true || other.isEstimate === true ? { isEstimate: true } : {}),
  };
}
