/**
 * The port that executes one subagent job: in this process, in one of its own, or wherever else. A runner owns the
 * work; the task owns the lifecycle.
 */
import type { AnyActorRef } from 'xstate';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskRunnerEvent,
} from '../../machines/task/task-state.ts';

export interface SubagentJobStart {
  readonly jobId: string;
  /** Frozen. `cwd` is the folder to work in: that of the worktree, where there is one. */
  readonly request: SubagentJobRequest;
  /** Reports progress; `taskId` in events is the job's id. Calls after the job has ended are ignored. */
  readonly emit: (event: BackgroundTaskRunnerEvent) => void;
  /** Aborted when the job is to stop. */
  readonly signal: AbortSignal;
  /** Parent for actors that the runner makes, so that inspection shows them beside their task. */
  readonly parent?: AnyActorRef | undefined;
}

/** The request as the task was given it, and where it is carried out. */
export type SubagentJobRequest = AgentTaskRequest & {
  readonly worktreePath?: string | undefined;
  readonly branchName?: string | undefined;
};

export interface SubagentJobResult {
  readonly jobId: string;
  readonly output: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface SubagentJobHandle {
  readonly jobId: string;
  readonly pid?: number | undefined;
  readonly logPath?: string | undefined;
  readonly transcriptPath?: string | undefined;
  /** Settles when the work has ended and nothing of it is left running. */
  readonly result: Promise<SubagentJobResult>;
  /**
   * Settles when the work itself has ended, for a runner that has more to do before `result` settles. A stop that comes
   * in between changes nothing about how the work ended. Default: `result`.
   */
  readonly work?: Promise<SubagentJobResult> | undefined;
  /** Stops the work. Resolves when it is gone, rejects when it cannot be proven gone. Idempotent. */
  cancel(reason?: string): Promise<void> | void;
  /** A follow-up while it runs. */
  send?(prompt: string): Promise<void> | void;
  /** The answer to a permission request that was reported through `emit`. */
  answerPermission?(requestId: string, allowed: boolean): Promise<void> | void;
  readLog?(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> | BackgroundTaskLogPage;
}

export interface SubagentRunner {
  start(start: SubagentJobStart): SubagentJobHandle | Promise<SubagentJobHandle>;
}
