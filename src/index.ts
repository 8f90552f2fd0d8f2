/**
 * The root of Wakechart: the public classes, functions and types. Nothing here touches a disk, a process or a network;
 * see `wakechart/node`.
 */
export { RuntimeError } from './machines/errors.ts';
export type { ErrorCategory, ErrorRecord } from './machines/errors.ts';

export { BackgroundTaskError } from './machines/task/task-error.ts';
export {
  getBackgroundTaskTransitions,
  isTerminalBackgroundTaskStatus,
  transitionBackgroundTaskStatus,
} from './machines/task/task-lifecycle.ts';
export type { BackgroundTaskStatus, BackgroundTaskTransitionEvent } from './machines/task/task-machine.ts';
export type {
  AgentTaskRequest,
  BackgroundTaskKind,
  BackgroundTaskRequest,
  BackgroundTaskRequestInput,
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
export type { TaskSettingsInput } from './machines/task/task-settings.ts';

export { BackgroundTaskManager } from './actors/task/background-task-manager.ts';
export type { BackgroundTaskManagerOptions } from './actors/task/task-manager-options.ts';
export type { BackgroundTaskEventFilter, BackgroundTaskListener } from './actors/task/task-event-hub.ts';
export type { OnListenerError } from './actors/streams/listener-errors.ts';

export { SubagentManager } from './actors/subagent/subagent-manager.ts';
export type { ManagedRunnerOptions, SubagentManagerOptions } from './actors/subagent/subagent-manager-options.ts';
export type { SubagentWaitOptions } from './actors/subagent/wait-for-job.ts';
export type { SubagentSpawnRequest } from './machines/subagent/subagent-request.ts';
export type { SubagentJobState } from './machines/subagent/subagent-job.ts';
export type { SubagentLimitsInput } from './machines/subagent/subagent-limits.ts';

export { executeAgentRun } from './actors/run/execute-agent-run.ts';
export type {
  ExecuteAgentRunOptions,
  RunDecisionRecord,
  RunRequest,
  SkippedCandidate,
} from './actors/run/run-options.ts';
export { createAgentRuntime } from './actors/run/create-agent-runtime.ts';
export type { RunEnding, RunVoice } from './actors/run/create-agent-runtime.ts';
export type { AgentRunParams } from './actors/run/agent-runtime.ts';
export type { ProviderMessage } from './machines/turn/provider-message.ts';
export type { AgentRun } from './actors/run/start-agent-run.ts';
export { classifyRunFailure } from './machines/run/classify-failure.ts';
export type { Candidate, ModelChoice } from './machines/run/candidate.ts';
export type { RunLimits } from './machines/run/run-decision.ts';
export { AgentRuntimeRegistry } from './actors/run/agent-runtime-registry.ts';
export type { AgentDefinition } from './machines/agent/agent-definition.ts';
export type { ToolAttachment, ToolAttachmentInput } from './machines/agent/tool-attachment.ts';
export { defineAgent } from './actors/turn/define-agent.ts';
export type { AgentOptions, DefinedAgent } from './actors/turn/define-agent.ts';
export { defineTool } from './actors/turn/define-tool.ts';
export type { ToolOptions } from './actors/turn/define-tool.ts';
export type { Tool, ToolContext } from './actors/turn/tool.ts';
export { buildTools, loadAgent, mapAgentTool } from './actors/turn/agent-tools.ts';
export { AgentState } from './machines/turn/agent-state.ts';
export { StreamStepMessageBuilder } from './machines/turn/step-message.ts';
export { KNOWN_PRICES, PRICES_AS_OF } from './machines/run/prices.ts';
export type { ModelPrice, PriceTable } from './machines/run/prices.ts';

export type { SessionEvents, SessionEventsOptions } from './actors/session/session-events.ts';
export type { EndableIterator } from './actors/streams/endable-iterator.ts';
export type { Sessions } from './actors/session/sessions.ts';
export type { SendReceipt } from './actors/session/ingress.ts';
export type { DeliveryMode } from './machines/session/event-parts.ts';
export type {
  SessionEvent,
  SessionEventData,
  SessionEventOf,
  SessionEventType,
} from './machines/session/session-event.ts';
export type { SessionStatus, SessionStopReason } from './machines/session/session-machine.ts';
export type {
  ForkOptions,
  InterruptOptions,
  NewSession,
  NewSessionOptions,
  SendOptions,
  SessionFilter,
  SessionIngress,
  TerminateOptions,
} from './machines/session/session-requests.ts';
export type { OpenToolCall, PendingAction, SessionState } from './machines/session/session-state.ts';

export type { SessionWord } from './machines/words/session-word.ts';
export type { WordsOptions } from './actors/words/runtime-words.ts';

export type { WakeOptions } from './actors/wake/wake-ports.ts';
export type { WakeOutcome } from './machines/wake/wake-outcome.ts';

export type { SessionWorker } from './actors/session/session-worker.ts';
export type {
  SessionNews,
  SessionWorkerEvent,
  SessionWorkerOptions,
  SessionWorkerStatus,
  SessionWorkerSummary,
  StopWorkerOptions,
} from './actors/session/session-worker-types.ts';
export type { PruneOptions, PruneReport } from './actors/session/session-pruning.ts';
export type { SetAsidePhase } from './machines/session/activation-machine.ts';
export type { WorkerPhase } from './machines/session/worker-machine.ts';
