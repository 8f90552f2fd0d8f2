/** Turns "there is no such thing" into "there is no such thing; there is this". */
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { nextCommand, storeText } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { oneLine } from '../terminal/text.ts';

/** More names than these do not help. */
const MAX_SHOWN = 5;

const UNKNOWN_SESSION: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'SESSION_REQUEST_INVALID']);

/**
 * The error with a hint that names what exists; the error itself when it is about something else, or nothing can be
 * found out.
 */
export async function withSuggestions(
  error: unknown,
  context: CommandContext,
  stores: { readonly agents: AgentCatalog; readonly sessions?: Sessions },
): Promise<unknown> {
  if (!RuntimeError.is(error)) return error;
  try {
    if (error.code === 'AGENT_NOT_FOUND') return withHint(error, await agentHint(error, context, stores.agents));
    const { sessions } = stores;
    const isAboutSession = UNKNOWN_SESSION.has(error.code) && /\bsession id\b|there is no session/.test(error.message);
    return isAboutSession && sessions !== undefined ? withHint(error, await sessionHint(context, sessions)) : error;
  } catch {
    return error;
  }
}

const IN_CODE = ' One that a program gives in code is known with its config: --config FILE.';

async function agentHint(error: RuntimeError, context: CommandContext, agents: AgentCatalog): Promise<string> {
  const given = typeof error.details?.['agentId'] === 'string' ? error.details['agentId'] : '';
  const names = (await agents.list()).map(({ agentId }) => agentId);
  if (names.length === 0)
    return `There are no agents in ${context.home} yet. Make one:\n${nextCommand(context, 'agent', 'create', given || 'NAME')}`;
  const meant = closestName(given, names);
  const question = meant === undefined ? '' : `Did you mean "${meant}"? `;
  return `${question}Agents in ${context.home}: ${shown(names)}.${context.config === undefined ? IN_CODE : ''}`;
}

async function sessionHint(context: CommandContext, sessions: Sessions): Promise<string> {
  const states = await sessions.list();
  if (states.length === 0)
    return `There are no sessions in ${storeText(context)} yet. Make one:\n${nextCommand(context, 'session', 'create', '--agent', 'NAME')}`;
  const newest = states.slice(-MAX_SHOWN).reverse();
  const lines = newest.map(
    ({ sessionId, agentId, status, summary }) =>
      `${sessionId}  ${agentId}  ${status}${summary === undefined ? '' : `  ${oneLine(summary, 60)}`}`,
  );
  const older = states.length - newest.length;
  return [
    `Sessions in ${storeText(context)}, newest first:`,
    ...lines,
    ...(older === 0 ? [] : [`and ${older} more: ${nextCommand(context, 'session', 'list')}`]),
  ].join('\n');
}

function withHint(error: RuntimeError, hint: string): RuntimeError {
  const { code, message, category, details, recoverable } = error;
  return new RuntimeError(code, message, { category, hint, details, recoverable, cause: error });
}

function shown(names: readonly string[]): string {
  const listed = names.slice(0, MAX_SHOWN).join(', ');
  return names.length > MAX_SHOWN ? `${listed} and ${names.length - MAX_SHOWN} more` : listed;
}
