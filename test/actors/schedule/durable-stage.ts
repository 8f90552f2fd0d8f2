/**
 * A home with durable schedules and a session on a simulated clock, and any number of workers over the same files, each
 * with commands that do what the test says.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { ScheduleRegistry } from '../../../src/actors/schedule/durable-registry.ts';
import { createDurableScheduleRunner } from '../../../src/actors/schedule/durable-runner.ts';
import { DurableSchedules } from '../../../src/actors/schedule/durable-schedules.ts';
import type { DurableSchedulesOptions, ScheduleTrouble } from '../../../src/actors/schedule/durable-schedules.ts';
import type { ScheduledSessions, ScheduleStates } from '../../../src/actors/schedule/durable-ports.ts';
import { createScheduledTaskRunner } from '../../../src/actors/schedule/scheduled-task-runner.ts';
import type { Sessions } from '../../../src/actors/session/sessions.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createFileScheduleStore } from '../../../src/adapters/schedule-files/file-schedule-store.ts';
import { createFileScheduleDefinitions } from '../../../src/adapters/schedule-files/schedule-definitions.ts';
import { createFileScheduleStates } from '../../../src/adapters/schedule-files/schedule-states.ts';
import type { NewSchedule, ScheduleDefinition } from '../../../src/machines/schedule/schedule-definition.ts';
import { recordsInEffect } from '../../../src/machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';
import { createManualRunner } from '../../support/manual-runner.ts';
import type { ManualRunner } from '../../support/manual-runner.ts';
import { openSetup } from '../../support/session-setup.ts';
import { MINUTE, START, cron } from './schedule-stage.ts';

export { MINUTE, START };

export interface Worker {
  readonly schedules: DurableSchedules;
  readonly tasks: BackgroundTaskManager;
  readonly commands: ManualRunner<'process'>;
  readonly troubles: ScheduleTrouble[];
  stop(): Promise<void>;
}

export interface WorkerOptions extends Partial<
  Pick<DurableSchedulesOptions, 'sessions' | 'environment' | 'checkIntervalMs' | 'owners' | 'endLeft'>
> {
  readonly maxConcurrent?: number;
}

export interface DurableStage {
  readonly clock: SimulatedClock;
  readonly directory: string;
  readonly registry: ScheduleRegistry;
  readonly states: ScheduleStates;
  readonly sessions: Sessions;
  readonly sessionId: string;
  worker(options?: WorkerOptions): Promise<Worker>;
  add(changes?: Partial<NewSchedule>): Promise<void>;
  /** The texts of the session's messages. */
  messages(): Promise<string[]>;
  /** What became of each slot, as `HH:MM type (reason or code)`. */
  outcomes(id?: string): Promise<string[]>;
  outcomesOf(definition: ScheduleDefinition): Promise<string[]>;
  file(id?: string): string;
  corrupt(id: string, content: string): Promise<void>;
  close(): Promise<void>;
}

export const commandTarget = { kind: 'command', command: 'true', cwd: '/' } as const;

export async function openDurableStage(): Promise<DurableStage> {
  const setup = await openSetup();
  const { clock, runtime } = setup;
  const { sessions } = runtime;
  const sessionId = await setup.session([]);
  const directory = join(setup.home, 'schedules');
  const definitions = createFileScheduleDefinitions({ directory });
  const states = createFileScheduleStates({ directory });
  const slots = createFileScheduleStore({ directory, durability: 'os' });
  const registry = new ScheduleRegistry({ definitions, states, slots, cron, clock });
  const workers: Worker[] = [];

  const records = async (definition: ScheduleDefinition): Promise<ScheduleRecord[]> => {
    const all: ScheduleRecord[] = [];
    for await (const record of registry.records(definition)) all.push(record);
    return recordsInEffect(all);
  };

  const worker = async (options: WorkerOptions = {}): Promise<Worker> => {
    const commands = createManualRunner('process');
    const troubles: ScheduleTrouble[] = [];
    const store = createFileScheduleStore({ directory, durability: 'os' });
    const runner = createDurableScheduleRunner(createScheduledTaskRunner({ clock, cron, store }));
    const { maxConcurrent = 4, ...more } = options;
    const tasks = new BackgroundTaskManager({
      runners: { process: commands, scheduled: runner },
      clock,
      maxConcurrent,
    });
    const schedules = new DurableSchedules({
      registry,
      tasks,
      runner,
      sessions,
      clock,
      cwd: '/',
      onTrouble: (trouble) => troubles.push(trouble),
      ...more,
    });
    const made: Worker = {
      schedules,
      tasks,
      commands,
      troubles,
      async stop() {
        await schedules.stop();
        await tasks.shutdown();
      },
    };
    workers.push(made);
    await schedules.start();
    return made;
  };

  return {
    clock,
    directory,
    registry,
    states,
    sessions,
    sessionId,
    worker,
    add: async (changes = {}) =>
      void (await registry.add({
        id: 'nightly',
        cron: '* * * * *',
        timezone: 'UTC',
        target: { kind: 'session', sessionId, text: 'Check.' },
        ...changes,
      })),
    async messages() {
      const texts: string[] = [];
      for await (const event of sessions.events(sessionId))
        if (event.type === 'user.message') texts.push(event.data.text);
      return texts;
    },
    outcomes: async (id = 'nightly') => outcomesOf(await records(await definitions.get(id))),
    outcomesOf: async (definition) => outcomesOf(await records(definition)),
    file: (id = 'nightly') => join(directory, 'definitions', `${id}.json`),
    corrupt: (id, content) => writeFile(join(directory, 'definitions', `${id}.json`), content),
    async close() {
      for (const each of workers) await each.stop();
      await setup.close();
    },
  };
}

export { until } from '../../support/session-setup.ts';

/** Rejects any message it is told to, as a session does; passes on the others. */
export function sessionsThat(refuse: () => Error | undefined, sessions: ScheduledSessions): ScheduledSessions {
  return {
    async send(sessionId, message, options) {
      const error = refuse();
      if (error !== undefined) throw error;
      return sessions.send(sessionId, message, options);
    },
  };
}

function outcomesOf(records: readonly ScheduleRecord[]): string[] {
  const last = new Map<string, string>();
  const time = (instant: string): string => instant.slice(11, 16);
  for (const record of records) {
    if (record.type === 'slots.missed') last.set(record.upTo, `up to ${time(record.upTo)} missed (${record.reason})`);
    if (!('slot' in record)) continue;
    const reason = 'reason' in record ? ` (${record.reason})` : 'error' in record ? ` (${record.error.code})` : '';
    last.set(record.slot, `${time(record.slot)} ${record.type.replace('slot.', '')}${reason}`);
  }
  return [...last].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, words]) => words);
}
