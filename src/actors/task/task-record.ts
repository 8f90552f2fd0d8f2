/**
 * One task from its spawn until it is closed: the request, its actor while it lives, and what is known of it. The
 * outside sees views of it, which are made when a caller or a listener asks. A task that has ended keeps no view, no
 * actor and nothing of its work, so it costs a few hundred bytes, and ending one moves no memory.
 */
import type { AnyActorRef } from 'xstate';
import { beginningOf } from '../../machines/cut-text.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import {
  isStoppingTask,
  isTerminalBackgroundTaskStatus,
  taskLifecycle,
  statusOf,
} from '../../machines/task/task-lifecycle.ts';
import type { TaskLifecycleSnapshot } from '../../machines/task/task-lifecycle.ts';
import type { BackgroundTaskStatus } from '../../machines/task/task-machine.ts';
import type { BackgroundTaskKind, BackgroundTaskRequest } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskInput,
  BackgroundTaskProgress,
  BackgroundTaskResult,
  BackgroundTaskState,
} from '../../machines/task/task-state.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { timeoutReasonOf } from '../../machines/task/watchdog.ts';
import { cancelledRecord } from './stop-cause.ts';
import type { StopCause } from './stop-cause.ts';
import type { BackgroundTaskHandle } from './task-runner.ts';
import type { TaskWatchdog } from './task-watchdog.ts';

const PREVIEW_CHARACTERS = 120;

/** The live half of a task, from when it holds a slot until nothing of the work is left. */
export interface LiveTask {
  readonly watchdog: TaskWatchdog | undefined;
  readonly handle: BackgroundTaskHandle | undefined;
  /** Permission requests without an answer, by id; an answer that is on its way to the runner cannot be given twice. */
  openPermissions: Map<string, 'open' | 'answering'> | undefined;
  /** Whether nothing of the work runs any more; a slot is free only then. */
  readonly isWorkGone: boolean;
  /** Begins to stop the work, unless something else already did. The task ends when the work is gone. */
  stop(cause: StopCause): void;
  /** The handle, as soon as the runner has given one. @throws the task's own error when it ends without */
  whenHandle(): Promise<BackgroundTaskHandle>;
  /** Hands input to the runner, as soon as there is a handle. */
  send(input: BackgroundTaskInput): Promise<void>;
  /** Calls `listener` once nothing of the work is left; at once when that is so already. */
  whenWorkGone(listener: () => void): void;
  /** The supervisor has recorded the end. */
  ended(): void;
}

/**
 * The promise for the end of a task, with what settles it: also with a failure, as a promise that is rejected. One
 * function is kept, not two.
 */
interface TaskOutcome {
  readonly promise: Promise<BackgroundTaskResult>;
  readonly resolve: (result: BackgroundTaskResult | Promise<never>) => void;
}

/** What a runner may report, and what it may throw. Most short tasks end without any of it. */
class TaskReports {
  lastActivityAt: string | undefined = undefined;
  progress: BackgroundTaskProgress | undefined = undefined;
  /** The error as it was thrown, with its cause; for callers that wait. */
  failure: BackgroundTaskError | undefined = undefined;
}

const NO_REPORTS: Readonly<TaskReports> = Object.freeze(new TaskReports());

/**
 * A hundred thousand of these may wait in the queue at once: keep it small. Each field is assigned as `this.name = …`,
 * also those that begin empty: V8 sizes objects by counting those.
 */
export class TaskRecord {
  readonly id: string;
  request: BackgroundTaskRequest;
  /**
   * From the moment the task gets a slot until its end is recorded. Where the task is in its chart, this alone knows.
   */
  actor: AnyActorRef | undefined;
  /** Where the task is without an actor: in the queue, or where it has ended. */
  restsAt: TaskLifecycleSnapshot;
  execution: LiveTask | undefined;
  updatedAt: string;
  startedAt: string | undefined;
  completedAt: string | undefined;
  result: BackgroundTaskResult | undefined;
  /** Why it did not complete; of one that was cancelled before it began, why it never will. */
  error: ErrorRecord | undefined;
  holdsSlot: boolean;
  unread: boolean;
  /** Links of the queue; see TaskQueue. */
  isQueued: boolean;
  queuedBefore: TaskRecord | undefined;
  queuedAfter: TaskRecord | undefined;
  private outcome: TaskOutcome | undefined;
  private reports: TaskReports | undefined;
  private lastView: BackgroundTaskState | undefined;
  private onEnded: (() => void)[] | undefined;

