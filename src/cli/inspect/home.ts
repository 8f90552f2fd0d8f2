/**
 * The sessions of a home as an inspector shows them: from a runtime that runs nothing, wakes no session and puts
 * nothing right.
 */
import { learnedSecrets, notesOnSecrets } from '../../actors/inspection/learned-secrets.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { createNodeRuntime } from '../../node/node-runtime.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import { checkedSessionId } from '../session/session.ts';
import { nextCommand, storeText } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { checkHome, isHomeThere } from '../home.ts';
import { runtimeStore } from '../open/store.ts';
import { NO_SECRETS_KNOWN } from './opened-source.ts';
import type { InspectedSecrets, OpenedSource } from './opened-source.ts';
import { withSuggestions } from '../open/suggestions.ts';
import { printable } from '../terminal/text.ts';

/**
 * @param session that has to be there @throws RuntimeError HOME_INVALID, HOME_NOT_FOUND, SESSION_NOT_FOUND,
 * STORAGE_FAILED; a usage error
 */
export async function openedHome(context: CommandContext, session: string | undefined): Promise<OpenedSource> {
  const { runtime, onProblem } = await idleRuntime(context);
  try {
    if (session !== undefined) await runtime.sessions.status(checkedSessionId(session));
    const secrets = await secretsOf(runtime, onProblem);
    const { createHomeSource } = await import('../../node/inspector.ts');
    const source = createHomeSource(runtime, {
      title: storeText(context),
      notes: () => [wakesNothing(context), ...notesOnSecrets(secrets.unknownSecrets)],
      onProblem,
    });
    return {
      source,
      ...secrets,
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

/**
 * What the home knows of secrets, for what comes from elsewhere. Without a home nothing is known. @throws RuntimeError
 * HOME_NOT_FOUND for one that was named, HOME_INVALID
 */
export async function secretsOfHome(context: CommandContext): Promise<InspectedSecrets> {
  if (context.store === undefined && !context.isHomeGiven && !(await isHomeThere(context.home)))
    return NO_SECRETS_KNOWN;
  const { runtime, onProblem } = await idleRuntime(context);
  try {
    return await secretsOf(runtime, onProblem);
  } finally {
    await runtime.shutdown();
  }
}

interface IdleRuntime {
  readonly runtime: NodeRuntime;
  readonly onProblem: (error: unknown) => void;
}

async function idleRuntime(context: CommandContext): Promise<IdleRuntime> {
  const { home, err } = context;
  await checkHome(home);
  if (context.store === undefined && !(await isHomeThere(home))) {
    throw new RuntimeError('HOME_NOT_FOUND', `expected a home to check; there is nothing at ${home}`, {
      category: 'not_found',
      hint: `Name it with --home DIR, or see one at work: ${nextCommand({ ...context, isHomeGiven: false }, 'demo', '--inspect')}`,
    });
  }
  const onProblem = (error: unknown): void =>
    void err.push(`${err.styles.yellow('note:')} ${printable(messageOf(error))}\n`);
  return {
    runtime: await createNodeRuntime({
      home,
      ...runtimeStore(context),
      reconcileOnStart: false,
      readsOnly: true,
      onListenerError: onProblem,
    }),
    onProblem,
  };
}

async function secretsOf(
  { inspection }: Pick<NodeRuntime, 'inspection'>,
  onProblem: (error: unknown) => void,
): Promise<InspectedSecrets> {
  return { redact: inspection.redact, unknownSecrets: await learnedSecrets(inspection, onProblem) };
}

/** A person who answers on the page expects that something happens. */
function wakesNothing(context: CommandContext): string {
  return `This inspector wakes nothing: what is answered is stored, and a session goes on when a worker or a wake takes it, such as: ${nextCommand(context, 'worker')}`;
}
