/** Opens a whole runtime over a home for one command: what it starts ends with the command, whatever ends that. */
import { messageOf } from '../../machines/errors.ts';
import { createNodeRuntime } from '../../node/node-runtime.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import type { NodeRuntimeOptions } from '../../node/runtime-options.ts';
import type { CommandContext } from '../context.ts';
import { makeHome } from '../home.ts';
import { runtimeStore } from './store.ts';
import { taskKiller } from './kill-tasks.ts';
import { reconciledTexts } from './reconciled-text.ts';
import { withSuggestions } from './suggestions.ts';

/**
 * Opens a runtime, lets `work` use it, and shuts it down. `work` ends early at the first signal; a second one kills
 * what still runs.
 */
export async function withRuntime<Result>(
  context: CommandContext,
  work: (runtime: NodeRuntime) => Promise<Result>,
  options: Pick<NodeRuntimeOptions, 'maxConcurrentTasks' | 'humans' | 'onStoreNews'> = {},
): Promise<Result> {
  const { home, err, interruption } = context;
  await makeHome(home);
  const warn = (text: string): void => void err.push(`${err.styles.yellow('note:')} ${text}\n`);
  const runtime = await createNodeRuntime({
    ...options,
    home,
    ...runtimeStore(context),
    reconcileOnStart: false,
    onListenerError: (error) => warn(messageOf(error)),
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
