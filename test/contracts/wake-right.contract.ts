/**
 * What the right to wake a session is, whatever store gives it: the published cases, run with vitest. Each adapter runs
 * them against itself.
 */
import { describe, it } from 'vitest';
import { wakeRightContract } from '../../src/testing/wake-right-contract.ts';
import type { WakeRightStore } from '../../src/testing/wake-right-contract.ts';

export type { WakeRightStore } from '../../src/testing/wake-right-contract.ts';

export interface WakeRightsUnderTest {
  readonly store: WakeRightStore;
  /** Releases everything, the store included. */
  dispose(): Promise<void>;
}

export function describeWakeRights(name: string, open: () => Promise<WakeRightsUnderTest>): void {
  describe(`${name}, as the giver of the right to wake`, () => {
    it.each(wakeRightContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const { store, dispose } = await open();
      try {
        await run(store);
      } finally {
        await dispose();
      }
    });
  });
}
