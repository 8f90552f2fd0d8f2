/** What every store of shared files and of learnings does: the published cases, run with vitest. */
import { describe, expect, it } from 'vitest';
import { learningStoreContract } from '../../src/testing/learning-store-contract.ts';
import type { LearningStoreUnderTest } from '../../src/testing/learning-store-contract.ts';
import { substrateStoreContract } from '../../src/testing/substrate-store-contract.ts';
import type { SubstrateStoreUnderTest } from '../../src/testing/substrate-store-contract.ts';

type Opened<Subject> = Subject & { dispose(): Promise<void> };

export function describeSubstrateStore(name: string, open: () => Promise<Opened<SubstrateStoreUnderTest>>): void {
  describe(`${name}, as the place of shared files`, () => {
    it.each(substrateStoreContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
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
