import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { Clock, TimerHandle } from '../../../src/actors/clock/clock.ts';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { createScheduledTaskRunner } from '../../../src/actors/schedule/scheduled-task-runner.ts';
import type { BackgroundTaskHandle } from '../../../src/actors/task/task-runner.ts';
import { recordsInEffect } from '../../../src/machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';
import { backgroundTaskRequest } from '../../../src/machines/task/task-request.ts';
import type { CatchUpPolicy, OverlapPolicy, ScheduledTaskRequest } from '../../../src/machines/task/task-request.ts';
import { settled } from '../../support/manual-runner.ts';
import { scheduledRequest } from '../../support/task-requests.ts';
import { HOUR, MINUTE, ManualChildren, START, cron } from './schedule-stage.ts';

interface Plan {
  readonly cronExpression: string;
  readonly timezone: string;
}

interface Settings {
  readonly plan: Plan;
  readonly overlap: OverlapPolicy;
  readonly catchUp: CatchUpPolicy;
}

type Step =
  | { readonly do: 'pass' | 'jump' | 'down' | 'crash'; readonly ms: number }
  | { readonly do: 'end' | 'refuse' | 'pause' | 'resume' | 'beside' };

/**
 * What one run of the schedule touches. After `kill` nothing it does reaches the world: so a process ends under
 * SIGKILL.
 */
class Mortal {
  readonly children = new ManualChildren();
  readonly handle: BackgroundTaskHandle;
  readonly owner: string;
  #isDead = false;

