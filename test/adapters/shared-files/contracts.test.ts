import { describe, expect, it } from 'vitest';
import type { LearningStoreUnderTest } from '../../../src/testing/learning-store-contract.ts';
import { learningStoreContract } from '../../../src/testing/learning-store-contract.ts';
import type { SharedFilesStoreUnderTest } from '../../../src/testing/shared-files-store-contract.ts';
import { sharedFilesStoreContract } from '../../../src/testing/shared-files-store-contract.ts';
import { openMemorySetup } from '../../support/memory-setup.ts';

describeSharedFilesStore('the files store', async () => {
  const setup = await openMemorySetup();
  return { store: setup.open().sharedFiles, beside: setup.open().sharedFiles, dispose: () => setup.dispose() };
});

describeLearningStore('the files store', async () => {
  const setup = await openMemorySetup();
  return { store: setup.open().learnings, beside: setup.open().learnings, dispose: () => setup.dispose() };
});

// What every store of shared files and of learnings does: the published cases, run with vitest.

type Opened<Subject> = Subject & { dispose(): Promise<void> };

function describeSharedFilesStore(name: string, open: () => Promise<Opened<SharedFilesStoreUnderTest>>): void {
  describe(`${name}, as the place of shared files`, () => {
    it.each(sharedFilesStoreContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      await expect(using(open, run)).resolves.toBeUndefined();
    });
  });
}

function describeLearningStore(name: string, open: () => Promise<Opened<LearningStoreUnderTest>>): void {
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
