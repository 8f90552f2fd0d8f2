/** Runs the hooks of worktrees, one after the other, each within its time. */
import { messageOf } from '../../machines/errors.ts';
import { plannedHooks } from '../../machines/subagent/hook-config.ts';
import type {
  HookDefinition,
  PlannedHooks,
  WorktreeHookEvent,
  WorktreeHookFunction,
  WorktreeHookInput,
  WorktreeHooks,
} from '../../machines/subagent/hook-config.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';

export interface HookRun {
  readonly hook: HookDefinition;
  readonly input: WorktreeHookInput;
  /** The folder to run in. */
  readonly cwd: string;
  /** Aborted when the time is up or no caller waits any more. */
  readonly signal: AbortSignal;
}

/**
 * Executes the hooks of one type. Settles when nothing of the hook runs any more. @throws whatever says that the hook
 * failed
 */
export type HookTypeExecutor = (run: HookRun) => unknown;

type HookTypeExecutors = Readonly<Record<string, HookTypeExecutor>>;

export interface WorktreeHooksOptions {
  readonly hooks: WorktreeHooks;
  readonly executors: HookTypeExecutors;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

export interface FiredHooks {
  readonly input: WorktreeHookInput;
  readonly cwd: string;
  /** Aborting it gives up on those that have not ended. */
  readonly signal?: AbortSignal | undefined;
}

/** How long a hook that is to stop may take to do so before it counts as running still. */
const STOP_GRACE_MS = 10_000;

const EXECUTE_FUNCTION: HookTypeExecutor = ({ hook, input, signal }) =>
  (hook['run'] as WorktreeHookFunction)(input, { signal });

export class WorktreeHookRunner {
  readonly #options: WorktreeHooksOptions;
  readonly #planned: PlannedHooks;

  /** @throws BackgroundTaskError category `validation` for hooks that make no sense */
  constructor(options: WorktreeHooksOptions) {
    this.#options = options;
    this.#planned = plannedHooks(options.hooks, Object.keys(options.executors));
  }

  has(event: WorktreeHookEvent): boolean {
    return this.#planned[event].length > 0;
  }

  /**
   * Runs those of the input's event. The first that fails is the last that runs.
   * @throws BackgroundTaskError SUBAGENT_HOOK_FAILED, SUBAGENT_HOOK_TIMEOUT, SUBAGENT_HOOK_STOPPED, or what an executor
   * throws on purpose; with `isRunning` in the details when the hook has not ended
   */
  async fire(fired: FiredHooks): Promise<void> {
    for (const hook of this.#planned[fired.input.hook_event_name]) await this.#run(hook, fired);
  }

  async #run(hook: HookDefinition, { input, cwd, signal }: FiredHooks): Promise<void> {
    const name = `the ${input.hook_event_name} hook of type "${hook.type}"`;
    if (signal?.aborted === true)
      throw hookError('SUBAGENT_HOOK_STOPPED', `${name} was not run: its job is to stop`, {});
    const { clock } = this.#options;
    const timeoutMs = hook.timeoutMs ?? this.#options.timeoutMs;
    const execute = this.#executorOf(hook);
    const abort = new AbortController();
    const ended = (async (): Promise<void> => {
      await execute({ hook, input, cwd, signal: abort.signal });
    })();
    const end = await waitFor(ended, { clock, timeoutMs, signal });
    if (end === 'over') {
      await ended.catch((thrown: unknown) => {
        throw BackgroundTaskError.from(asFailure(thrown, name), 'runner');
      });
      return;
    }
    const stopped =
      end === 'timed_out'
        ? timedOut(name, timeoutMs)
        : hookError('SUBAGENT_HOOK_STOPPED', `${name} was stopped: its job is to stop`, {});
    abort.abort(stopped.message);
    if ((await waitFor(ended, { clock, timeoutMs: STOP_GRACE_MS })) === 'over') throw stopped;
    throw hookError(stopped.code, `${stopped.message}, and it has not ended`, { isRunning: true });
  }

  #executorOf({ type }: HookDefinition): HookTypeExecutor {
    const { executors } = this.#options;
    return Object.hasOwn(executors, type) ? (executors[type] ?? EXECUTE_FUNCTION) : EXECUTE_FUNCTION;
  }
}

function timedOut(name: string, timeoutMs: number): BackgroundTaskError {
  return new BackgroundTaskError('timeout', `${name} did not end within ${timeoutMs} ms`, {
    code: 'SUBAGENT_HOOK_TIMEOUT',
    hint: 'Make it quicker, or raise its timeoutMs.',
    details: { timeoutMs },
  });
}

function hookError(code: string, message: string, details: Readonly<Record<string, unknown>>): BackgroundTaskError {
  return new BackgroundTaskError(code === 'SUBAGENT_HOOK_TIMEOUT' ? 'timeout' : 'runner', message, { code, details });
}

/** Errors that executors make on purpose say what happened; others get the name of the hook. */
function asFailure(thrown: unknown, name: string): unknown {
  if (thrown instanceof BackgroundTaskError) return thrown;
  return new BackgroundTaskError('runner', `${name} failed: ${messageOf(thrown)}`, {
    code: 'SUBAGENT_HOOK_FAILED',
    hint: 'Mend the hook: run it by itself in a worktree of the repository.',
    cause: thrown,
  });
}
