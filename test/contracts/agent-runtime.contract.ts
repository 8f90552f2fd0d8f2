/**
 * What every backend does, whatever runs the agent behind it: the published cases, run with vitest. Each adapter runs
 * them against itself.
 */
import { describe, expect, it } from 'vitest';
import { agentRuntimeContract } from '../../src/testing/agent-runtime-contract.ts';
import type {
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
} from '../../src/testing/agent-runtime-contract-subject.ts';

/** @param skips how many cases are skipped, so that none goes unnoticed */
export function describeAgentRuntime(
  name: string,
  open: () => Promise<AgentRuntimeUnderTest>,
  { skips, ...options }: AgentRuntimeContractOptions & { readonly skips: number },
): void {
  describe(`${name}, as a backend`, () => {
    const cases = agentRuntimeContract(open, options);
    it.for(cases)('$name', async ({ skipped, run }, { skip }) => {
      skip(skipped !== undefined, skipped);
      await run();
    });

    it(`leaves out ${skips} of the cases, and says why`, () => {
      expect(cases.flatMap(({ name: sentence, skipped }) => (skipped === undefined ? [] : [sentence]))).toHaveLength(
        skips,
      );
    });
  });
}
