/** What every keeper of workspace copies does: the published cases, run with vitest. */
import { describe, it } from 'vitest';
import { workspaceCopyStoreContract } from '../../src/testing/workspace-copy-store-contract.ts';
import type { WorkspaceCopyStoreUnderTest } from '../../src/testing/workspace-copy-store-contract.ts';

export function describeWorkspaceCopyStore(
  name: string,
  open: () => Promise<WorkspaceCopyStoreUnderTest & { dispose(): Promise<void> }>,
): void {
  describe(`${name}, as the keeper of workspace copies`, () => {
    it.each(workspaceCopyStoreContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const subject = await open();
      try {
        await run(subject);
      } finally {
        await subject.dispose();
      }
    });
  });
}
