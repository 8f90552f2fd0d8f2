/** The port that executes one kind of task. A runner owns the I/O; the manager owns the lifecycle. */
import type { AnyActorRef } from 'xstate';
import type {
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskResult,
  BackgroundTaskRunnerEvent,
  BackgroundTaskState,
} from '../../machines/task/task-state.ts';
import type {
  BackgroundTaskKind,
  BackgroundTaskRequest,
  BackgroundTaskRequestInput,
} from '../../machines/task/task-request.ts';

export interface BackgroundTaskStart<Request extends BackgroundTaskRequest = BackgroundTaskRequest> {
  readonly taskId: string;
  /** Frozen. */
  readonly request: Request;
  /** Reports progress. Calls after the task has ended are ignored. */
  readonly emit: (event: BackgroundTaskRunnerEvent) => void;
  /**
   * Aborted when the task is cancelled, with the caller's words; or with the error that the task will end with, when a
   * watchdog trips or a permission is denied. Made when first read, since most runners need only `cancel`.
   */
  readonly signal: AbortSignal;
  /** Tasks that this one starts, with itself as parent. */
  readonly children: ChildTasks;
  /** Parent for actors that the runner makes, so that inspection shows them beside their task. */
  readonly parent?: AnyActorRef | undefined;
}

/** What a runner may do with tasks of its own, such as the fires of a schedule. */
export interface ChildTasks {
  spawn(request: BackgroundTaskRequestInput): Promise<BackgroundTaskState>;
  /** The same as the manager's `wait`, but the outcome stays unread: it was made for another reader. */
  wait(taskId: string): Promise<BackgroundTaskResult>;
  cancel(taskId: string, reason?: string): Promise<void>;
  /** Forgets one that has ended. */
  close(taskId: string): Promise<void>;
}

export interface BackgroundTaskHandle {
  readonly taskId: string;
  readonly pid?: number | undefined;
  readonly logPath?: string | undefined;
  readonly transcriptPath?: string | undefined;
  /** Settles when the work has ended and nothing of it is left running. */
  readonly result: Promise<BackgroundTaskResult>;
  /** Stops the work. Resolves when it is gone, rejects when it cannot be proven gone. Idempotent. */
  cancel(reason?: string): Promise<void> | void;
  send?(input: BackgroundTaskInput): Promise<void> | void;
  /** Whether `send` takes denials too, after which the work goes on without. Default: a denial ends the task. */
  readonly takesDenials?: boolean | undefined;
  readLog?(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> | BackgroundTaskLogPage;
  /** Scheduled tasks: no fires until `resume`. */
  pause?(): Promise<void> | void;
  resume?(): Promise<void> | void;
  /** Scheduled tasks: changes the plan for the fires to come. */
  edit?(changes: ScheduleChanges): Promise<void> | void;
}

export interface ScheduleChanges {
  readonly cronExpression?: string | undefined;
  readonly timezone?: string | undefined;
  readonly overlap?: 'skip' | 'queue' | 'cancel-previous' | undefined;
}

export interface BackgroundTaskRunner<Request extends BackgroundTaskRequest = BackgroundTaskRequest> {
  readonly kind: Request['kind'];
  /**
   * Refuses a request that this runner can never carry out, before the task is recorded: `spawn` rejects with what it
   * throws.
   * @throws BackgroundTaskError category `validation`
   */
  check?(request: Request): void;
  start(start: BackgroundTaskStart<Request>): BackgroundTaskHandle | Promise<BackgroundTaskHandle>;
}

type RunnerOf<Kind extends BackgroundTaskKind> = BackgroundTaskRunner<Extract<BackgroundTaskRequest, { kind: Kind }>>;

/** One runner for each kind a manager can run. */
export type BackgroundTaskRunners = { readonly [Kind in BackgroundTaskKind]?: RunnerOf<Kind> };

/** The same as a list: each runner says by itself which kind it runs. */
export type BackgroundTaskRunnerList = readonly {
  readonly [Kind in BackgroundTaskKind]: RunnerOf<Kind>;
}[BackgroundTaskKind][];
