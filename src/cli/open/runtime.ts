/** Opens a whole runtime over a home for one command: what it starts ends with the command, whatever ends that. */
import type { BackgroundTaskManager } from '../../actors/task/background-task-manager.ts';
import { messageOf } from '../../machines/errors.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import { createNodeRuntime } from '../../node/node-runtime.ts';
import type { NodeRuntimeOptions } from '../../node/runtime-options.ts';
import type { CommandContext } from '../context.ts';
import { makeHome } from '../home.ts';
import { reconciledTexts } from './reconciled-text.ts';
import { runtimeStore } from './store.ts';
import { withSuggestions } from './suggestions.ts';

// Ends the commands of a task manager without asking them: those that run, and those of which it turns out a moment
// later that they do.

/**
 * What is left of a process group after this shows within a moment, and its task's own end follows. Calling it again
 * does no harm.
 */
export function taskKiller(tasks: Pick<BackgroundTaskManager, 'list' | 'subscribe'>): () => void {
  const killed = new Set<number>();
  const killNew = (): void => {
    for (const { pid } of tasks.list({ kind: 'process', status: 'running' })) {
      if (pid === undefined || killed.has(pid)) continue;
      killed.add(pid);
      killGroup(pid);
    }
  };
  let isWatching = false;
  return () => {
    killNew();
    // A command runs before it is known as which process: its task says so when it is.
    if (!isWatching) tasks.subscribe(killNew);
    isWatching = true;
  };
}

/** Ends the process group that `pid` leads, without asking it. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/**
 * Opens a runtime, lets `work` use it, and shuts it down. `work` ends early at the first signal; a second one kills
 * what still runs.
 */
export async function withRuntime<Result>(
  context: CommandContext,
  work: (runtime: NodeRuntime) => Promise<Result>,
  {
    note,
    ...options
  }: Pick<NodeRuntimeOptions, 'maxConcurrentTasks' | 'humans' | 'onStoreNews'> & {
    /** Where notes go. Default: to standard error. */
    readonly note?: (text: string, error?: unknown) => void;
  } = {},
): Promise<Result> {
  const { home, err, interruption } = context;
  await makeHome(home);
  const warn =
    note ?? ((text: string, _error?: unknown): void => void err.push(`${err.styles.yellow('note:')} ${text}\n`));
  const runtime = await createNodeRuntime({
    ...options,
    home,
    ...runtimeStore(context),
    reconcileOnStart: false,
    onListenerError: (error) => warn(messageOf(error), error),
  });
  const release = interruption.guard(taskKiller(runtime.tasks));
  try {
    // What waits for a person is no news.
    const waiting = (await runtime.worktrees?.list().catch(() => undefined))
      ?.filter(({ status }) => status === 'preserved')
      .map(({ id }) => id);
    for (const text of reconciledTexts(await runtime.reconcile(), { context, known: new Set(waiting) })) warn(text);
    return await work(runtime);
  } catch (error) {
    throw await withSuggestions(error, context, runtime);
  } finally {
    await runtime.shutdown();
    release();
  }
}
