/**
 * The status of a schedule that workers share, in real files: what people ask of its registry, and what becomes of its
 * runs.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { ScheduleRegistry } from '../../../src/actors/schedule/durable-registry.ts';
import { createCronerPlan } from '../../../src/adapters/cron/croner-plan.ts';
import { createFileScheduleStore } from '../../../src/adapters/schedule-files/file-schedule-store.ts';
import { createFileScheduleDefinitions } from '../../../src/adapters/schedule-files/schedule-definitions.ts';
import { createFileScheduleStates } from '../../../src/adapters/schedule-files/schedule-states.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { durableScheduleMachine } from '../../../src/machines/schedule/durable-machine.ts';
import { beginRun, endRun } from '../../../src/machines/schedule/schedule-state.ts';
import type { RunOutcome } from '../../../src/machines/schedule/schedule-state.ts';
import type { ScheduleDefinition } from '../../../src/machines/schedule/schedule-definition.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const cron = createCronerPlan({ timezone: 'UTC' });
let home: TemporaryHome;
let homes = 0;
beforeAll(async () => {
  home = await temporaryHome();
});
afterAll(() => home.remove());

class Real implements RealSubject {
  readonly #clock = createSimulatedClock();
  readonly #directory: string;
  readonly #registry: ScheduleRegistry;
  readonly #definition: ScheduleDefinition;
  #runs = 0;

  private constructor(directory: string, registry: ScheduleRegistry, definition: ScheduleDefinition) {
    this.#directory = directory;
    this.#registry = registry;
    this.#definition = definition;
  }

  static async open(): Promise<Real> {
    const directory = join(home.path, String((homes += 1)));
    const clock = createSimulatedClock();
    const registry = new ScheduleRegistry({
      definitions: createFileScheduleDefinitions({ directory }),
      states: createFileScheduleStates({ directory }),
      slots: createFileScheduleStore({ directory, durability: 'os' }),
      cron,
      clock,
    });
    const definition = await registry.add({
      id: 'nightly',
      cron: '* * * * *',
      timezone: 'UTC',
      target: { kind: 'command', command: 'true', cwd: '/' },
      limits: { maxFailures: 1 },
    });
    return new Real(directory, registry, definition);
  }

  async state(): Promise<string> {
    return (await this.#registry.get('nightly')).state.status;
  }

  /** Whether the slots' own record has it paused, which is what the schedules of workers go by. */
  async isPausedInRecords(): Promise<boolean> {
    let isPaused = false;
    for await (const { type } of this.#registry.records(this.#definition))
      if (type === 'schedule.paused' || type === 'schedule.resumed') isPaused = type === 'schedule.paused';
    return isPaused;
  }

  /** @returns the code of the refusal */
  async ask(command: 'pause' | 'resume'): Promise<string | undefined> {
    return this.#registry[command]('nightly').then(
      () => undefined,
      (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
    );
  }

  end = (): Promise<void> => this.#registry.end(this.#definition, { code: 'GONE', message: 'what it is for is gone' });

  /** What a worker records of one run. */
  async run(outcome: RunOutcome): Promise<boolean> {
    this.#runs += 1;
    const slot = new Date(Date.UTC(2026, 0, 1, 0, this.#runs)).toISOString();
    const beginning = { slot, owner: 'model', at: new Date(this.#clock.now()).toISOString() };
    let hasBegun = false;
    await this.#registry.change(this.#definition, (state) => {
      const decision = beginRun(this.#definition, state, beginning);
      hasBegun = decision.kind === 'begins';
      return decision.state;
    });
    if (hasBegun)
      await this.#registry.change(this.#definition, (state) =>
        endRun(this.#definition, state, { ...beginning, outcome }),
      );
    return hasBegun;
  }

  close = (): Promise<void> => rm(this.#directory, { recursive: true });
}

const refusal = (isEnded: boolean): string | undefined => (isEnded ? 'SCHEDULE_ENDED' : undefined);

describeModel<object, Real>(
  'a durable schedule',
  {
    chart: durableScheduleMachine,
    facts: () => ({}),
    open: () => Real.open(),
    agree: async (real, model) => {
      if (!model.isOver) expect(await real.isPausedInRecords()).toBe(!model.is('active'));
    },
    commands: {
      pause: {
        tells: (model) => model.tell('PAUSE'),
        act: async (real, before) => expect(await real.ask('pause')).toBe(refusal(before.isOver)),
      },
      resume: {
        tells: (model) => model.tell('RESUME'),
        act: async (real, before) => expect(await real.ask('resume')).toBe(refusal(before.isOver)),
      },
      end: { tells: (model) => model.tell('END'), act: (real) => real.end() },
      'a run fails': {
        tells: (model) => {
          // Nothing runs that is not active, so nothing can fail.
          if (model.is('active')) model.tell('PARK');
        },
        act: async (real, before) => expect(await real.run('failed')).toBe(before.is('active')),
      },
      'a run completes': {
        tells: () => undefined,
        act: async (real, before) => expect(await real.run('completed')).toBe(before.is('active')),
      },
    },
  },
  { runs: 6, atMost: 150, maxCommands: 12 },
);