  constructor(world: World, owner: string) {
    this.owner = owner;
    const never = new Promise<never>(() => undefined);
    const clock: Clock = {
      now: () => world.clock.now(),
      steadyNow: () => world.clock.steadyNow(),
      setTimeout: (callback, delayMs): TimerHandle =>
        world.clock.setTimeout(() => (this.#isDead ? undefined : callback()), delayMs),
      clearTimeout: (handle) => world.clock.clearTimeout(handle),
    };
    const store: ScheduleStore = {
      load: (scheduleId) => (this.#isDead ? never : world.store.load(scheduleId)),
      append: (scheduleId, records) => (this.#isDead ? never : world.store.append(scheduleId, records)),
      records: (scheduleId) => world.store.records(scheduleId),
    };
    const { plan, overlap, catchUp } = world.settings;
    const request = backgroundTaskRequest.parse(
      scheduledRequest({ scheduleId: 'nightly', ...plan, overlap, catchUp }),
    ) as ScheduledTaskRequest;
    const runner = createScheduledTaskRunner({
      clock,
      cron,
      store,
      owners: { newOwner: () => owner, isAlive: async (other) => world.isAlive(other) },
      limits: { maxLine: 3, maxNamedMissed: 5 },
    });
    const { children } = this;
    this.handle = runner.start({
      taskId: owner,
      request,
      children,
      emit: () => undefined,
      signal: new AbortController().signal,
    }) as BackgroundTaskHandle;
  }

  kill(): void {
    this.#isDead = true;
  }
}

class World {
  readonly clock = createSimulatedClock({ now: START });
  readonly store = createMemoryScheduleStore();
  readonly settings: Settings;
  readonly runs: Mortal[] = [];
  #live: Mortal[] = [];

  constructor(settings: Settings) {
    this.settings = settings;
  }

  async start(): Promise<void> {
    const run = new Mortal(this, `run_${this.runs.length + 1}`);
    this.runs.push(run);
    this.#live.push(run);
    await settled();
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'pass':
        return this.clock.advance(step.ms);
      case 'jump':
        this.clock.jumpWallClock(step.ms);
        return this.clock.advance(MINUTE);
      case 'down':
        await this.stop();
        await this.clock.advance(step.ms);
        return this.start();
      case 'crash':
        for (const run of this.#live) run.kill();
        this.#live = [];
        await this.clock.advance(step.ms);
        return this.start();
      case 'beside':
        return this.#live.length < 3 ? this.start() : undefined;
      case 'end':
        for (const run of this.#live) run.children.all.at(-1)?.end();
        return settled();
      case 'refuse':
        for (const { children } of this.#live)
          children.onSpawn = () => (children.all.length % 2 === 0 ? undefined : Promise.reject(new Error('no slot')));
        return undefined;
      case 'pause':
      case 'resume': {
        const command = step.do;
        await Promise.all(this.#live.map(async (run) => run.handle[command]?.()));
        return undefined;
      }
      default:
        throw new Error(`unknown step ${JSON.stringify(step satisfies never)}`);
    }
  }

  isAlive(owner: string): boolean {
    return this.#live.some((run) => run.owner === owner);
  }

  async stop(): Promise<void> {
    const stopping = this.#live;
    this.#live = [];
    await Promise.all(stopping.map(async (run) => run.handle.cancel()));
  }

  async records(): Promise<ScheduleRecord[]> {
    const all: ScheduleRecord[] = [];
    for await (const record of this.store.records('nightly')) all.push(record);
    return recordsInEffect(all);
  }
}

function nominalSlots({ cronExpression, timezone }: Plan, untilMs: number): string[] {
  const times = cron.read({ cronExpression, timezone });
  const slots: string[] = [];
  for (let at = times.next(START); at !== undefined && at <= untilMs; at = times.next(at))
    slots.push(new Date(at).toISOString());
  return slots;
}

const settings: fc.Arbitrary<Settings> = fc.record({
  plan: fc.record({
    cronExpression: fc.constantFrom(
      '* * * * *',
      '*/7 * * * *',
      '0,5,30 * * * *',
      '17 */2 * * *',
      '*/20 * * * * *',
      '30 1,3 * * *',
    ),
    timezone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'),
  }),
  overlap: fc.constantFrom<OverlapPolicy>('skip', 'queue', 'cancel-previous'),
  catchUp: fc.oneof(
    fc.constantFrom<CatchUpPolicy>('none', 'latest'),
    fc.integer({ min: 1, max: 4 }).map((all) => ({ all })),
  ),
});

const milliseconds = fc.oneof(fc.integer({ min: 1, max: 3 * MINUTE }), fc.integer({ min: MINUTE, max: HOUR }));
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom('pass', 'pass', 'down', 'crash', 'jump'), ms: milliseconds }) as fc.Arbitrary<Step>,
    fc.record({
      do: fc.constantFrom('end', 'end', 'end', 'refuse', 'pause', 'resume', 'resume', 'beside'),
    }) as fc.Arbitrary<Step>,
  ),
  { maxLength: 25 },
);

async function live(given: Settings, story: readonly Step[]): Promise<World> {
  const world = new World(given);
  await world.start();
  for (const step of story) await world.take(step);
  // The last start settles what the end of the story left open.
  await world.take({ do: 'down', ms: 10 * MINUTE });
  await world.stop();
  return world;
}

describe('whatever a schedule goes through', () => {
  it('every slot has one outcome, and none is forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(settings, steps, async (given, story) => {
        const world = await live(given, story);
        const records = await world.records();
        const decisions = new Map<string, string[]>();
        for (const record of records) {
          if (!('slot' in record) || record.type === 'slot.queued') continue;
          if (record.type === 'slot.claimed' || record.type === 'slot.skipped' || record.type === 'slot.missed')
            decisions.set(record.slot, [...(decisions.get(record.slot) ?? []), record.type]);
        }
        const inLine = new Set(records.flatMap((record) => (record.type === 'slot.queued' ? [record.slot] : [])));
        const spans = records.filter((record) => record.type === 'slots.missed');
        for (const slot of nominalSlots(given.plan, world.clock.now())) {
          const own = decisions.get(slot)?.length ?? 0;
          const covered = spans.filter(({ after, upTo }) => slot > after && slot <= upTo).length;
          const count = own > 0 ? own : covered > 0 ? covered : inLine.has(slot) ? 1 : 0;
          expect(`${slot} ${count}`).toBe(`${slot} 1`);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('no slot fires twice, none that is not in the plan, and none before its time', async () => {
    await fc.assert(
      fc.asyncProperty(settings, steps, async (given, story) => {
        const world = await live(given, story);
        const fired = world.runs.flatMap((run) => run.children.slots);
        const nominal = new Set(nominalSlots(given.plan, world.clock.now()));
        expect(new Set(fired).size).toBe(fired.length);
        expect(fired.filter((slot) => !nominal.has(slot))).toEqual([]);
        const records = await world.records();
        const claims = records.filter((record) => record.type === 'slot.claimed');
        expect(claims.filter((claim) => claim.at < claim.slot)).toEqual([]);
        expect(fired.filter((slot) => !claims.some((claim) => claim.slot === slot))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('one run never has two fires at a time, leaves no timer, and no fire', async () => {
    await fc.assert(
      fc.asyncProperty(settings, steps, async (given, story) => {
        const world = await live(
          given,
          story.filter((step) => step.do !== 'crash'),
        );
        for (const { children } of world.runs) {
          expect(children.mostRunning).toBeLessThanOrEqual(1);
          expect(children.running).toBe(0);
        }
        expect(world.clock.pendingTimers).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});
