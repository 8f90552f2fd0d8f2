/** What every keeper of copies of hands does: the published cases, run with vitest. */
import { describe, it } from 'vitest';
import { handCopiesContract } from '../../src/testing/hand-copies-contract.ts';
import type { HandCopiesUnderTest } from '../../src/testing/hand-copies-contract.ts';

export function describeHandCopies(
  name: string,
  open: () => Promise<HandCopiesUnderTest & { dispose(): Promise<void> }>,
): void {
  describe(`${name}, as the keeper of copies of hands`, () => {
    it.each(handCopiesContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const subject = await open();
      try {
        await run(subject);
      } finally {
        await subject.dispose();
      }
    });
  });
}
