/**
 * What processes that share a schedule do, however they race and die: for each place where schedules are kept. They run
 * the built package.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScheduleStore } from '../../src/actors/schedule/schedule-store.ts';
import { recordsInEffect } from '../../src/machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../src/machines/schedule/slot-record.ts';
import { recordsOf } from '../actors/schedule/schedule-store-contract.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const KILLS = 4;
const script = fileURLToPath(new URL('./schedule-process.mjs', import.meta.url));

export interface SharedSchedulePlace {
  /** A directory, or the URL of a database. */
  readonly place: string;
  readonly store: ScheduleStore;
  dispose(): Promise<void>;
}

let root: string;
let processes: ChildProcess[];
let shared: SharedSchedulePlace;

async function startProcess(name: string, startMs: number, catchUp: unknown = 'latest'): Promise<ChildProcess> {
  const child = fork(script, [shared.place, join(root, 'fires'), name, String(startMs), JSON.stringify(catchUp)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  processes.push(child);
  await once(child, 'message');
  return child;
}

async function advance(child: ChildProcess, untilMs: number): Promise<void> {
  child.send({ untilMs });
  await once(child, 'message');
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const slotsBetween = (fromMs: number, toMs: number): string[] =>
  Array.from({ length: (toMs - fromMs) / MINUTE }, (_, index) => new Date(fromMs + (index + 1) * MINUTE).toISOString());

const firedSlots = (): string[] =>
  readFileSync(join(root, 'fires'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' ')[0] ?? '');

async function someFired(count: number): Promise<void> {
  while (firedSlots().length < count) await new Promise((resolve) => setImmediate(resolve));
}

/** The last record in effect of each slot. */
async function outcomes(): Promise<Map<string, ScheduleRecord>> {
  const records = await recordsOf(shared.store, 'shared');
  return new Map(
    recordsInEffect(records).flatMap((record) => ('slot' in record ? [[record.slot, record] as const] : [])),
  );
}

/** @param open an empty place; `directory` is one that is not there yet */
export function describeSharedSchedule(where: string, open: (directory: string) => Promise<SharedSchedulePlace>): void {
  describe(`processes that share a schedule ${where}`, () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'shared-schedule-'));
      processes = [];
      writeFileSync(join(root, 'fires'), '');
      shared = await open(join(root, 'store'));
    });
    afterEach(async () => {
      await Promise.all(processes.map(kill));
      await shared.dispose();
      rmSync(root, { recursive: true, force: true });
    });

    it('fire every slot once between them, however they race', async () => {
      const end = START + 60 * MINUTE;
      const racers = await Promise.all(['a', 'b', 'c'].map((name) => startProcess(name, START)));
      await Promise.all(racers.map((racer) => advance(racer, end)));
      expect(firedSlots().toSorted()).toEqual(slotsBetween(START, end));
      expect([...(await outcomes()).keys()].toSorted()).toEqual(slotsBetween(START, end));
    });

    it('fire no slot twice and lose none without a record when they are killed at any moment', async () => {
      let now = START;
      const racers = await Promise.all(['a', 'b'].map((name) => startProcess(name, START)));
      for (let round = 0; round < KILLS; round += 1) {
        const end = now + 15 * MINUTE;
        const [victim, survivor] = racers;
        if (victim === undefined || survivor === undefined) throw new Error('there are two');
        const before = firedSlots().length;
        victim.send({ untilMs: end });
        const survived = advance(survivor, end);
        // At another moment of the race in each round.
        await someFired(before + round * 3);
        await kill(victim);
        await survived;
        now = end;
        racers.splice(0, 2, survivor, await startProcess(`round_${round}`, now));
      }
      const seen = firedSlots();
      expect(new Set(seen).size).toBe(seen.length);
      let byOutcome = await outcomes();
      const inDoubt = (): number => [...byOutcome.values()].filter(({ type }) => type === 'slot.interrupted').length;
      // A fire that a living process is about to report was in doubt for the one that started just then.
      while (inDoubt() > KILLS) byOutcome = await outcomes();
      expect([...byOutcome.keys()].toSorted()).toEqual(slotsBetween(START, now));
      // Only what was cut off between claim and report stays in doubt, and it is said to be.
      expect(
        seen.filter(
          (slot) => byOutcome.get(slot)?.type !== 'slot.fired' && byOutcome.get(slot)?.type !== 'slot.interrupted',
        ),
      ).toEqual([]);
      const undecided = [...byOutcome.values()].filter(
        ({ type }) => type !== 'slot.fired' && type !== 'slot.interrupted',
      );
      expect(undecided).toEqual([]);
    });

    it('account for every slot of the time when none of them ran', async () => {
      await kill(await startProcess('first', START));
      const back = START + 30 * MINUTE;
      const racers = await Promise.all(['a', 'b'].map((name) => startProcess(name, back, { all: 10 })));
      // A catch-up fires one after another, and live slots that meet it are skipped: let it be over, the report of its
      // last fire included.
      await someFired(10);
      const reported = async (): Promise<number> =>
        [...(await outcomes()).values()].filter(({ type }) => type === 'slot.fired').length;
      while ((await reported()) < 10);
      await Promise.all(racers.map((racer) => advance(racer, back + 5 * MINUTE)));
      const byOutcome = await outcomes();
      expect([...byOutcome.keys()].toSorted()).toEqual(slotsBetween(START, back + 5 * MINUTE));
      expect([...byOutcome.values()].filter(({ type }) => type === 'slot.missed')).toHaveLength(20);
      expect(firedSlots().toSorted()).toEqual(slotsBetween(START + 20 * MINUTE, back + 5 * MINUTE));
    });
  });
}
