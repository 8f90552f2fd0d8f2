/** What every store of the health of candidates does: the published cases, run with vitest. */
import { describe, it } from 'vitest';
import { candidateHealthContract } from '../../src/testing/candidate-health-contract.ts';
import type { CandidateHealthStoreUnderTest } from '../../src/testing/candidate-health-contract.ts';

export function describeCandidateHealthStore(
  name: string,
  open: () => Promise<CandidateHealthStoreUnderTest & { dispose(): Promise<void> }>,
): void {
  describe(`${name}, as the memory of the health of candidates`, () => {
    it.each(candidateHealthContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const subject = await open();
      try {
        await run(subject);
      } finally {
        await subject.dispose();
      }
    });
  });
}
