/**
 * Chaos: workers and senders over one store, as processes of their own, that are killed, stopped and started again at
 * random; then everything is left to come to rest, and nothing may be lost, doubled or stuck.
 *
 * `CHAOS_SECONDS=60 CHAOS_SEED=1` makes it longer, and draws the same numbers again; what the system makes of them
 * differs each time. `CHAOS_KEEP=DIR` keeps the home of a run that failed there.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../fixtures/processes/chaos-runtime.mjs';
import type { StoreUnderTest } from '../support/store-under-test.ts';
import { ChaosStage } from './chaos-stage.ts';
import { makeTrouble } from './chaos-troupe.ts';

export const CHAOS_MS = Number(process.env['CHAOS_SECONDS'] ?? 6) * 1_000;
export const CHAOS_SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);

export function randomKills(store: StoreUnderTest): void {
  let stage: ChaosStage;
  beforeEach(async () => {
    stage = await ChaosStage.open({ store, setup: await store.setup(), leaseMs: store.shortLeaseMs, seed: CHAOS_SEED });
  });
  afterEach(() => stage.close());

  describe(`workers and senders over ${store.name} that are killed and stopped at random`, () => {
    it(
      `lose nothing, do nothing twice and leave nobody stuck (seed ${CHAOS_SEED})`,
      { timeout: CHAOS_MS * 6 + 180_000 },
      async () => {
        stage.commandLineWorker();
        stage.worker('the impatient worker');
        stage.sender('the first sender', [0, 1, 2, 3]);
        stage.sender('the second sender', [4, 5, 6, 7]);
        for (const player of stage.players) player.start();
        const { players, place } = stage;
        const trouble = await makeTrouble({
          players,
          random: seededRandom(CHAOS_SEED),
          durationMs: CHAOS_MS,
          isEnough: () => stage.isEnough(),
          pause,
          onKilled: (pid) => store.forgetTheDead(place, pid),
        });
        expect(await stage.isEnough()).toBe(true);
        await stage.expectWhole(trouble);
      },
    );
  });
}
