/**
 * The disk of the server is full: what its tables are on, or all that it has, is a small file system of its own. Where
 * nothing can be mounted this is skipped, and counted as skipped.
 */
import { randomBytes } from 'node:crypto';
import { statfsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { ENOUGH_REFUSALS, expectInLogOnce, sendUntilFull } from '../../runtime/chaos-sending.ts';
import type { Sent } from '../../runtime/chaos-sending.ts';
import { ask } from '../../support/postgres-databases.ts';
import { giveToPrograms, programFolder } from '../../support/postgres-run.ts';
import { mountSmallDisk, unmount, whyNoSmallDisk } from '../../support/small-disk.ts';
import { chaosServer } from './chaos-setup.ts';
import type { ChaosServer } from './chaos-setup.ts';

/** Of which so much is left when the ballast is there: for all of a server less than its log wants at once. */
const SERVER_DISK = { bytes: 160_000_000, roomBytes: 6_000_000 };
const TABLES_DISK = { bytes: 40_000_000, roomBytes: 4_000_000 };
/** The server would make little of what repeats itself. */
const LARGE = randomBytes(75_000).toString('base64');
const LEASE_MS = 1_000;
/** A server that went down is not waited for: nobody starts it. */
const PATIENCE_MS = 200;
const POLL_MS = 20;

let setup: ChaosServer;
let disk: string;
let runtime: Runtime;

const mount = (folder: string, bytes: number): void => {
  disk = folder;
  expect(mountSmallDisk(folder, bytes)).toBeUndefined();
};

async function begin(roomBytes: number): Promise<void> {
  const { home, store } = setup.stage.place;
  runtime = await createNodeRuntime({
    home,
    ...(store === undefined ? {} : { store: { ...store, patienceMs: PATIENCE_MS } }),
  });
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - roomBytes));
}

async function end(): Promise<void> {
  await runtime.shutdown();
  await setup.server.stop('immediate');
  unmount(disk);
  await setup.close();
}

/** @param makeRoom when nothing goes any more @returns why the last thing was refused */
async function fillAndGoOn(makeRoom: () => Promise<void>): Promise<unknown> {
  const { stage } = setup;
  const [sessionId = ''] = stage.sessionIds;
  const workers = [stage.commandLineWorker(), stage.worker('the other worker')];
  for (const worker of workers) worker.start();
  await Promise.all(workers.map((worker) => worker.atWork()));
  const sent: Sent[] = [];
  const refusal = await sendUntilFull(runtime, sessionId, LARGE, sent);
  expect(sent.length).toBeGreaterThan(ENOUGH_REFUSALS);
  await makeRoom();
  await expectInLogOnce(stage.place, sessionId, sent);
  const text = 'There is space again.';
  const { eventId } = await runtime.sessions.send(sessionId, { type: 'user.message', text });
  sent.push({ eventId, text });
  // Nobody has started a worker again, and one of them reads it.
  while ((await runtime.sessions.get(sessionId)).pending.some(({ eventId: id }) => id === eventId))
    await pause(POLL_MS);
  await expectInLogOnce(stage.place, sessionId, sent);
  await stage.expectWhole([`${sent.length} were sent`]);
  return RuntimeError.is(refusal) && refusal.toJSON();
}

const removeBallast = (): Promise<void> => rm(join(disk, 'ballast'));

describe.skipIf(whyNoSmallDisk !== undefined)('a server whose tables have no space left', () => {
  beforeEach(async () => {
    setup = await chaosServer({ leaseMs: LEASE_MS });
    const folder = await programFolder(`tables-${setup.server.place.port}`);
    mount(folder, TABLES_DISK.bytes);
    await giveToPrograms(folder);
    await ask(setup.server.adminUrl(), `CREATE TABLESPACE small LOCATION '${folder}'`);
    await ask(setup.server.adminUrl(), `ALTER DATABASE ${new URL(setup.url).pathname.slice(1)} SET TABLESPACE small`);
    await begin(TABLES_DISK.roomBytes);
  });
  afterEach(async () => {
    await end();
    await rm(disk, { recursive: true, force: true });
  });

  it(
    'refuses what it cannot keep, and says why; its workers go on by themselves when there is space',
    { timeout: 180_000 },
    async () => {
      const refusal = await fillAndGoOn(removeBallast);
      expect(refusal).toMatchObject({
        code: 'STORAGE_FAILED',
        category: 'storage',
        hint: expect.stringContaining('disk is full'),
        details: { systemCode: '53100' },
      });
    },
  );
});

describe.skipIf(whyNoSmallDisk !== undefined)('a server that has no space left at all', () => {
  beforeEach(async () => {
    setup = await chaosServer({ leaseMs: LEASE_MS, beforeData: (folder) => mount(folder, SERVER_DISK.bytes) });
    await begin(SERVER_DISK.roomBytes);
  });
  afterEach(end);

  it(
    'may go down for it, has all that it acknowledged when it comes back, and its workers go on by themselves',
    { timeout: 180_000 },
    async () => {
      const refusal = await fillAndGoOn(async () => {
        await removeBallast();
        const isUp = await ask(setup.url, 'SELECT 1').then(
          () => true,
          () => false,
        );
        if (isUp) return;
        await setup.server.stop('immediate');
        await setup.server.start();
      });
      expect(refusal).toMatchObject({ code: 'STORAGE_FAILED', category: 'storage' });
    },
  );
});
