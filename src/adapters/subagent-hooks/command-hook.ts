/**
 * Executes hooks that are commands: in a shell, with what happened as JSON on the input, within a process tree that is
 * gone when the hook is over.
 *
 * Exit code 0 is consent, 2 a refusal, any other a failure; what the command wrote last on its error output says why.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../machines/errors.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import type { HookRun, HookTypeExecutor } from '../../actors/subagent/worktree-hooks.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';

export interface CommandHookOptions {
  readonly processTree: ProcessTree;
  /**
   * What the commands may inherit of: what programs need to find each other, and nothing else. Default: that of this
   * process.
   */
  readonly environment?: HostEnvironment | undefined;
  /** Default `/bin/sh`. */
  readonly shell?: string | undefined;
  /** Between SIGTERM and SIGKILL. Default 2000. */
  readonly killGraceMs?: number | undefined;
}

/** A definition is `{ type: 'command', command: 'npm ci' }`. */
export function createCommandHookExecutor({
  processTree,
  environment = process.env,
  shell = '/bin/sh',
  killGraceMs = DEFAULT_KILL_GRACE_MS,
}: CommandHookOptions): HookTypeExecutor {
  return async (run) => {
    const command = commandOf(run);
    run.signal.throwIfAborted();
    const tree = await processTree.prepare({
      taskId: run.input.tool_input.jobId,
      commandPreview: command,
    });
    const hook = new CommandHook({ run, command, tree, killGraceMs });
    const ended = await hook.run(() => {
      const {
        program,
        args,
        environment: env,
      } = tree.launch({
        program: shell,
        args: ['-c', command],
        cwd: run.cwd,
        environment: commandEnvironment(environment),
      });
      return spawn(program, [...args], { cwd: run.cwd, env, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
    });
    judge(ended, hook.complaint, command);
  };
}

const PREVIEW_CHARACTERS = 120;

/** Of what a command complains about, the end is what matters. */
const MAX_COMPLAINT_BYTES = 4_096;

const REFUSAL_CODE = 2;

type Child = ChildProcessByStdio<Writable, null, Readable>;

interface CommandEnd {
  readonly code: number | null;
  readonly signalCode: string | null;
}

interface CommandHookParts {
  readonly run: HookRun;
  readonly command: string;
  readonly tree: TrackedProcessTree;
  readonly killGraceMs: number;
}

class CommandHook {
  readonly #parts: CommandHookParts;
  #complaint = Buffer.alloc(0);

  constructor(parts: CommandHookParts) {
    this.#parts = parts;
  }

  /** What the command wrote last on its error output. The first character may have been cut. */
  get complaint(): string {
    return this.#complaint.toString('utf8').replaceAll('\uFFFD', '').trim();
  }

  /** Resolves when nothing of the command runs any more. */
  async run(start: () => Child): Promise<CommandEnd> {
    const { run, command, tree } = this.#parts;
    const onAbort = (): void => void this.#end().catch(() => undefined);
    try {
      const child = start();
      const exited = exitOf(child);
      // Bound in the turn of the spawn; a failure to note it leaves the tree findable by its mark.
      const attached = child.pid === undefined ? undefined : tree.attach(child.pid).catch(() => undefined);
      run.signal.addEventListener('abort', onAbort, { once: true });
      child.stderr.on('data', (chunk: Buffer) => this.#keep(chunk));
      child.stdin.on('error', () => undefined);
      child.stdin.end(`${JSON.stringify(run.input)}\n`);
      const end = await exited;
      await attached;
      return end;
    } catch (error) {
      throw new BackgroundTaskError(
        'process',
        `the hook command could not be started: ${command}: ${messageOf(error)}`,
        {
          code: 'SUBAGENT_HOOK_FAILED',
          hint: 'Check that its shell is there and that processes can be started.',
          cause: error,
        },
      );
    } finally {
      run.signal.removeEventListener('abort', onAbort);
      await this.#provenGone();
    }
  }

  #keep(chunk: Buffer): void {
    this.#complaint = Buffer.concat([this.#complaint, chunk]).subarray(-MAX_COMPLAINT_BYTES);
  }

  async #provenGone(): Promise<void> {
    try {
      await this.#end();
    } catch (error) {
      throw new BackgroundTaskError(
        'process',
        `something that the hook command started still runs: ${messageOf(error)}`,
        {
          code: 'SUBAGENT_HOOK_FAILED',
          hint: 'End it by hand; wakechart doctor says which processes are left.',
          details: { isRunning: true },
          cause: error,
        },
      );
    }
  }

  async #end(): Promise<void> {
    await this.#parts.tree.end({ graceMs: this.#parts.killGraceMs });
  }
}

function exitOf(child: Child): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signalCode) => resolve({ code, signalCode }));
  });
}

function judge({ code, signalCode }: CommandEnd, complaint: string, command: string): void {
  if (code === 0) return;
  const said = complaint === '' ? '' : `: ${complaint}`;
  if (code === REFUSAL_CODE) {
    throw new BackgroundTaskError('permission', `the hook command refused${said}`, {
      code: 'SUBAGENT_HOOK_REFUSED',
      details: { command: beginningOf(command, PREVIEW_CHARACTERS) },
    });
  }
  const how = code === null ? `was ended by ${signalCode ?? 'a signal'}` : `ended with exit code ${code}`;
  throw new BackgroundTaskError('process', `the hook command ${how}${said}`, {
    code: 'SUBAGENT_HOOK_FAILED',
    hint: 'Run the command by itself in a worktree of the repository and see what it says.',
    details: { command: beginningOf(command, PREVIEW_CHARACTERS), exitCode: code },
  });
}

function commandOf({ hook }: HookRun): string {
  const { command } = hook;
  if (typeof command === 'string' && command.trim() !== '') return command;
  throw new BackgroundTaskError(
    'validation',
    `a hook of type "command" needs a command, got ${JSON.stringify(command) ?? 'nothing'}`,
    { code: 'SUBAGENT_HOOKS_INVALID' },
  );
}
