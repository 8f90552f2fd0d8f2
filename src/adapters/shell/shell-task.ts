/**
 * One running command: how it ends, and what is left of it then.
 *
 * The command may end by itself, be cancelled, or run out of time; whichever comes first is what happened. In each case
 * its process tree is ended and proven gone, the rest of its output is read, and only then does `result` settle.
 */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { BackgroundTaskHandle } from '../../actors/task/task-runner.ts';
import type { EndedProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type {
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskResult,
} from '../../machines/task/task-state.ts';
import type { ShellInput } from './shell-input.ts';
import type { ShellOutput } from './shell-output.ts';
import type { ProcessExit, ShellProcess } from './shell-spawn.ts';
import type { TaskLog } from './task-log.ts';

export interface ShellTaskParts {
  readonly taskId: string;
  readonly process: ShellProcess;
  readonly tree: TrackedProcessTree;
  readonly log: TaskLog;
  readonly input: ShellInput;
  readonly output: ShellOutput;
  readonly clock: Clock;
  /** 0: no limit. */
  readonly timeoutMs: number;
  readonly killGraceMs: number;
  /** How long descendants may outlive the command before they are ended. */
  readonly lingerMs: number;
}

/** Why the command is being stopped before its own end. */
type Stop = { readonly kind: 'cancelled'; readonly reason: string } | { readonly kind: 'timed_out' };

/** Between attempts to end what could not be ended, in real time. */
const RETRY_MS = 5000;

export class ShellTask implements BackgroundTaskHandle {
  readonly taskId: string;
  readonly pid: number;
  readonly result: Promise<BackgroundTaskResult>;
  readonly #log: TaskLog;
  readonly #input: ShellInput;
  /** Everything else, until the task is over: a record that is kept for long must not keep buffers. */
  #live: ShellTaskParts | undefined;
  readonly #timer: TimerHandle | undefined;
  #stop: Stop | undefined;
  #hasExited = false;
  /** A caller waits for the end, and no longer for what a slow listener has not heard yet. */
  #isHurried = false;
  #onStop: (() => void) | undefined;
  readonly #stopRequested = new Promise<void>((resolve) => {
    this.#onStop = resolve;
  });
  /** Ends the wait before the next attempt. */
  #retryNow: (() => void) | undefined;

  constructor(parts: ShellTaskParts) {
    this.taskId = parts.taskId;
    this.pid = parts.process.pid;
    this.#log = parts.log;
    this.#input = parts.input;
    this.#live = parts;
    this.#timer =
      parts.timeoutMs > 0
        ? parts.clock.setTimeout(() => this.#requestStop(parts, { kind: 'timed_out' }), parts.timeoutMs)
        : undefined;
    this.result = this.#run(parts).finally(() => {
      this.#live = undefined;
    });
    // A caller that waits for it hears of a failure; none has to.
    this.result.catch(() => undefined);
  }

  get logPath(): string | undefined {
    return this.#log.path;
  }

  /**
   * Resolves when the tree is proven gone and the result is there. @throws BackgroundTaskError category `process`
   * naming who is left
   */
  async cancel(reason = 'no reason given'): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    this.#isHurried = true;
    this.#requestStop(live, { kind: 'cancelled', reason });
    await live.tree.end({ graceMs: live.killGraceMs });
    this.#retryNow?.();
    await this.result.catch((error: unknown) => {
      // A hidden process was found late, and could not be ended. How the work itself failed is for those who wait for
      // the result.
      if (error instanceof BackgroundTaskError && error.category === 'process') throw error;
    });
  }

  /** @throws BackgroundTaskError category `validation` for input that is no stdin, and as ShellInput.write does */
  async send({ stdin, end }: BackgroundTaskInput): Promise<void> {
    if (stdin === undefined && end !== true) {
      throw new BackgroundTaskError('validation', `task ${this.taskId} is a process and takes stdin only`, {
        hint: 'Send { stdin: text }.',
      });
    }
    await this.#input.write(stdin ?? '', { end: end ?? true });
  }

  readLog(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    return this.#log.page(cursor);
  }

  async #run(parts: ShellTaskParts): Promise<BackgroundTaskResult> {
    const { process, clock, output, input, log } = parts;
    try {
      const exited = this.#watchExit(process);
      await Promise.race([exited, this.#stopRequested]);
      clock.clearTimeout(this.#timer);
      const { ended } = this.#hasExited ? await this.#endLeftovers(parts) : await this.#endStopped(parts);
      const exit = await exited;
      await this.#readRest(parts);
      if (this.#stop?.kind === 'timed_out') throw timeoutError(parts, exit);
      // Before the result is made: it takes in what the streams held back, and knows the log's place only when its file
      // is open.
      await output.close();
      await log.finish();
      return this.#resultOf(parts, exit, ended);
    } finally {
      input.close('the process has ended');
      await output.close();
      await log.finish();
    }
  }

  /** What comes first, the end or a request to stop, is what happened. */
  async #watchExit(process: ShellProcess): Promise<ProcessExit> {
    const exit = await process.exited;
    if (this.#stop === undefined) this.#hasExited = true;
    return exit;
  }

  #requestStop({ input, log, timeoutMs }: ShellTaskParts, stop: Stop): void {
    if (this.#hasExited || this.#stop !== undefined) return;
    this.#stop = stop;
    this.#isHurried = true;
    input.refuse('the process is being stopped');
    log.system(stop.kind === 'cancelled' ? `cancelled: ${stop.reason}` : `timed out after ${timeoutMs} ms`);
    this.#onStop?.();
  }

  /** The command has ended by itself: so must whatever it started. */
  async #endLeftovers({ tree, lingerMs, killGraceMs, log, input }: ShellTaskParts): Promise<EndedProcessTree> {
    input.close('the process has ended');
    const report = await tree.end({ lingerMs, graceMs: killGraceMs });
    if (report.ended > 0) log.system(`the command ended and left ${counted(report.ended)} running; ended`);
    return report;
  }

  async #endStopped(parts: ShellTaskParts): Promise<EndedProcessTree> {
    for (;;) {
      try {
        return await parts.tree.end({ graceMs: parts.killGraceMs });
      } catch (error) {
        if (this.#stop?.kind === 'timed_out') throw timeoutError(parts, {}, error);
        // The cancelling caller has been told. The result stays open, for it says that nothing is left.
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, RETRY_MS).unref();
          this.#retryNow = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    }
  }

  /** The tree is gone, so the pipes should end; a process that is in no way related to it may hold them. */
  async #readRest({ output, tree, log, killGraceMs }: ShellTaskParts): Promise<void> {
    const isHurried = (): boolean => this.#isHurried;
    if (await output.settle(isHurried)) return;
    const { ended } = await tree.end({ graceMs: killGraceMs, includeOutputHolders: true });
    if (ended > 0) log.system(`${counted(ended)} held the output open after the command; ended`);
    if (!(await output.settle(isHurried)))
      log.system('the output is held open by a process that cannot be found; it is not read any further');
  }

  #resultOf(
    { output, log }: ShellTaskParts,
    { exitCode, signalCode }: ProcessExit,
    endedProcesses: number,
  ): BackgroundTaskResult {
    const metadata = {
      ...(output.head.isTruncated ? { outputBytes: output.head.totalBytes, outputTail: output.tail.toString() } : {}),
      ...(endedProcesses > 0 && this.#hasExited ? { endedProcesses } : {}),
    };
    return {
      taskId: this.taskId,
      output: output.head.toString(),
      exitCode,
      signalCode,
      logPath: log.path,
      metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    };
  }
}

function counted(processes: number): string {
  return processes === 1 ? '1 process' : `${processes} processes`;
}

function timeoutError(
  { taskId, timeoutMs }: ShellTaskParts,
  { exitCode, signalCode }: ProcessExit,
  leftOver?: unknown,
): BackgroundTaskError {
  const left = leftOver instanceof BackgroundTaskError ? leftOver : undefined;
  return new BackgroundTaskError(
    'timeout',
    `task ${taskId} ran longer than ${timeoutMs} ms${left === undefined ? '' : `; ${left.message}`}`,
    {
      code: 'TASK_TIMED_OUT',
      hint: left?.hint ?? 'Raise timeoutMs, or split the work.',
      details: { timeoutReason: 'max_runtime', timeoutMs, exitCode, signalCode, ...left?.details },
      cause: leftOver,
    },
  );
}
