/**
 * The process behind a persistent shell: a task of the task manager that is fed scripts and says when each of them has
 * ended.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { EndMarkReader } from '../../machines/turn/shell/end-mark.ts';
import type { CommandEnd } from '../../machines/turn/shell/end-mark.ts';
import { ExportReportReader } from '../../machines/turn/shell/export-report.ts';
import type { ExportedVariables } from '../../machines/turn/shell/export-report.ts';
import { endReport } from '../../machines/turn/shell/shell-script.ts';
import type { IdSource } from '../session/id-source.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import { shellDidNotOpen } from './shell-errors.ts';
import type { ProcessFolder, ShellHost } from './shell-host.ts';
import type { TaskOutputChunk, TaskOutputFeed } from './task-output-feed.ts';

export type ShellTasks = Pick<BackgroundTaskManager, 'spawn' | 'wait' | 'cancel' | 'close' | 'send' | 'get'>;

export interface ShellProcessPorts {
  readonly tasks: ShellTasks;
  readonly feed: TaskOutputFeed;
  readonly host: Pick<ShellHost, 'interrupt' | 'folderOfProcess' | 'programInside' | 'processesBeside'>;
  readonly ids: IdSource;
}

export interface ShellProcessRequest {
  readonly name: string;
  readonly sessionId: string;
  readonly cwd: string;
  /** The command line that becomes the shell: SHELL_START_COMMAND, or what runs that in a sandbox. */
  readonly command: string;
  /** Whether the shell is in a sandbox that its process keeps. */
  readonly isShutIn: boolean;
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Takes the output of a script. */
export interface OutputSink {
  /** Copies what it keeps. */
  append(bytes: Uint8Array): void;
}

/** How the process ended: by itself, with a code or a signal, or for a reason the task manager gives. */
export interface ProcessEnd {
  readonly exitCode?: number | undefined;
  readonly signalCode?: string | undefined;
  readonly reason?: string | undefined;
  /** What could not be ended, in words. */
  readonly leftOver?: string | undefined;
}

export interface ScriptAnswer extends Pick<CommandEnd, 'exitCode' | 'cwd'> {
  /** What is exported now; undefined where the shell does not say, or it cannot be read. */
  readonly exported: ExportedVariables | undefined;
}

export type ScriptEnd =
  | { readonly kind: 'answered'; readonly end: ScriptAnswer }
  | { readonly kind: 'gone'; readonly end: ProcessEnd };

export class ShellProcess {
  /** Resolves when the process and everything it left running are gone. */
  readonly gone: Promise<ProcessEnd>;
  readonly #ports: ShellProcessPorts;
  readonly #taskId: string;
  readonly #reader = new EndMarkReader();
  readonly #reports = new ExportReportReader();
  /** An end that has come, whose report is on its way. */
  #awaited: CommandEnd | undefined;
  readonly #isShutIn: boolean;
  #inside: ReturnType<ShellHost['programInside']>;
  #output: OutputSink | undefined;
  #onEnd: ((end: ScriptEnd) => void) | undefined;
  #end: ProcessEnd | undefined;

  /** @throws RuntimeError SHELL_NOT_OPENED */
  static async start(
    ports: ShellProcessPorts,
    { name, sessionId, cwd, command, isShutIn, environment }: ShellProcessRequest,
  ): Promise<ShellProcess> {
    try {
      const task = await ports.tasks.spawn({
        kind: 'process',
        label: `shell ${name}`,
        // So that its input stays open.
        mode: 'background',
        command,
        cwd,
        env: { ...environment },
        parentSessionId: sessionId,
        // The output is heard as it comes; what the task would keep of it would never be read.
        outputLimitBytes: 0,
        metadata: { shell: name },
      });
      const started = new ShellProcess(ports, task.id, isShutIn);
      if (task.status !== 'queued') return started;
      await started.end('it did not get a slot');
    } catch (error) {
      throw shellDidNotOpen(name, messageOf(error), error);
    }
    throw shellDidNotOpen(name, 'all slots for tasks are taken');
  }

