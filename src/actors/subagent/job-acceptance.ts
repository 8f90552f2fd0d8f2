/**
 * What is checked before a job is taken on and anything of it is recorded: where it is to work, for whom, and as what
 * it goes on.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import { continuesSession, sessionOf } from '../../machines/subagent/subagent-request.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type { PlaceGuard } from '../permission/permission-ports.ts';
import type { Sessions } from '../session/sessions.ts';
import { requireSameAgent } from './continued-session.ts';

export interface JobAcceptancePorts {
  readonly guard: PlaceGuard | undefined;
  readonly sessions: Pick<Sessions, 'get'>;
}

/**
 * @throws RuntimeError SUBAGENT_CWD_IN_HOME, SUBAGENT_CWD_MISSING, SUBAGENT_PARENT_NOT_BEGUN, SESSION_NOT_FOUND,
 * SUBAGENT_SESSION_OTHER
 */
export async function requireAcceptable(
  request: AgentTaskRequest,
  { guard, sessions }: JobAcceptancePorts,
): Promise<void> {
  const { cwd, parentTaskId, parentSessionId } = request;
  if ((await guard?.protects(cwd, cwd)) === true) {
    throw new BackgroundTaskError(
      'validation',
      `expected a folder outside the home of the runtime, or a worktree or a session's workspace in it, received ${cwd}`,
      {
        code: 'SUBAGENT_CWD_IN_HOME',
        hint: 'What lies in the home decides what agents may do, so none works in there.',
      },
    );
  }
  if ((await guard?.isFolder(cwd)) === false) {
    throw new BackgroundTaskError('validation', `expected cwd to be a folder, there is none at ${cwd}`, {
      code: 'SUBAGENT_CWD_MISSING',
      hint: 'Make the folder first, or name another one.',
    });
  }
  const sessionId = continuesSession(request) ? sessionOf(request) : undefined;
  if (sessionId !== undefined) requireSameAgent(await sessions.get(sessionId), request);
  if (parentTaskId !== undefined && isUuidV7(parentSessionId))
    await requireBegun(parentTaskId, parentSessionId, sessions);
}

/** Until its parent has a session it is unknown what bounds the job. */
async function requireBegun(
  parentJobId: string,
  parentSessionId: string,
  sessions: Pick<Sessions, 'get'>,
): Promise<void> {
  try {
    await sessions.get(parentSessionId);
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
    throw new BackgroundTaskError(
      'validation',
      `job ${parentJobId} has not begun: its session ${parentSessionId} is not there yet, so nothing can work for it`,
      {
        code: 'SUBAGENT_PARENT_NOT_BEGUN',
        hint: 'Spawn the job once its parent is at work, such as from a tool of it.',
      },
    );
  }
}