  constructor(id: string, request: BackgroundTaskRequest, now: string) {
    this.id = id;
    this.request = request;
    this.actor = undefined;
    this.restsAt = taskLifecycle.initial;
    this.execution = undefined;
    this.updatedAt = now;
    this.startedAt = undefined;
    this.completedAt = undefined;
    this.result = undefined;
    this.error = undefined;
    this.holdsSlot = false;
    this.unread = false;
    this.isQueued = false;
    this.queuedBefore = undefined;
    this.queuedAfter = undefined;
    this.outcome = undefined;
    this.reports = undefined;
    this.lastView = undefined;
    this.onEnded = undefined;
  }

  get snapshot(): TaskLifecycleSnapshot {
    return this.actor === undefined ? this.restsAt : (this.actor.getSnapshot() as TaskLifecycleSnapshot);
  }

  get status(): BackgroundTaskStatus {
    return statusOf(this.snapshot);
  }

  /** Its work is to end, and has not yet. */
  get isStopping(): boolean {
    return isStoppingTask(this.snapshot);
  }

  /** The chart has come to an end; the supervisor may still have to record it. */
  get isOver(): boolean {
    return isTerminalBackgroundTaskStatus(this.status);
  }

  /** The supervisor has recorded the end: nothing of the task changes any more. */
  get hasEnded(): boolean {
    return isTerminalBackgroundTaskStatus(statusOf(this.restsAt));
  }

  get kind(): BackgroundTaskKind {
    return this.request.kind;
  }

  get mode(): BackgroundTaskState['mode'] {
    return this.request.mode;
  }

  get parentSessionId(): string {
    return this.request.parentSessionId;
  }

  get parentTaskId(): string | undefined {
    return this.request.parentTaskId;
  }

  get hasReports(): boolean {
    return this.reports !== undefined;
  }

  /** What was reported, for readers. */
  get reported(): Readonly<TaskReports> {
    return this.reports ?? NO_REPORTS;
  }

  /** Call after every change: views are values and are not edited. */
  touch(now: string): void {
    this.updatedAt = now;
    this.lastView = undefined;
  }

  /** Progress that is too frequent to announce: only the next view shows it. */
  noteActivity(now: string): void {
    (this.reports ??= new TaskReports()).lastActivityAt = now;
    this.lastView = undefined;
  }

  noteProgress(progress: BackgroundTaskProgress): void {
    const reports = (this.reports ??= new TaskReports());
    // Views copy what they show of it, so it may change in place.
    reports.progress = Object.assign(reports.progress ?? {}, progress);
  }

  noteFailure(failure: BackgroundTaskError): void {
    (this.reports ??= new TaskReports()).failure = failure;
  }

  /** The promise for the end; the same one for every caller that waits. */
  whenSettled(): Promise<BackgroundTaskResult> {
    this.outcome ??= newOutcome();
    return this.outcome.promise;
  }

  /** Resolves when the task has ended and every listener has heard of it. */
  whenEnded(): Promise<void> {
    return new Promise((resolve) => (this.onEnded ??= []).push(resolve));
  }

  /** The end is recorded. What has waited for it is told later, when listeners have heard. */
  rest(snapshot: TaskLifecycleSnapshot, now: string): void {
    this.restsAt = snapshot;
    this.actor = undefined;
    this.unread = this.outcome === undefined;
    this.touch(now);
  }

  /** The listeners have heard of the end: callers that wait hear it now, and nothing of the work is kept. */
  settle(): void {
    const { outcome, onEnded, result } = this;
    this.outcome = undefined;
    this.onEnded = undefined;
    // An object that is old already would keep its young ones alive until the next full collection.
    this.execution = undefined;
    this.lastView = undefined;
    if (hasBallast(this.request)) this.request = Object.freeze({ ...this.request, env: undefined, stdin: undefined });
    if (outcome !== undefined) {
      if (result !== undefined && this.status === 'completed') outcome.resolve(result);
      else outcome.resolve(Promise.reject(this.failure()));
    }
    if (this.reports !== undefined) this.reports.failure = undefined;
    if (onEnded !== undefined) for (const listener of onEnded) listener();
  }

  /** Why it did not complete. */
  failure(): BackgroundTaskError {
    return (
      this.reported.failure ?? BackgroundTaskError.fromRecord(this.error ?? cancelledRecord('no reason was given'))
    );
  }

  /** What inspection and logs show of it. */
  toJSON(): BackgroundTaskState {
    return this.view();
  }