  private constructor(ports: ShellProcessPorts, taskId: string, isShutIn: boolean) {
    const { tasks, feed } = ports;
    this.#ports = ports;
    this.#taskId = taskId;
    this.#isShutIn = isShutIn;
    const stopListening = feed.listen(taskId, (chunk, source) => this.#take(chunk, source));
    this.gone = tasks
      .wait(taskId)
      .then(
        ({ exitCode, signalCode }): ProcessEnd => ({ exitCode, signalCode }),
        (error: unknown): ProcessEnd => ({ reason: messageOf(error), leftOver: leftOverOf(error) }),
      )
      .then((end) => {
        stopListening();
        this.#output?.append(this.#reader.takeHeld());
        this.#end = end;
        this.#settle({ kind: 'gone', end });
        // The history of the shell says what there is to say; a record kept here would stay for ever.
        tasks.close(taskId).catch(() => undefined);
        return end;
      });
  }

  /**
   * Resolves when the script has answered, or cannot any more. One at a time. `output` gets what comes until then, and
   * later what comes from work that was left running, until the next script.
   */
  run(script: (nonce: string) => string, output: OutputSink): Promise<ScriptEnd> {
    if (this.#end !== undefined) return Promise.resolve({ kind: 'gone', end: this.#end });
    const nonce = this.#ports.ids.next();
    this.#output = output;
    this.#reader.expect(nonce);
    this.#reports.expect();
    this.#awaited = undefined;
    const ended = new Promise<ScriptEnd>((resolve) => {
      this.#onEnd = resolve;
    });
    this.#tell(script(nonce));
    return ended;
  }

  /**
   * Interrupts what runs in the foreground. The signal goes to all of the group: to the command, or, if that has just
   * ended, to the shell as it reports the end. So it is asked to report once more, and the end is when it has: then
   * nothing is on its way any more that could hit the next command.
   */
  interrupt(): void {
    const found = this.#shell();
    if (found === undefined || this.#onEnd === undefined) return;
    this.#ports.host.interrupt(found.group);
    const nonce = this.#ports.ids.next();
    this.#reader.expectAlso(nonce);
    this.#tell(endReport(nonce));
  }

  /** The folder it is in now. */
  folder(): ProcessFolder {
    const found = this.#shell();
    return found === undefined ? { kind: 'unknown' } : this.#ports.host.folderOfProcess(found.processId);
  }

  /** How many processes run in it besides the shell itself. */
  running(): number {
    const pid = this.#ports.tasks.get(this.#taskId)?.pid;
    return pid === undefined ? 0 : this.#ports.host.processesBeside(pid, { isShutIn: this.#isShutIn });
  }

  /** Ends the process and everything that it started. Resolves when it is gone. */
  async end(reason: string): Promise<void> {
    // It may have ended in between; `gone` knows.
    await this.#ports.tasks.cancel(this.#taskId, reason).catch(() => undefined);
    await this.gone;
  }

  /**
   * The process of the shell itself, and the group that it leads or is led in. An interrupt of what keeps its sandbox
   * would end it.
   */
  #shell(): ReturnType<ShellHost['programInside']> {
    const pid = this.#ports.tasks.get(this.#taskId)?.pid;
    if (pid === undefined) return undefined;
    if (!this.#isShutIn) return { processId: pid, group: pid };
    this.#inside ??= this.#ports.host.programInside(pid);
    return this.#inside;
  }

  #tell(script: string): void {
    // A shell that cannot be told anything is of no use; mostly it is just ending.
    this.#ports.tasks
      .send(this.#taskId, { stdin: script, end: false })
      .catch(() => this.end('it takes no input any more'));
  }

  #take(chunk: Uint8Array, source: TaskOutputChunk['source']): void {
    if (source === 'stderr') return this.#takeReport(chunk);
    const { before, end, after } = this.#reader.push(chunk);
    for (const bytes of before) this.#output?.append(bytes);
    if (end !== undefined) this.#answer(end);
    if (after !== undefined) this.#output?.append(after);
  }

  #takeReport(chunk: Uint8Array): void {
    const rest = this.#reports.push(chunk);
    if (rest.length > 0) this.#output?.append(rest);
    if (this.#awaited !== undefined) this.#answer(this.#awaited);
  }

  /** The report was made before the end, and comes on a way of its own: it may still be on it. */
  #answer(end: CommandEnd): void {
    const exported = end.report === undefined ? undefined : this.#reports.report(end.report);
    this.#awaited = exported === 'pending' ? end : undefined;
    if (exported === 'pending') return;
    this.#settle({ kind: 'answered', end: { exitCode: end.exitCode, cwd: end.cwd, exported } });
  }

  #settle(end: ScriptEnd): void {
    const settle = this.#onEnd;
    this.#onEnd = undefined;
    settle?.(end);
  }
}

function leftOverOf(error: unknown): string | undefined {
  const leftOver = RuntimeError.is(error) ? error.details?.['leftOver'] : undefined;
  return typeof leftOver === 'string' ? leftOver : undefined;
}
