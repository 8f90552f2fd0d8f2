/**
 * A server that crashes again and again while four workers are at it, two of them with a clock that is an hour wrong.
 * Nobody starts a worker again: each has to find its way back by itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/processes/chaos-runtime.mjs';
import { readSessions } from '../../runtime/chaos-checks.ts';
import { CHAOS_MS, CHAOS_SEED } from '../../runtime/chaos-suite.ts';
import { allWakeAgain, chaosServer } from './chaos-setup.ts';
import type { ChaosServer } from './chaos-setup.ts';

const LEASE_MS = 1_500;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LONGEST_LIFE_MS = 900;
const LONGEST_ABSENCE_MS = 500;
/** Of the server. */
const ENOUGH_CRASHES = 4;

let setup: ChaosServer;
beforeEach(async () => {
  setup = await chaosServer({ leaseMs: LEASE_MS });
});
afterEach(() => setup.close());

describe('a server that crashes again and again', () => {
  it(
    `costs nobody anything but time, and wrong clocks cost nothing (seed ${CHAOS_SEED})`,
    { timeout: CHAOS_MS * 6 + 180_000 },
    async () => {
      const { server, stage } = setup;
      const workers = [
        stage.commandLineWorker(),
        stage.worker('the worker whose clock is right'),
        stage.worker('the worker who lives an hour ahead', { aheadMs: HOUR_MS }),
        stage.worker('the worker who lives an hour behind', { aheadMs: -HOUR_MS }),
      ];
      stage.sender('the sender', [0, 1, 2, 3]);
      const beganMs = Date.now();
      for (const player of stage.players) player.start();
      await Promise.all(stage.players.map((player) => player.atWork()));
      const trouble = await crashAgainAndAgain(server, () => stage.isEnough());
      await allWakeAgain(workers);
      expect(stage.players.map(({ lives }) => lives)).toEqual(stage.players.map(() => 1));
      await stage.expectWhole(trouble);
      const times = (await readSessions(stage.place)).flatMap(({ events }) => events.map(({ at }) => Date.parse(at)));
      expect(times.filter((time) => time < beganMs - MINUTE_MS || time > Date.now() + MINUTE_MS)).toEqual([]);
    },
  );
});

async function crashAgainAndAgain(server: ChaosServer['server'], isEnough: () => Promise<boolean>): Promise<string[]> {
  const random = seededRandom(CHAOS_SEED);
  const done: string[] = [];
  const begun = performance.now();
  while (performance.now() - begun < CHAOS_MS || done.length < ENOUGH_CRASHES || !(await isEnough())) {
    await pause(random() * LONGEST_LIFE_MS);
    done.push(`${Math.round(performance.now() - begun)} ms: crash`);
    await server.stop('immediate');
    await pause(random() * LONGEST_ABSENCE_MS);
    await server.start();
  }
  return done;
}
