/** What every store of standings of candidates does: the published cases, run with vitest. */
import { describe, it } from 'vitest';
import { candidateStandingsContract } from '../../src/testing/candidate-standings-contract.ts';
import type { CandidateStandingsUnderTest } from '../../src/testing/candidate-standings-contract.ts';

export function describeCandidateStandings(
  name: string,
  open: () => Promise<CandidateStandingsUnderTest & { dispose(): Promise<void> }>,
): void {
  describe(`${name}, as the memory of how candidates stand`, () => {
    it.each(candidateStandingsContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const subject = await open();
      try {
        await run(subject);
      } finally {
        await subject.dispose();
      }
    });
  });
}
