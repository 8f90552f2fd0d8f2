/**
 * The working record of a task that has not ended: the request, the actor, and what is known so far. The outside sees views of it.
 * When the task ends only its last view is kept, so that a finished task costs a few hundred bytes.
 */
import type { AnyActorRef } from 'xstate';
import type { ErrorRecord } from '../../machines/errors.ts';
import { taskLifecycle, statusOf } from '../../machines/task/task-lifecycle.ts';
import type { TaskLifecycleSnapshot } from '../../machines/task/task-lifecycle.ts';
import type { BackgroundTaskStatus } from '../../machines/task/task-machine.ts';
import type { BackgroundTaskKind, BackgroundTaskRequest } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskProgress,
  BackgroundTaskResult,
  BackgroundTaskState,
  BackgroundTaskTimeoutReason,
} from '../../machines/task/task-state.ts';
import type { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { TaskExecution } from './task-execution.ts';

const PREVIEW_CHARACTERS = 120;

/** A promise for the end of a task, made when somebody first waits. */
export interface TaskOutcome {
  readonly promise: Promise<BackgroundTaskResult>;
  readonly resolve: (result: BackgroundTaskResult) => void;
  readonly reject: (error: BackgroundTaskError) => void;
}

/** What is known of a task once it has been started or has ended. A task that waits in the queue has none of it. */
export class TaskRun {
  execution: TaskExecution | undefined = undefined;
  holdsSlot = false;
  startedAt: string | undefined = undefined;
  lastActivityAt: string | undefined = undefined;
  completedAt: string | undefined = undefined;
  progress: BackgroundTaskProgress | undefined = undefined;
  result: BackgroundTaskResult | undefined = undefined;
  error: ErrorRecord | undefined = undefined;
  /** The error as it was thrown, with its cause; for those who wait. */
  failure: BackgroundTaskError | undefined = undefined;
  timeoutReason: BackgroundTaskTimeoutReason | undefined = undefined;
  unread = false;
}

const NOT_RUN: Readonly<TaskRun> = Object.freeze(new TaskRun());

/** A hundred thousand of these may wait in the queue at once: keep it small. */
export class TaskRecord {
  readonly id: string;
  readonly request: BackgroundTaskRequest;
  snapshot: TaskLifecycleSnapshot = taskLifecycle.initial;
  /** Exists from the moment the task gets a slot. */
  actor: AnyActorRef | undefined = undefined;
  outcome: TaskOutcome | undefined = undefined;
  /** Somebody asked for its end before it had anything to stop. */
  cancelReason: string | undefined = undefined;
  updatedAt: string;
  #run: TaskRun | undefined = undefined;
  #view: BackgroundTaskState | undefined = undefined;
  #onEnded: (() => void)[] | undefined = undefined;

  /** Links of the queue; see TaskQueue. */
  isQueued = false;
  queuedBefore: TaskRecord | undefined = undefined;
  queuedAfter: TaskRecord | undefined = undefined;

  constructor(id: string, request: BackgroundTaskRequest, now: string) {
    this.id = id;
    this.request = request;
    this.updatedAt = now;
  }

  /** Made when the task is started or ends, whichever comes first. */
  get run(): TaskRun {
    this.#run ??= new TaskRun();
    return this.#run;
  }

  /** The same for readers. */
  get known(): Readonly<TaskRun> {
    return this.#run ?? NOT_RUN;
  }

  get execution(): TaskExecution | undefined {
    return this.#run?.execution;
  }

  get status(): BackgroundTaskStatus {
    return statusOf(this.snapshot);
  }

  get kind(): BackgroundTaskKind {
    return this.request.kind;
  }

  get parentSessionId(): string {
    return this.request.parentSessionId;
  }

  get parentTaskId(): string | undefined {
    return this.request.parentTaskId;
  }

  /** Call after every change: views are values and are not edited. */
  touch(now: string): void {
    this.updatedAt = now;
    this.#view = undefined;
  }

  /** Progress that is too frequent to announce: only the next view shows it. */
  noteActivity(now: string): void {
    this.run.lastActivityAt = now;
    this.#view = undefined;
  }

  /** Resolves when the task has ended and everybody has heard of it. */
  whenEnded(): Promise<void> {
    return new Promise((resolve) => (this.#onEnded ??= []).push(resolve));
  }

  /** The supervisor has recorded and announced the end. */
  ended(): void {
    const listeners = this.#onEnded;
    this.#onEnded = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  /** What inspection and logs show of it. */
  toJSON(): BackgroundTaskState {
    return this.view();
  }

  view(): BackgroundTaskState {
    this.#view ??= Object.freeze(viewOf(this));
    return this.#view;
  }

  /** A view can always be made again; one that nobody is going to ask for soon is only ballast. */
  dropView(): void {
    this.#view = undefined;
  }
}

/**
 * One literal for all kinds, so that every view has the same hidden class. An object that is spread and added to becomes a dictionary in V8,
 * which made a task of another kind twelve times as slow.
 */
function viewOf(record: TaskRecord): BackgroundTaskState {
  const { request, known } = record;
  const { progress } = known;
  const agent = request.kind === 'agent' ? request : undefined;
  return {
    id: record.id,
    kind: request.kind,
    label: request.label,
    agentType: request.kind === 'process' ? undefined : request.agentType,
    status: record.status,
    mode: request.mode,
    parentSessionId: request.parentSessionId,
    parentTaskId: request.parentTaskId,
    depth: request.depth,
    cwd: request.cwd,
    pid: progress?.pid,
    startedAt: known.startedAt,
    updatedAt: record.updatedAt,
    lastActivityAt: known.lastActivityAt,
    completedAt: known.completedAt,
    promptPreview: preview(request.kind === 'scheduled' ? request.agentInstruction : agent?.prompt),
    commandPreview: request.kind === 'agent' ? undefined : preview(request.command),
    isolation: agent?.isolation,
    currentAction: progress?.currentAction,
    unread: known.unread,
    result: known.result,
    error: known.error,
    logPath: progress?.logPath,
    transcriptPath: progress?.transcriptPath,
    worktreePath: progress?.worktreePath,
    branchName: progress?.branchName,
    worktreeStatus: progress?.worktreeStatus,
    worktreeNextAction: progress?.worktreeNextAction,
    worktreeBaseRevision: progress?.worktreeBaseRevision,
    parentWorktreeStatus: progress?.parentWorktreeStatus,
    timeoutReason: known.timeoutReason,
    nextFireAt: progress?.nextFireAt,
    metadata: request.metadata,
  };
}

/** The first characters of a text, never half of a surrogate pair. */
function preview(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= PREVIEW_CHARACTERS) return text;
  const cut = text.slice(0, PREVIEW_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
