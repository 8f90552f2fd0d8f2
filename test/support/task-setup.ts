/** A manager on a simulated clock with a manual runner for each kind, and everything it announced. */
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import type { BackgroundTaskManagerOptions } from '../../src/actors/task/task-manager-options.ts';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { BackgroundTaskEvent } from '../../src/machines/task/task-state.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { createManualRunner } from './manual-runner.ts';
import type { ManualRunner } from './manual-runner.ts';

export interface TaskSetup {
  readonly clock: SimulatedClock;
  readonly runner: ManualRunner<'process'>;
  readonly agents: ManualRunner<'agent'>;
  readonly schedules: ManualRunner<'scheduled'>;
  readonly manager: BackgroundTaskManager;
  readonly events: BackgroundTaskEvent[];
  /** The events so far, in short: `started(running)`. */
  readonly told: () => string[];
}

export function setUp(options: BackgroundTaskManagerOptions = {}): TaskSetup {
  const clock = createSimulatedClock();
  const runner = createManualRunner('process');
  const agents = createManualRunner('agent');
  const schedules = createManualRunner('scheduled');
  const manager = new BackgroundTaskManager({
    clock,
    runners: { process: runner, agent: agents, scheduled: schedules },
    ...options,
  });
  const events: BackgroundTaskEvent[] = [];
  manager.subscribe((event) => events.push(event));
  const told = (): string[] =>
    events.map(
      (event) => `${event.type.replace('background_task_', '')}${'task' in event ? `(${event.task.status})` : ''}`,
    );
  return { clock, runner, agents, schedules, manager, events, told };
}
