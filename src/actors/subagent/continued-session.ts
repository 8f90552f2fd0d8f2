/**
 * Jobs that go on with a session which was there before them: only as what that is, for the one that it works for,
 * within what bounds it.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import { holdsAll } from '../../machines/permission/handed-down.ts';
import type { Allowance, Narrowing } from '../../machines/session/event-parts.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type { ChildBounds } from '../session/parent-bounds.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { SessionDirectories } from '../session/session-directories.ts';

export interface ContinuedJob {
  readonly request: AgentTaskRequest;
  /** What the request changes in the agent. */
  readonly wanted: Narrowing;
  /** What binds it from the session that it works for, where it works for one. */
  readonly bounds: ChildBounds | undefined;
  /** Absent: a session without a given folder is taken to work where the job says. */
  readonly directories: Pick<SessionDirectories, 'workspaceDirectory'> | undefined;
}

/** @throws RuntimeError SUBAGENT_SESSION_OTHER */
export function requireSameAgent(
  { sessionId, agentId }: Pick<SessionState, 'sessionId' | 'agentId'>,
  { agentType }: Pick<AgentTaskRequest, 'agentType'>,
): void {
  if (agentId !== agentType) throw other(sessionId, `it is one of the agent "${agentId}", not of "${agentType}"`);
}

/**
 * The session stays what it is, so the job may ask for nothing that it is not.
 * @throws RuntimeError SUBAGENT_SESSION_OTHER saying what differs
 */
export async function requireSameBounds(
  session: SessionState,
  { request, wanted, bounds, directories }: ContinuedJob,
): Promise<void> {
  requireSameAgent(session, request);
  const { sessionId, narrowing = {}, restriction, workspace } = session;
  if (isUuidV7(request.parentSessionId) && session.parent?.sessionId !== request.parentSessionId)
    throw other(sessionId, `it does not work for session ${request.parentSessionId}`);
  const differing = BOUNDS.find(([name]) => JSON.stringify(narrowing[name]) !== JSON.stringify(wanted[name]));
  if (differing !== undefined)
    throw other(sessionId, `its ${differing[1]} is not what the request asks for, and cannot be changed any more`);
  if (!(narrowing.allow ?? []).every((rule) => wanted.allow?.includes(rule)))
    throw other(sessionId, 'it may do more than the request asks for');
  if (bounds !== undefined && !holdsAll(restriction, bounds.restriction))
    throw other(sessionId, 'the session that it works for may do less now than when it was made');
  if (bounds !== undefined && mayUseMore(session, bounds.allowance))
    throw other(sessionId, 'it may use up more than is left for it');
  const folder = workspace ?? (await directories?.workspaceDirectory(placeOfSession(session)));
  if (folder !== undefined && plain(folder) !== plain(request.cwd)) {
    const isolated = request.isolation === 'worktree' ? ', and not in a worktree that is there still' : '';
    throw other(sessionId, `it works in ${folder}${isolated}, not in ${request.cwd}`);
  }
}

const BOUNDS: readonly (readonly [Exclude<keyof Narrowing, 'allow'>, string])[] = [
  ['model', 'model'],
  ['tools', 'list of allowed tools'],
  ['withoutTools', 'list of disallowed tools'],
  ['mode', 'permission policy'],
  ['humans', 'permission policy'],
];

function mayUseMore({ allowance, used }: SessionState, promised: Allowance = {}): boolean {
  return (['tokens', 'cost'] as const).some(
    (name) => promised[name] !== undefined && (allowance?.[name] ?? Infinity) - used[name] > promised[name],
  );
}

function plain(folder: string): string {
  return folder.length > 1 ? folder.replace(/\/+$/, '') : folder;
}

function other(sessionId: string, because: string): RuntimeError {
  return new RuntimeError(
    'SUBAGENT_SESSION_OTHER',
    `expected a session that the job can go on with, and session ${sessionId} is none: ${because}`,
    {
      category: 'conflict',
      hint: 'Ask for what the session has, or leave `sessionId` out: the job gets a session of its own then.',
    },
  );
}
