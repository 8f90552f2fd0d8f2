/** Shells over a process that does what the test says: what no real one does when it is asked to. */
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createShellTools } from '../../../src/actors/shell/shell-tools.ts';
import { TaskOutputFeed } from '../../../src/actors/shell/task-output-feed.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import type { ShellCommandReply } from '../../../src/machines/turn/shell/shell-results.ts';
import { createManualRunner, settled } from '../../support/manual-runner.ts';
import type { ManualWork } from '../../support/manual-runner.ts';
import { IDENTITY } from '../../support/session-events.ts';
import { nodeShellHost } from './shell-stage.ts';

interface ManualStage {
  readonly clock: SimulatedClock;
  readonly interrupts: number[];
  readonly work: () => ManualWork;
  readonly tasks: BackgroundTaskManager;
  call(name: string, input?: object, signal?: AbortSignal): Promise<unknown>;
  /** Lets the process put this out, with the nonces of the scripts it was given written as #1, #2 and so on. */
  put(text: string): void;
}

function openManualStage(): ManualStage {
  const clock = createSimulatedClock();
  const feed = new TaskOutputFeed();
  const runner = createManualRunner('process', { pid: 4711 });
  const tasks = new BackgroundTaskManager({ runners: { process: runner }, clock });
  const interrupts: number[] = [];
  const { tools } = createShellTools({
    tasks,
    feed,
    clock,
    host: {
      ...nodeShellHost,
      interrupt: (pid) => interrupts.push(pid),
      resolveInside: (workspace) => workspace,
      folderOfProcess: () => ({ kind: 'unknown' }),
    },
  });
  const work = (): ManualWork => {
    const last = runner.works.at(-1);
    if (last === undefined) throw new Error('nothing was started');
    return last;
  };
  return {
    clock,
    interrupts,
    work,
    tasks,
    async call(name, input = {}, signal = new AbortController().signal) {
      return tools
        .find(({ definition }) => definition.name === name)
        ?.run?.(input, { session: IDENTITY, callId: 'c', workspaceDirectory: '/workspace', signal });
    },
    put(text) {
      const nonces = work().inputs.flatMap(
        ({ stdin = '' }) => /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/.exec(stdin) ?? [],
      );
      const said = text.replaceAll(/#(\d)/g, (_, n: string) => nonces[Number(n) - 1] ?? 'missing');
      feed.take({ source: 'stdout', taskId: work().start.taskId, chunk: new TextEncoder().encode(said) });
    },
  };
}

async function opened(): Promise<ManualStage> {
  const stage = openManualStage();
  const opening = stage.call('shell_open');
  await settled();
  stage.put('\u{1e}#1 0 /workspace\0');
  await opening;
  return stage;
}

describe('a shell process', () => {
  it('is started with its input open, an allowed environment and no more', async () => {
    const { work } = await opened();
    expect(work().start.request).toMatchObject({
      kind: 'process',
      mode: 'background',
      cwd: '/workspace',
      parentSessionId: IDENTITY.sessionId,
      metadata: { shell: 'main' },
    });
    expect(Object.keys((work().start.request as { env: object }).env)).not.toContain('VITEST');
    expect(work().inputs.every(({ end }) => end === false)).toBe(true);
  });

  it('that does not answer when it is opened is ended', async () => {
    const { clock, call, work, tasks } = openManualStage();
    const opening = call('shell_open');
    await clock.advance(9_999);
    expect(work().isCancelled).toBe(false);
    work().onCancel = () => work().resolve({ signalCode: 'SIGTERM' });
    await Promise.all([
      expect(opening).rejects.toMatchObject({
        code: 'SHELL_NOT_OPENED',
        message: expect.stringContaining('did not answer within 10 seconds'),
      }),
      clock.advance(1),
    ]);
    expect([tasks.list(), clock.pendingTimers]).toEqual([[], 0]);
  });

  it('that does not answer a change of folder is ended, and nothing is taken to be so', async () => {
    const { clock, call } = await opened();
    const changing = call('shell_set_env', { name: 'A', value: '1' });
    await Promise.all([expect(changing).rejects.toMatchObject({ code: 'SHELL_CLOSED' }), clock.advance(10_000)]);
    expect(await call('shell_history')).toMatchObject({
      open: false,
      variables: [],
      entries: [{ status: 'shell_ended' }],
    });
  });

  it('is interrupted twice before it is ended, and what could not be ended is said', async () => {
    const { clock, call, put, work, interrupts } = await opened();
    const controller = new AbortController();
    const running = call('shell_exec', { command: 'x' }, controller.signal);
    await settled();
    put('half');
    work().onCancel = () => Promise.reject(new BackgroundTaskError('process', 'process 4712 is still running'));
    controller.abort('enough');
    const rejected = running.catch((error: unknown) => error);
    await settled();
    expect(interrupts).toEqual([4711]);
    await clock.advance(500);
    expect(interrupts).toEqual([4711, 4711]);
    await clock.advance(1_499);
    expect(work().isCancelled).toBe(false);
    await clock.advance(1);
    expect(await rejected).toBe('enough');
    expect(await call('shell_wait')).toMatchObject({
      output: 'half',
      exitCode: null,
      shellEnded: expect.stringMatching(/had to be ended.*could not be ended: process 4712 is still running/),
    });
  });

  it('that reports an end which an interrupt raced has it counted once, when both reports are there', async () => {
    const { call, put } = await opened();
    const controller = new AbortController();
    const running = call('shell_exec', { command: 'x' }, controller.signal);
    await settled();
    controller.abort('enough');
    const rejected = running.catch((error: unknown) => error);
    await settled();
    put('out\u{1e}#2 0 /workspace\0');
    await settled();
    await expect(call('shell_exec', { command: 'y' })).rejects.toMatchObject({ code: 'SHELL_BUSY' });
    put('\u{1e}#3 130 /workspace\0');
    expect(await rejected).toBe('enough');
    expect(await call('shell_history')).toMatchObject({ entries: [{ exitCode: 0, status: 'stopped' }] });
    const next = call('shell_exec', { command: 'y' });
    await settled();
    put('next\u{1e}#4 0 /workspace\0');
    expect((await next) as ShellCommandReply).toMatchObject({ output: 'next', exitCode: 0 });
  });

  it('that cannot be told anything is ended', async () => {
    const { call, tasks, work } = await opened();
    const { inputs } = work();
    Object.defineProperty(inputs, 'push', {
      value: () => {
        throw new Error('the pipe is broken');
      },
    });
    expect(await call('shell_exec', { command: 'x' })).toMatchObject({
      exitCode: null,
      shellEnded: expect.stringContaining('cancelled: it takes no input any more'),
    });
    expect(tasks.list()).toEqual([]);
  });
});
