/** `wakechart session create | list | send | status`: commands that make sessions, send into them and say where they stand. */
import { RuntimeError } from '../../../machines/errors.ts';
import { sessionId } from '../../../machines/ids.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_MESSAGE_CHARACTERS } from '../../../machines/session/limits.ts';
import type { SessionState } from '../../../machines/session/session-state.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { placesOf } from '../places.ts';
import { withSessions } from '../stores.ts';
import type { SessionStore } from '../stores.ts';
import { fieldLines, tableLines } from '../table.ts';
import { counted, localTime, printable } from '../text.ts';
import { usageError } from '../usage.ts';
import { checkedAgentName } from './agent.ts';

export async function createSession(context: CommandContext, agent: string): Promise<number> {
  const { out, json } = context;
  const agentId = checkedAgentName(agent);
  await withSessions(context, async ({ sessions, layout }) => {
    const state = await sessions.create({ agentId });
    if (json) return out.document(withPlaces(state, layout));
    await out.line(`${out.styles.green('Created')} session ${out.styles.bold(state.sessionId)} of agent ${agentId}`);
    await out.line(`Next: ${nextCommand(context, 'session', 'send', '--session', state.sessionId, '--message', 'Hello.')}`);
  });
  return EXIT_SUCCESS;
}

export async function listSessions(context: CommandContext): Promise<number> {
  const { out, json, home } = context;
  const sessions = await withSessions(context, (stores) => stores.sessions.list());
  if (json) await out.document({ sessions });
  else if (sessions.length === 0) await out.line(`No sessions in ${home} yet. Make one: ${nextCommand(context, 'session', 'create', '--agent', 'NAME')}`);
  else {
    const rows = sessions.map((state) => [state.sessionId, state.agentId, statusText(state), state.updatedAt === undefined ? '' : localTime(state.updatedAt), state.summary ?? '']);
    for (const line of tableLines(['SESSION', 'AGENT', 'STATUS', 'UPDATED', 'SUMMARY'], rows, out)) await out.line(line);
  }
  return EXIT_SUCCESS;
}

export interface SendOptions {
  readonly session: string;
  readonly message: string;
  readonly idempotencyKey: string | undefined;
}

export async function sendMessage(context: CommandContext, { session, message, idempotencyKey }: SendOptions): Promise<number> {
  const { out, json } = context;
  checkLength('--message', message, MAX_MESSAGE_CHARACTERS);
  if (idempotencyKey !== undefined) checkLength('--idempotency-key', idempotencyKey, MAX_IDEMPOTENCY_KEY_CHARACTERS);
  await withSessions(context, async ({ sessions }) => {
    const id = checkedSessionId(session);
    const receipt = await sessions.send(id, { type: 'user.message', text: message }, idempotencyKey === undefined ? {} : { idempotencyKey });
    if (json) return out.document(receipt);
    await out.line(`${out.styles.green('Stored')} as event ${receipt.seq} (${DURABILITY[receipt.durability]})`);
    await out.line(`Next: ${nextCommand(context, 'wake', '--session', id)}`);
  });
  return EXIT_SUCCESS;
}

const DURABILITY = { disk: 'on disk', os: 'with the operating system', memory: 'in memory only' } as const;

export async function showStatus(context: CommandContext, session: string): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions, layout }) => {
    const state = await sessions.status(checkedSessionId(session));
    if (json) return out.document(withPlaces(state, layout));
    for (const line of fieldLines(statusFields(state, layout), out)) await out.line(line);
  });
  return EXIT_SUCCESS;
}

/** Inside `withSessions`, so that the error names the sessions that exist. */
export function checkedSessionId(value: string): string {
  const parsed = sessionId.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RuntimeError('SESSION_REQUEST_INVALID', `expected a session id, received ${JSON.stringify(value)}`, {
    category: 'validation',
    hint: 'A session id looks like 0192f0c1-2345-7abc-8def-0123456789ab.',
  });
}

export function statusText({ status, stopReason }: Pick<SessionState, 'status' | 'stopReason'>): string {
  return stopReason === undefined || stopReason === status ? status : `${status} (${stopReason})`;
}

function checkLength(option: string, text: string, maxCharacters: number): void {
  if (text.length <= maxCharacters) return;
  throw usageError(`expected at most ${maxCharacters} characters after ${option}, received ${text.length}`, 'Put long content into a file of the workspace and say where it is.');
}

/** The state, and where to look at the rest. */
function withPlaces(state: SessionState, layout: SessionStore['layout']): object {
  return { ...state, ...placesOf(layout, state) };
}

function statusFields(state: SessionState, layout: SessionStore['layout']): [string, string | undefined][] {
  const { lastWake, openWake } = state;
  const { log, workspace } = placesOf(layout, state);
  return [
    ['session', state.sessionId],
    ['agent', state.agentId],
    ['status', statusText(state)],
    ['summary', state.summary === undefined ? undefined : printable(state.summary)],
    ['events', String(state.head)],
    ['unread', state.pending.length === 0 ? undefined : counted(state.pending.length, 'message')],
    ['waits for', state.pendingActions.map(({ toolName, requestId }) => `${printable(toolName)} (request ${requestId})`).join(', ')],
    ['wakes', `${state.wakes}${lastWake === undefined ? '' : `, the last one ended ${localTime(lastWake.endedAt)}: ${lastWake.outcome}`}`],
    ['waking', openWake === undefined ? undefined : `since ${localTime(openWake.startedAt)}, by ${printable(openWake.owner)}`],
    ['queued', state.queuedWakes.map(({ reason, dueAt }) => `${printable(reason)} at ${localTime(dueAt)}`).join(', ')],
    ['created', state.createdAt === undefined ? undefined : localTime(state.createdAt)],
    ['updated', state.updatedAt === undefined ? undefined : localTime(state.updatedAt)],
    ['log', log],
    ['workspace', workspace],
  ];
}
