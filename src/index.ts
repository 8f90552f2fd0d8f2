/** The root of Wakechart: the public classes, functions and types. Nothing here touches a disk, a process or a network; see `wakechart/node`. */
export { RuntimeError } from './machines/errors.ts';
export type { ErrorCategory, ErrorRecord, RuntimeErrorOptions } from './machines/errors.ts';

export { BackgroundTaskError } from './machines/task/task-error.ts';
export type { BackgroundTaskErrorOptions } from './machines/task/task-error.ts';
export {
  getBackgroundTaskTransitions,
  isTerminalBackgroundTaskStatus,
  transitionBackgroundTaskStatus,
} from './machines/task/task-lifecycle.ts';
export type { BackgroundTaskTransition, TerminalBackgroundTaskStatus } from './machines/task/task-lifecycle.ts';
export type { BackgroundTaskStatus, BackgroundTaskTransitionEvent } from './machines/task/task-machine.ts';
export type {
  AgentTaskRequest,
  BackgroundTaskKind,
  BackgroundTaskRequest,
  BackgroundTaskRequestInput,
  CatchUpPolicy,
  OverlapPolicy,
  ProcessTaskRequest,
  ScheduledTaskRequest,
} from './machines/task/task-request.ts';
export type {
  BackgroundTaskEvent,
  BackgroundTaskFilter,
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskProgress,
  BackgroundTaskResult,
  BackgroundTaskRunnerEvent,
  BackgroundTaskState,
  BackgroundTaskTimeoutReason,
} from './machines/task/task-state.ts';
export { createLimitedOutputCapture } from './machines/task/output-capture.ts';
export { appendPrefixedLogLines, createBackgroundTaskLogPage } from './machines/task/log-pages.ts';

export { BackgroundTaskManager } from './actors/task/background-task-manager.ts';
export type { BackgroundTaskManagerOptions } from './actors/task/task-manager-options.ts';
export type { BackgroundTaskEventFilter, BackgroundTaskListener } from './actors/task/task-event-hub.ts';
export type { ListenerSource, OnListenerError } from './actors/streams/listener-errors.ts';

export { createRuntime } from './runtime.ts';
export type { Reconciliation, Runtime, RuntimePorts } from './runtime.ts';
export type { AgentDefinition } from './machines/agent/agent-definition.ts';
export type { SessionEvent, SessionEventDraft, SessionEventOf, SessionEventType } from './machines/session/session-event.ts';
export type { SessionStatus, SessionStopReason } from './machines/session/session-machine.ts';
export type { SessionState } from './machines/session/session-state.ts';
export type { WakeOutcome } from './machines/wake/wake-outcome.ts';
export { AgentRuntimeRegistry } from './actors/run/agent-runtime-registry.ts';
export type { SendReceipt } from './actors/session/ingress.ts';
export type { Sessions } from './actors/session/sessions.ts';
export type { WakeOptions } from './actors/wake/wake-ports.ts';
