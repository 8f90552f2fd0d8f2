/**
 * What worker processes do with durable schedules, however they die: over one home, and over one database that stands
 * behind several.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordsInEffect } from '../../src/machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../src/machines/schedule/slot-record.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { until } from '../cli/command-line.ts';

const script = fileURLToPath(new URL('./durable-process.mjs', import.meta.url));

export interface DurableSchedulesPlace {
  readonly runtime: NodeRuntime;
  /** A session that nobody wakes. */
  readonly sessionId: string;
  /** The homes of workers, one after the other. */
  readonly homes: readonly string[];
  /** Of the database, where it is not the home. */
  readonly url?: string | undefined;
  dispose(): Promise<void>;
}

let place: DurableSchedulesPlace;
let workers: ChildProcess[];

async function worker(crash: 'before-send' | 'after-send' | 'nowhere' = 'nowhere'): Promise<ChildProcess> {
  const [first = ''] = place.homes;
  const child = fork(
    script,
    [place.homes[workers.length % place.homes.length] ?? '', crash, place.url ?? '', join(first, 'hosts')],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  workers.push(child);
  // One that dies at its first slot may do so before it has started all.
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function sent(): Promise<number> {
  let count = 0;
  for await (const { type } of place.runtime.sessions.events(place.sessionId)) if (type === 'user.message') count += 1;
  return count;
}

/** The last record in effect of each slot, oldest first. */
async function slots(): Promise<ScheduleRecord[]> {
  const all: ScheduleRecord[] = [];
  const { schedules } = place.runtime;
  for await (const record of schedules.records(await schedules.definition('tick'))) all.push(record);
  const last = new Map(
    recordsInEffect(all).flatMap((record) => ('slot' in record ? [[record.slot, record] as const] : [])),
  );
  return [...last].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, record]) => record);
}

export function describeDurableSchedules(where: string, openPlace: () => Promise<DurableSchedulesPlace>): void {
  describe(`worker processes over ${where}`, () => {
    beforeEach(async () => {
      place = await openPlace();
      workers = [];
      const { sessionId } = place;
      await place.runtime.schedules.add({
        id: 'tick',
        cron: '* * * * * *',
        timezone: 'UTC',
        target: { kind: 'session', sessionId, text: 'Tick.' },
        catchUp: { all: 100 },
        overlap: 'queue',
      });
    });

    afterEach(async () => {
      await Promise.all(workers.map(kill));
      await place.dispose();
    });

    it('send each slot of a second once, though one of them is killed', async () => {
      const [one] = await Promise.all([worker(), worker()]);
      await until('three messages', async () => (await sent()) >= 3);
      if (one !== undefined) await kill(one);
      const before = await sent();
      await until('two messages more', async () => (await sent()) >= before + 2);
      await Promise.all(workers.map(kill));
      const records = await slots();
      const count = (type: ScheduleRecord['type']): number => records.filter((record) => record.type === type).length;
      // A claim that a killed worker left open was sent or not, once at most.
      const open = count('slot.claimed') + count('slot.interrupted');
      expect(await sent()).toBeGreaterThanOrEqual(count('slot.fired'));
      expect(await sent()).toBeLessThanOrEqual(count('slot.fired') + open);
      expect(open).toBeLessThanOrEqual(2);
      const seconds = records.flatMap((record) => ('slot' in record ? [Date.parse(record.slot) / 1_000] : []));
      expect(seconds).toEqual(Array.from(seconds, (_, index) => (seconds[0] ?? 0) + index));
    });

    it.each([
      ['before-send', 0],
      ['after-send', 1],
    ] as const)(
      'killed %s: the slot is not sent a second time, it is reported, and the schedule goes on',
      async (crash, sentByTheDead) => {
        const dead = await worker(crash);
        if (dead.signalCode === null) await once(dead, 'exit');
        expect(await sent()).toBe(sentByTheDead);
        const [first] = await slots();
        expect(first?.type).toBe('slot.claimed');
        await worker();
        await until('a message of the next worker', async () => (await sent()) > sentByTheDead + 1);
        await Promise.all(workers.map(kill));
        const [interrupted, ...others] = await slots();
        expect(interrupted).toMatchObject({ type: 'slot.interrupted' });
        const fired = others.filter(({ type }) => type === 'slot.fired').length;
        const open = others.length - fired;
        expect((await sent()) - sentByTheDead).toBeGreaterThanOrEqual(fired);
        expect((await sent()) - sentByTheDead).toBeLessThanOrEqual(fired + open);
      },
    );
  });
}