  view(): BackgroundTaskState {
    if (this.lastView !== undefined) return this.lastView;
    const view = Object.freeze(viewOf(this));
    // An ended task is checked seldom, and there may be a million of them.
    if (!this.hasEnded) this.lastView = view;
    return view;
  }

  /** A view can always be made again; one that no caller is going to ask for soon is only ballast. */
  dropView(): void {
    this.lastView = undefined;
  }
}

let settleResult: TaskOutcome['resolve'] = () => undefined;

/** One function for all promises: an executor of its own would cost each a closure and its context. */
function noteSettler(resolve: TaskOutcome['resolve']): void {
  settleResult = resolve;
}

function newOutcome(): TaskOutcome {
  const promise = new Promise<BackgroundTaskResult>(noteSettler);
  return { promise, resolve: settleResult };
}

/** Fields of a request that can be large and that no view shows. */
function hasBallast(request: BackgroundTaskRequest): boolean {
  return (
    request.kind !== 'agent' &&
    (request.env !== undefined || (request.kind === 'process' && request.stdin !== undefined))
  );
}

/**
 * A view is made by one of three literals, whatever the kind, so that views have three hidden classes. An object that
 * is spread and added to becomes a dictionary in V8, which made a task twelve times as slow.
 */
function viewOf(record: TaskRecord): BackgroundTaskState {
  if (record.status === 'queued') return queuedViewOf(record);
  return record.hasReports || record.error !== undefined ? reportedViewOf(record) : startedViewOf(record);
}

/**
 * Of a task that waits: small, since callers that spawn many at once hold one of each. It has a literal of its own also
 * because V8 allocates by literal: what outlives one collection is made in the old generation from then on, where
 * short-lived views must not be.
 */
function queuedViewOf({ id, request, updatedAt }: TaskRecord): BackgroundTaskState {
  return {
    id,
    kind: request.kind,
    label: request.label,
    agentType: request.kind === 'process' ? undefined : request.agentType,
    status: 'queued',
    mode: request.mode,
    parentSessionId: request.parentSessionId,
    parentTaskId: request.parentTaskId,
    depth: request.depth,
    cwd: request.cwd,
    updatedAt,
    promptPreview: promptOf(request),
    commandPreview: commandOf(request),
    isolation: request.kind === 'agent' ? request.isolation : undefined,
    unread: false,
    metadata: request.metadata,
  };
}

/** Of a task of which nothing was reported, and which has not failed: most of those that are short. */
function startedViewOf(record: TaskRecord): BackgroundTaskState {
  const { request } = record;
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
    startedAt: record.startedAt,
    updatedAt: record.updatedAt,
    completedAt: record.completedAt,
    promptPreview: promptOf(request),
    commandPreview: commandOf(request),
    isolation: request.kind === 'agent' ? request.isolation : undefined,
    unread: record.unread,
    result: record.result,
    metadata: request.metadata,
  };
}

function reportedViewOf(record: TaskRecord): BackgroundTaskState {
  const { request, reported } = record;
  const { progress } = reported;
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
    startedAt: record.startedAt,
    updatedAt: record.updatedAt,
    lastActivityAt: reported.lastActivityAt,
    completedAt: record.completedAt,
    promptPreview: promptOf(request),
    commandPreview: commandOf(request),
    isolation: request.kind === 'agent' ? request.isolation : undefined,
    currentAction: progress?.currentAction,
    unread: record.unread,
    result: record.result,
    error: record.error,
    logPath: progress?.logPath,
    transcriptPath: progress?.transcriptPath,
    worktreePath: progress?.worktreePath,
    branchName: progress?.branchName,
    worktreeStatus: progress?.worktreeStatus,
    worktreeNextAction: progress?.worktreeNextAction,
    worktreeBaseRevision: progress?.worktreeBaseRevision,
    parentWorktreeStatus: progress?.parentWorktreeStatus,
    timeoutReason: record.error && timeoutReasonOf(record.error),
    nextFireAt: progress?.nextFireAt,
    metadata: request.metadata,
  };
}

function promptOf(request: BackgroundTaskRequest): string | undefined {
  if (request.kind === 'process') return undefined;
  return preview(request.kind === 'agent' ? request.prompt : request.agentInstruction);
}

function commandOf(request: BackgroundTaskRequest): string | undefined {
  return request.kind === 'agent' ? undefined : preview(request.command);
}

function preview(text: string | undefined): string | undefined {
  return text === undefined ? undefined : beginningOf(text, PREVIEW_CHARACTERS);
}
