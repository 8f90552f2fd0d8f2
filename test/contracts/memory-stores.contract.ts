/** What every store of shared files and of learnings does: the published cases, run with vitest. */
import { describe, expect, it } from 'vitest';
import { learningStoreContract } from '../../src/testing/learning-store-contract.ts';
import type { LearningStoreUnderTest } from '../../src/testing/learning-store-contract.ts';
import { sharedFilesStoreContract } from '../../src/testing/shared-files-store-contract.ts';
import type { SharedFilesStoreUnderTest } from '../../src/testing/shared-files-store-contract.ts';

type Opened<Subject> = Subject & { dispose(): Promise<void> };

export function describeSharedFilesStore(name: string, open: () => Promise<Opened<SharedFilesStoreUnderTest>>): void {
  describe(`${name}, as the place of shared files`, () => {
    it.each(sharedFilesStoreContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      await expect(using(open, run)).resolves.toBeUndefined();
    });
  });
}

export function describeLearningStore(name: string, open: () => Promise<Opened<LearningStoreUnderTest>>): void {
  describe(`${name}, as the place of learnings`, () => {
    it.each(learningStoreContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      await expect(using(open, run)).resolves.toBeUndefined();
    });
  });
}

async function using<Subject>(
  open: () => Promise<Opened<Subject>>,
  run: (subject: Subject) => Promise<void>,
): Promise<void> {
  const subject = await open();
  try {
    await run(subject);
  } finally {
    await subject.dispose();
  }
}
