/** What the outside sees of a task: an immutable snapshot, its result, and the events that announce both. */
import type { ErrorRecord } from '../errors.ts';
import type { BackgroundTaskStatus } from './task-machine.ts';
import type { BackgroundTaskKind } from './task-request.ts';

export type BackgroundTaskTimeoutReason = 'idle' | 'max_runtime' | 'output_limit' | 'repetition' | 'stale_worker';

/**
 * The outcome of work that ran to its end. A process that exits with a code or a signal has a result too: that is not
 * an error.
 */
export interface BackgroundTaskResult {
  readonly taskId: string;
  readonly output: string;
  readonly exitCode?: number | undefined;
  readonly signalCode?: string | undefined;
  readonly logPath?: string | undefined;
  readonly transcriptPath?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** One task at one moment: a value. Times are ISO-8601 strings from the injected clock. */
export interface BackgroundTaskState {
  readonly id: string;
  readonly kind: BackgroundTaskKind;
  readonly label: string;
  readonly agentType?: string | undefined;
  readonly status: BackgroundTaskStatus;
  readonly mode: 'foreground' | 'background';
  readonly parentSessionId: string;
  readonly parentTaskId?: string | undefined;
  readonly depth: number;
  readonly cwd: string;
  readonly pid?: number | undefined;
  readonly startedAt?: string | undefined;
  readonly updatedAt: string;
  readonly lastActivityAt?: string | undefined;
  readonly completedAt?: string | undefined;
  readonly promptPreview?: string | undefined;
  readonly commandPreview?: string | undefined;
  readonly isolation?: 'none' | 'worktree' | undefined;
  readonly currentAction?: string | undefined;
  /** The task has ended and neither its outcome nor its log has been read. */
  readonly unread: boolean;
  readonly result?: BackgroundTaskResult | undefined;
  readonly error?: ErrorRecord | undefined;
  readonly logPath?: string | undefined;
  readonly transcriptPath?: string | undefined;
  readonly worktreePath?: string | undefined;
  readonly branchName?: string | undefined;
  readonly worktreeStatus?: string | undefined;
  readonly worktreeNextAction?: string | undefined;
  readonly worktreeBaseRevision?: string | undefined;
  readonly parentWorktreeStatus?: string | undefined;
  readonly timeoutReason?: BackgroundTaskTimeoutReason | undefined;
  readonly nextFireAt?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Fields that a runner may report about its task while it runs. */
export type BackgroundTaskProgress = Partial<
  Pick<
    BackgroundTaskState,
    | 'pid'
    | 'currentAction'
    | 'logPath'
    | 'transcriptPath'
    | 'worktreePath'
    | 'branchName'
    | 'worktreeStatus'
    | 'worktreeNextAction'
    | 'worktreeBaseRevision'
    | 'parentWorktreeStatus'
    | 'nextFireAt'
  >
>;

/** What a runner may say through `emit`. `taskId` is the id it was started with. */
export type BackgroundTaskRunnerEvent =
  | { readonly type: 'background_task_text_delta'; readonly taskId: string; readonly delta: string }
  | {
      readonly type: 'background_task_tool_start';
      readonly taskId: string;
      readonly toolName: string;
      readonly firstArg?: string;
      /** The tool's own time limit; the idle watchdog leaves a task alone while such a tool runs. 0: no limit. */
      readonly toolTimeoutMs?: number;
    }
  | {
      readonly type: 'background_task_tool_end';
      readonly taskId: string;
      readonly toolName: string;
      readonly success: boolean;
      readonly error?: string;
    }
  | {
      readonly type: 'background_task_permission_request';
      readonly taskId: string;
      readonly requestId: string;
      readonly toolName: string;
      readonly toolArgs: unknown;
    }
  /**
   * The request is settled, by an answer of any origin, and the work goes on. A denial that ends the work rejects
   * `result` instead.
   */
  | { readonly type: 'background_task_permission_resolved'; readonly taskId: string; readonly requestId: string }
  /** Nothing to do until the next fire: the task gives up its slot. */
  | { readonly type: 'background_task_sleeping'; readonly taskId: string; readonly nextFireAt?: string }
  | { readonly type: 'background_task_waking'; readonly taskId: string }
  /** The work is alive, and that is all: puts the idle watchdog off and is not announced. As often as it happens. */
  | { readonly type: 'background_task_activity'; readonly taskId: string }
  | { readonly type: 'background_task_progress'; readonly taskId: string; readonly progress: BackgroundTaskProgress };

type Lifecycle<Name extends string> = { readonly type: `background_task_${Name}`; readonly task: BackgroundTaskState };

/** Everything listeners and streams hear. */
export type BackgroundTaskEvent =
  | Lifecycle<'created' | 'started' | 'updated' | 'completed' | 'failed' | 'cancelled'>
  | Exclude<
      BackgroundTaskRunnerEvent,
      {
        readonly type:
          | 'background_task_sleeping'
          | 'background_task_activity'
          | 'background_task_progress'
          | 'background_task_permission_resolved';
      }
    >
  | { readonly type: 'background_task_closed'; readonly taskId: string };

export interface BackgroundTaskFilter {
  readonly kind?: BackgroundTaskKind | undefined;
  readonly status?: BackgroundTaskStatus | readonly BackgroundTaskStatus[] | undefined;
  readonly mode?: 'foreground' | 'background' | undefined;
  readonly parentSessionId?: string | undefined;
  readonly parentTaskId?: string | undefined;
}

/** One page of a task's log. `nextCursor` is absent when there is nothing more to read now. */
export interface BackgroundTaskLogPage {
  readonly taskId: string;
  readonly cursor?: BackgroundTaskLogCursor | undefined;
  readonly nextCursor?: BackgroundTaskLogCursor | undefined;
  readonly lines: readonly string[];
  /** What came after the last line end of each stream, on the last page: a prompt. Absent when there is nothing. */
  readonly unfinished?: readonly string[] | undefined;
}

/** `offset` is the index of a line, counted from the first line ever logged. */
export interface BackgroundTaskLogCursor {
  readonly offset: number;
}

/** Input for a running task. Exactly what applies to its kind. */
export interface BackgroundTaskInput {
  readonly prompt?: string | undefined;
  readonly stdin?: string | undefined;
  /** With `stdin`: whether the input is closed after it. Default true. */
  readonly end?: boolean | undefined;
  /** The answer to a permission request. */
  readonly permission?: { readonly requestId: string; readonly allowed: boolean } | undefined;
}
