/** How much of a chart is tried: one that counts has no end. */
import { RuntimeError } from '../errors.ts';

export interface ExplorationLimits {
  /** Snapshots to check in all. */
  readonly maxSnapshots: number;
  /**
   * Snapshots of one configuration, which differ in context or history: a counter in the context must not use up the
   * rest.
   */
  readonly maxPerConfiguration: number;
}

const EXPLORATION_LIMITS: ExplorationLimits = { maxSnapshots: 2_000, maxPerConfiguration: 64 };

/** Each limit that is absent has its default. @throws RuntimeError EXPLORATION_LIMITS_INVALID */
export function checkedLimits(given: Partial<ExplorationLimits> = {}): ExplorationLimits {
  const limitOf = (name: keyof ExplorationLimits): number => {
    const limit = given[name] ?? EXPLORATION_LIMITS[name];
    if (Number.isSafeInteger(limit) && limit >= 0) return limit;
    throw new RuntimeError(
      'EXPLORATION_LIMITS_INVALID',
      `expected a whole number for ${name}, received ${String(limit)}`,
      { category: 'validation', hint: 'A chart that counts has no end: give a number at which to stop, or nothing.' },
    );
  };
  return { maxSnapshots: limitOf('maxSnapshots'), maxPerConfiguration: limitOf('maxPerConfiguration') };
}
