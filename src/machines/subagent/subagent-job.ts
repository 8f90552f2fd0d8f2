/** What the outside sees of a subagent job: a projection of its task. */
import type { ErrorRecord } from '../errors.ts';
import { sessionOf } from './subagent-request.ts';
import type { BackgroundTaskState } from '../task/task-state.ts';

type Shared = Pick<
  BackgroundTaskState,
  | 'id'
  | 'label'
  | 'status'
  | 'mode'
  | 'parentSessionId'
  | 'depth'
  | 'cwd'
  | 'pid'
  | 'startedAt'
  | 'updatedAt'
  | 'lastActivityAt'
  | 'completedAt'
  | 'promptPreview'
  | 'unread'
  | 'isolation'
  | 'logPath'
  | 'transcriptPath'
  | 'worktreePath'
  | 'branchName'
  | 'worktreeStatus'
  | 'worktreeNextAction'
  | 'worktreeBaseRevision'
  | 'parentWorktreeStatus'
  | 'timeoutReason'
  | 'metadata'
>;

/** One job at one moment: a value. Times are ISO-8601. */
export interface SubagentJobState extends Shared {
  /** The agent. */
  readonly type: string;
  readonly parentJobId?: string | undefined;
  /** The session that does its work. */
  readonly sessionId?: string | undefined;
  /** The tool that it uses just now. */
  readonly currentTool?: string | undefined;
  /** What it answered. */
  readonly result?: string | undefined;
  /** Beside the answer: what it used, where the whole of a long answer lies, what became of its worktree. */
  readonly resultMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** Why it failed, in words; `failure` has the code and what to do. */
  readonly error?: string | undefined;
  readonly failure?: ErrorRecord | undefined;
}

/** The job that an agent task is. */
export function jobOf(task: BackgroundTaskState): SubagentJobState {
  const sessionId = sessionOf(task);
  const {
    kind: _kind,
    agentType,
    parentTaskId,
    currentAction,
    commandPreview: _command,
    nextFireAt: _fire,
    result,
    error,
    ...shared
  } = task;
  return Object.freeze({
    ...shared,
    type: agentType ?? task.label,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(parentTaskId === undefined ? {} : { parentJobId: parentTaskId }),
    ...(currentAction === undefined ? {} : { currentTool: currentAction }),
    ...(result === undefined ? {} : { result: result.output }),
    ...(result?.metadata === undefined ? {} : { resultMetadata: result.metadata }),
    ...(error === undefined ? {} : { error: error.message, failure: error }),
  });
}
