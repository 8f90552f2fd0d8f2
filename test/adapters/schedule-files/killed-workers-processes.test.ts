/**
 * Workers over one home that are killed again and again: their slots are run by the others at once, and none that a
 * living one runs is taken for lost.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordsInEffect } from '../../../src/machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
const workers = new Set<ChildProcess>();
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all([...workers].map(end));
  // Ends what the last commands left running.
  await (await createNodeRuntime({ home: home.path })).shutdown();
  await home.remove();
});

const DIST = fileURLToPath(new URL('../../../dist/node.js', import.meta.url));

/** A process that runs the schedules of the home. Resolves when it does. */
async function worker(): Promise<ChildProcess> {
  const program = `
    const { createNodeRuntime } = await import(${JSON.stringify(DIST)});
    const runtime = await createNodeRuntime({ home: ${JSON.stringify(home.path)} });
    await runtime.startSchedules();
    process.stdout.write('ready');
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  workers.add(child);
  await once(child.stdout ?? child, 'data');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  workers.delete(child);
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  child.kill('SIGKILL');
  await exited;
}

async function ran(): Promise<string[]> {
  return (await readFile(join(home.path, 'ran'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
}

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function recorded(): Promise<ScheduleRecord[]> {
  await using runtime = await createNodeRuntime({ home: home.path, readsOnly: true });
  const all: ScheduleRecord[] = [];
  for await (const record of runtime.schedules.records(await runtime.schedules.definition('tick'))) all.push(record);
  return recordsInEffect(all);
}

async function add(command: string): Promise<void> {
  await using runtime = await createNodeRuntime({ home: home.path });
  await runtime.schedules.add({
    id: 'tick',
    cron: '* * * * * *',
    timezone: 'UTC',
    limits: { maxFailures: 1_000 },
    target: { kind: 'command', command, cwd: home.path },
  });
}

it('a slot is run right after the worker that had one in hand was killed', { timeout: 180_000 }, async () => {
  // It runs until it is ended, so each kill hits a run.
  await add('echo $$ >> ran; exec sleep 600');
  let [running, waiting] = [await worker(), await worker()];
  for (let kills = 1; kills <= 5; kills += 1) {
    await until(async () => (await ran()).length === kills);
    const { lastRun } = await (async () => {
      await using runtime = await createNodeRuntime({ home: home.path, readsOnly: true });
      return (await runtime.schedules.get('tick')).state;
    })();
    expect(lastRun?.outcome).toBe('running');
    const before = Date.now();
    // Whichever of them runs it.
    await end(running);
    if ((await ran()).length === kills) {
      const taken = await Promise.race([
        until(async () => (await ran()).length > kills).then(() => true),
        new Promise((resolve) => setTimeout(resolve, 5_000, false)),
      ]);
      if (taken === false) {
        await end(waiting);
        waiting = await worker();
        await until(async () => (await ran()).length > kills);
      }
    }
    // A minute was the silence after which the run of a killed worker was taken for dead.
    expect(Date.now() - before).toBeLessThan(50_000);
    [running, waiting] = [waiting, await worker()];
  }
});

it('no slot of a steady worker is taken for interrupted when others open the home', { timeout: 180_000 }, async () => {
  await add('echo $$ >> ran');
  await worker();
  while ((await ran()).length < 8) await end(await worker());
  const records = await recorded();
  const fired = new Set(records.flatMap((record) => (record.type === 'slot.fired' ? [record.slot] : [])));
  expect(records.filter((record) => record.type === 'slot.interrupted' && fired.has(record.slot))).toEqual([]);
});
