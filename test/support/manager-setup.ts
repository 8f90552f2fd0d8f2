/** A subagent manager over work that does what the test says, with records and logs in memory. */
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../src/actors/subagent/subagent-manager.ts';
import type { ManagedRunnerOptions } from '../../src/actors/subagent/subagent-manager-options.ts';
import { createMemoryLog, createMemoryRecords, createScriptedRunner } from './scripted-subagents.ts';
import type { MemoryLog, MemoryRecords, ScriptedRunner } from './scripted-subagents.ts';

export interface ManagerSetup {
  readonly clock: SimulatedClock;
  readonly runner: ScriptedRunner;
  readonly records: MemoryRecords;
  readonly log: MemoryLog;
  readonly reported: unknown[];
  readonly manager: SubagentManager;
}

const managers: SubagentManager[] = [];

/** `options.runner`, where it is given, is the one that runs the jobs. */
export function managerSetup(options: Partial<ManagedRunnerOptions> = {}): ManagerSetup {
  const clock = createSimulatedClock();
  const runner = createScriptedRunner();
  const records = createMemoryRecords();
  const log = createMemoryLog();
  const reported: unknown[] = [];
  const manager = new SubagentManager({
    runner,
    records,
    log,
    clock,
    onListenerError: (error) => reported.push(error),
    ...options,
  });
  managers.push(manager);
  return { clock, runner, records, log, reported, manager };
}

/** After each test. */
export async function closeManagers(): Promise<void> {
  await Promise.all(managers.splice(0).map((manager) => manager.shutdown()));
}
