/**
 * A disk that is really full: a small file system of its own as home. Where nothing can be mounted these tests are
 * skipped, and counted as skipped.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import { program, run } from '../cli/command-line.ts';
import { mountSmallDisk, unmount, whyNoSmallDisk } from '../support/small-disk.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { expectAtRest, expectEverythingOnce, readSessions } from './chaos-checks.ts';
import { ENOUGH_REFUSALS, expectInLogOnce, sendUntilFull } from './chaos-sending.ts';
import type { Sent } from './chaos-sending.ts';
import { Player } from './chaos-troupe.ts';

const DIST = new URL('../../dist/', import.meta.url).href;
const WORKER = fileURLToPath(new URL('../fixtures/processes/chaos-worker.mjs', import.meta.url));

const DISK_BYTES = 2_000_000;
/** Of which so much is taken by something that can be removed. */
const BALLAST_BYTES = 1_300_000;
const LARGE = 'x'.repeat(20_000);

let folder: TemporaryHome;
let home: string;

beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'disk');
  await mkdir(home);
});
afterEach(async () => {
  unmount(home);
  await folder.remove();
});

describe.skipIf(whyNoSmallDisk !== undefined)('a disk that is full', () => {
  let runtime: Runtime;
  let sessionId: string;
  const ballast = (): string => join(home, 'ballast');

  beforeEach(async () => {
    expect(mountSmallDisk(home, DISK_BYTES)).toBeUndefined();
    runtime = await createNodeRuntime({ home });
    await runtime.agents.create({
      agentId: 'player',
      source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
    });
    const steps = Array.from({ length: 60 }, (_, index) => ({
      text: `Step ${index}.`,
      toolCalls: [{ name: 'shell_run', input: { command: `echo s${index} >> effects` } }],
    }));
    await writeFile(
      join(home, 'agents/player/play.json'),
      JSON.stringify({ format: 'wakechart-script/1', steps: steps.flatMap((step) => [step, { text: 'So far.' }]) }),
    );
    ({ sessionId } = await runtime.sessions.create({ agentId: 'player' }));
    await writeFile(ballast(), Buffer.alloc(BALLAST_BYTES));
  });
  afterEach(() => runtime.shutdown());

  it('refuses what it cannot keep, clearly, keeps all that it acknowledged, and goes on when there is space', async () => {
    const sent: Sent[] = [];
    const refusal = await sendUntilFull(runtime, sessionId, LARGE, sent);
    expect(RuntimeError.is(refusal) && refusal.toJSON()).toMatchObject({
      code: 'STORAGE_FAILED',
      category: 'storage',
      hint: expect.stringContaining('disk is full'),
      details: { systemCode: 'ENOSPC' },
    });
    await sendUntilFull(runtime, sessionId, '', sent);
    expect(sent.length).toBeGreaterThan(ENOUGH_REFUSALS);
    await expectInLogOnce({ home }, sessionId, sent);
    for (const words of [
      ['session', 'events', '--session', sessionId, '--limit', '2'],
      ['session', 'list'],
      ['session', 'status', '--session', sessionId],
    ]) {
      expect(await run([...words, '--home', home])).toMatchObject({ code: 0 });
    }
    const send = await run(['session', 'send', '--session', sessionId, '--message', LARGE, '--home', home]);
    expect(send).toMatchObject({ code: 1, stdout: '' });
    expect(send.stderr).toMatch(/disk is full/);
    expect(send.stderr).not.toMatch(/\n\s+at /);
    await expect(runtime.wake(sessionId)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });

    await rm(ballast());
    await sendOne(sent);
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
    await expectInLogOnce({ home }, sessionId, sent);
    const [session] = await readSessions({ home });
    if (session === undefined) throw new Error('expected the session');
    expectEverythingOnce(session);
    expectAtRest(session);
  });

  it('lets two workers at once do nothing twice and come to the end when there is space', async () => {
    const place = { dist: DIST, home, leaseMs: 500 };
    const workers = [
      new Player('the worker of the command line', [program, 'worker', '--json', '--home', home], folder.path),
      new Player('the other worker', [WORKER, JSON.stringify(place)], folder.path),
    ];
    const sent: Sent[] = [];
    try {
      for (const worker of workers) worker.start();
      const other = (await runtime.sessions.create({ agentId: 'player' })).sessionId;
      const others: Sent[] = [];
      await Promise.all([
        sendUntilFull(runtime, sessionId, 'y'.repeat(5_000), sent),
        sendUntilFull(runtime, other, 'z'.repeat(5_000), others),
      ]);
      await Promise.all([expectInLogOnce({ home }, sessionId, sent), expectInLogOnce({ home }, other, others)]);
      await rm(ballast());
      await sendOne(sent);
      await restOf([sessionId, other]);
      await Promise.all([expectInLogOnce({ home }, sessionId, sent), expectInLogOnce({ home }, other, others)]);
      for (const session of await readSessions({ home })) {
        expectEverythingOnce(session);
        expectAtRest(session);
      }
      expect(workers.flatMap(({ unexpected }) => unexpected)).toEqual([]);
    } finally {
      await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
    }
  });

  async function sendOne(sent: Sent[]): Promise<void> {
    const text = 'There is space again.';
    const { eventId } = await runtime.sessions.send(sessionId, { type: 'user.message', text });
    sent.push({ eventId, text });
  }

  /** What failed on the full disk is tried again by itself, a few seconds later. */
  async function restOf(sessionIds: readonly string[]): Promise<void> {
    for (;;) {
      const states = await Promise.all(sessionIds.map((id) => runtime.sessions.get(id)));
      if (
        states.every(
          ({ status, pending, openWake }) => status === 'idle' && pending.length === 0 && openWake === undefined,
        )
      )
        return;
      await pause(50);
    }
  }
});
