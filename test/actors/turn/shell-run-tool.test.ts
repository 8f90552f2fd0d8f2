import { describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createShellRunTool } from '../../../src/actors/turn/shell-run-tool.ts';
import type { ToolContext } from '../../../src/actors/turn/tool.ts';
import { readToolInput } from '../../../src/machines/turn/tool-schema.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import { shellRunDefinition } from '../../../src/machines/turn/shell-run.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import type { ManualRunner } from '../../support/manual-runner.ts';
import { IDENTITY, SESSION_ID } from '../../support/session-events.ts';

const context = (signal: AbortSignal = new AbortController().signal): ToolContext => ({
  session: IDENTITY,
  callId: 'call_1',
  workspaceDirectory: '/workspace',
  signal,
});

function openTasks(): { tasks: BackgroundTaskManager; processes: ManualRunner<'process'> } {
  const processes = createManualRunner('process');
  return {
    processes,
    tasks: new BackgroundTaskManager({ runners: { process: processes }, clock: createSimulatedClock() }),
  };
}

describe('shell_run', () => {
  it('runs its command as a process task of the session, and keeps no record of it', async () => {
    const { tasks, processes } = openTasks();
    const running = createShellRunTool(tasks).run({ command: 'make', timeoutMs: 5 }, context());
    await settled();
    expect(processes.works[0]?.start.request).toMatchObject({
      kind: 'process',
      mode: 'foreground',
      command: 'make',
      label: 'make',
      cwd: '/workspace',
      parentSessionId: SESSION_ID,
      metadata: { callId: 'call_1' },
    });
    processes.works[0]?.resolve({ output: 'made', exitCode: 2 });
    expect(await running).toEqual({ output: 'made', exitCode: 2, signalCode: null });
    expect(tasks.list()).toEqual([]);
  });

  it.each([
    [5, 5],
    [undefined, 600_000],
  ])('ends a command whose time of %s ms is up, and has what it put out until then', async (timeoutMs, limitMs) => {
    const clock = createSimulatedClock();
    const { tasks, processes } = openTasks();
    const running = createShellRunTool(tasks, { clock }).run({ command: 'make', timeoutMs }, context());
    await clock.advance(limitMs - 1);
    const [work] = processes.works;
    if (work === undefined) throw new Error('nothing was started');
    expect(work.cancelReasons).toEqual([]);
    work.onCancel = async () => {
      work.resolve({ output: 'half', signalCode: 'SIGTERM' });
      await work.result;
    };
    await clock.advance(1);
    expect(await running).toEqual({ output: 'half', exitCode: null, signalCode: 'SIGTERM', timedOut: true });
    expect(work.cancelReasons).toEqual([`it ran longer than ${limitMs} ms`]);
    expect([tasks.list(), clock.pendingTimers]).toEqual([[], 0]);
  });

  it('does not call it a matter of time when something could not be ended', async () => {
    const clock = createSimulatedClock();
    const { tasks, processes } = openTasks();
    const running = createShellRunTool(tasks, { clock }).run({ command: 'make', timeoutMs: 5 }, context());
    await clock.advance(0);
    const [work] = processes.works;
    if (work === undefined) throw new Error('nothing was started');
    work.onCancel = () => Promise.reject(new BackgroundTaskError('process', 'process 7 is still running'));
    await Promise.all([expect(running).rejects.toThrow('process 7 is still running'), clock.advance(5)]);
  });

  it('fails with the task, and keeps no record of it either', async () => {
    const { tasks, processes } = openTasks();
    const running = createShellRunTool(tasks).run({ command: 'make' }, context());
    await settled();
    processes.works[0]?.reject(new BackgroundTaskError('timeout', 'it took too long'));
    await expect(running).rejects.toThrow('it took too long');
    expect(tasks.list()).toEqual([]);
  });

  it('is over only when its process has stopped', async () => {
    const { tasks, processes } = openTasks();
    const controller = new AbortController();
    let isOver = false;
    const running = createShellRunTool(tasks)
      .run({ command: 'make' }, context(controller.signal))
      .catch(() => {
        isOver = true;
      });
    await settled();
    let release: () => void = () => undefined;
    const [work] = processes.works;
    if (work === undefined) throw new Error('nothing was started');
    work.onCancel = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    controller.abort('enough');
    await settled();
    expect([work.cancelReasons, isOver]).toEqual([['enough'], false]);
    release();
    await running;
    expect(isOver).toBe(true);
  });

  it('starts nothing when it was stopped before', async () => {
    const { tasks, processes } = openTasks();
    await expect(createShellRunTool(tasks).run({ command: 'make' }, context(AbortSignal.abort('enough')))).rejects.toBe(
      'enough',
    );
    expect(processes.works).toEqual([]);
  });

  it.each<[unknown, RegExp]>([
    [{}, /command: expected string, received undefined/],
    [{ command: '' }, /command/],
    [{ command: 'x', timeoutMs: 0 }, /timeoutMs/],
    [{ command: 'x', timeoutMs: 3_600_001 }, /timeoutMs/],
    [{ command: 'x', cwd: '' }, /cwd/],
    [{ command: 'a\0b' }, /command: expected text without NUL/],
    [{ command: 'x', dir: '/' }, /Unrecognized key: "dir"/],
    ['ls', /not valid JSON: they break at character 1 of 2, after ""\./],
    ['"ls"', /expected object, received string/],
    [
      '{"command":"echo a',
      /not valid JSON: they end at character 18, after "\{\\"command\\":\\"echo a", before they are complete; perhaps the limit of output/,
    ],
    ['{"command":"ls"', /they end at character 15/],
    ['{"command":', /they end at character 11/],
    ['{"command": ls}', /they break at character 13 of 15/],
    [null, /expected object, received null/],
  ])('does not take %j for input', (input, pattern) => {
    const reading = readToolInput(shellRunDefinition, input);
    expect(reading.ok ? '' : reading.reason).toMatch(pattern);
  });
});
