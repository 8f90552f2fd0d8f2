/**
 * Connections that are cut by the server, cut on the way, refused, and cut when the answer is on its way, while workers
 * and senders are at it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/processes/chaos-runtime.mjs';
import { ChaosStage } from '../../runtime/chaos-stage.ts';
import { CHAOS_MS, CHAOS_SEED } from '../../runtime/chaos-suite.ts';
import { unreliableProxy } from '../../support/postgres-proxy.ts';
import type { UnreliableProxy } from '../../support/postgres-proxy.ts';
import { cutConnections } from '../../support/postgres-server.ts';
import { postgresStore, urlOf } from '../../support/postgres-store-under-test.ts';
import { allWakeAgain } from './chaos-setup.ts';

const LEASE_MS = 1_000;
const LONGEST_PEACE_MS = 250;
const LONGEST_REFUSAL_MS = 400;
/** The nth request from now is the one whose answer is lost. */
const FARTHEST_REQUEST = 12;

let stage: ChaosStage;
let proxies: UnreliableProxy[] = [];
let url: string;
beforeEach(async () => {
  const setup = await postgresStore.setup();
  url = urlOf(setup.place);
  stage = await ChaosStage.open({ store: postgresStore, setup, leaseMs: LEASE_MS, seed: CHAOS_SEED });
});
afterEach(async () => {
  await stage.close();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

describe('connections that are cut again and again', () => {
  it(
    `cost nobody anything but time, whatever was on its way (seed ${CHAOS_SEED})`,
    { timeout: CHAOS_MS * 6 + 180_000 },
    async () => {
      proxies = await Promise.all([0, 1, 2].map(() => unreliableProxy({ to: url })));
      const [first, second, third] = proxies.map((proxy) => ({ store: { postgres: proxy.url } }));
      const workers = [
        stage.commandLineWorker(),
        stage.worker('the worker with a way of its own'),
        stage.worker('the worker by the first bad way', first),
        stage.worker('the worker by the second bad way', second),
      ];
      stage.sender('the sender with a way of its own', [0, 1]);
      stage.sender('the sender by the third bad way', [2, 3], third);
      for (const player of stage.players) player.start();
      await Promise.all(stage.players.map((player) => player.atWork()));
      const trouble = await cutAgainAndAgain();
      await allWakeAgain(workers);
      expect(stage.players.map(({ lives }) => lives)).toEqual(stage.players.map(() => 1));
      await stage.expectWhole(trouble);
    },
  );
});

async function cutAgainAndAgain(): Promise<string[]> {
  const random = seededRandom(CHAOS_SEED);
  const done: string[] = [];
  const begun = performance.now();
  while (performance.now() - begun < CHAOS_MS || !(await stage.isEnough())) {
    await pause(random() * LONGEST_PEACE_MS);
    const proxy = proxies[Math.floor(random() * proxies.length)];
    done.push(`${Math.round(performance.now() - begun)} ms: ${await cut(proxy, random)}`);
  }
  return done;
}

/** @returns what it did */
async function cut(proxy: UnreliableProxy | undefined, random: () => number): Promise<string> {
  const chance = random();
  if (proxy === undefined || chance < 0.1) return `the server cuts ${await cutConnections(url)} connections`;
  if (chance < 0.3) {
    proxy.cut();
    return 'a way is cut';
  }
  if (chance < 0.4) {
    proxy.refuse(true);
    proxy.cut();
    await pause(random() * LONGEST_REFUSAL_MS);
    proxy.refuse(false);
    return 'a way was closed for a while';
  }
  proxy.loseAnswerOf(1 + Math.floor(random() * FARTHEST_REQUEST));
  return 'an answer will be lost';
}
