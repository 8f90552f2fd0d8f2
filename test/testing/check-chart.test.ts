/** What a check of a real thing against its chart finds, and what it lets pass. */
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { checkChart } from '../../src/testing.ts';
import { MISTAKES, order, shopAdapter } from './order-shop.ts';

/** The error that a check ends with. */
async function disagreementOf(checking: Promise<unknown>): Promise<RuntimeError> {
  const error: unknown = await checking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!RuntimeError.is(error)) throw new Error('expected a disagreement', { cause: error });
  return error;
}

describe('a check of a real thing against its chart', () => {
  it('passes a thousand runs of one that does what the chart says, and takes every transition', async () => {
    const { runs, cover } = await checkChart(order, shopAdapter(), { runs: 1_000 });
    expect(runs).toBeGreaterThanOrEqual(1_000);
    cover.assert();
    expect(cover.coverage.states.missing).toEqual([]);
  });

  it.each(MISTAKES)('finds in 300 runs that %s, and tells it in few steps', async (mistake) => {
    for (const seed of [1, 2, 3]) {
      const error = await disagreementOf(checkChart(order, shopAdapter(mistake), { runs: 300, seed }));
      expect(error.code).toBe('CHART_DISAGREES');
      const { steps } = error.details as { readonly steps: readonly unknown[] };
      expect(steps.length).toBeLessThanOrEqual(6);
    }
  });
});
