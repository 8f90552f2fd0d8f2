/** The sessions of a home as an inspector looks at them: from a runtime that runs nothing, wakes nobody and puts nothing right. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { createNodeRuntime } from '../../node.ts';
import type { OpenedSource } from './commands/inspect.ts';
import { checkedSessionId } from './commands/session.ts';
import { nextCommand } from './context.ts';
import type { CommandContext } from './context.ts';
import { checkHome, isHomeThere } from './home.ts';
import { withSuggestions } from './suggestions.ts';
import { printable } from './text.ts';

/** @param session that has to be there @throws RuntimeError HOME_INVALID, HOME_NOT_FOUND, SESSION_NOT_FOUND, STORAGE_FAILED; a usage error */
export async function openedHome(context: CommandContext, session: string | undefined): Promise<OpenedSource> {
  const { home, err } = context;
  await checkHome(home);
  if (!(await isHomeThere(home))) {
    throw new RuntimeError('HOME_NOT_FOUND', `expected a home to look at; there is nothing at ${home}`, { category: 'not_found', hint: `Name it with --home DIR, or see one at work: ${nextCommand({ ...context, isHomeGiven: false }, 'demo', '--inspect')}` });
  }
  const warn = (error: unknown): void => void err.push(`${err.styles.yellow('note:')} ${printable(messageOf(error))}\n`);
  const runtime = await createNodeRuntime({ home, reconcileOnStart: false, onListenerError: warn });
  try {
    if (session !== undefined) await runtime.sessions.status(checkedSessionId(session));
    const { createHomeSource } = await import('../../node-inspector.ts');
    const source = createHomeSource(runtime, { title: home, notes: () => [nobodyWakes(context)], onProblem: warn });
    return {
      source,
      async close() {
        source.close();
        await runtime.shutdown();
      },
    };
  } catch (error) {
    const told = await withSuggestions(error, context, runtime);
    await runtime.shutdown();
    throw told;
  }
}

/** Whoever answers on the page expects that something happens. */
function nobodyWakes(context: CommandContext): string {
  return `Nothing runs here: what is answered is stored, and a session goes on when something wakes it, such as: ${nextCommand(context, 'worker')}`;
}
