/**
 * The root of Wakechart: the public classes, functions and types. Nothing here touches a disk, a process or a network;
 * see `wakechart/node`.
 */
export { RuntimeError } from './machines/errors.ts';
export type { ErrorRecord } from './machines/errors.ts';

export { BackgroundTaskError } from './machines/task/task-error.ts';
export type { BackgroundTaskStatus } from './machines/task/task-machine.ts';
export type { BackgroundTaskRequest, BackgroundTaskRequestInput } from './machines/task/task-request.ts';
export type {
  BackgroundTaskEvent,
  BackgroundTaskFilter,
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskResult,
  BackgroundTaskState,
} from './machines/task/task-state.ts';
export type { TaskSettingsInput } from './machines/task/task-settings.ts';

export { BackgroundTaskManager } from './actors/task/background-task-manager.ts';
export type { BackgroundTaskManagerOptions } from './actors/task/task-manager-options.ts';
export type { BackgroundTaskEventFilter, BackgroundTaskListener } from './actors/task/task-event-hub.ts';

export { SubagentManager } from './actors/subagent/subagent-manager.ts';
export type { SubagentManagerOptions } from './actors/subagent/subagent-manager-options.ts';
export type { SubagentSpawnRequest } from './machines/subagent/subagent-request.ts';
export type { SubagentJobState } from './machines/subagent/subagent-job.ts';
export type { SubagentLimitsInput } from './machines/subagent/subagent-limits.ts';

export { createAgentRuntime } from './actors/run/create-agent-runtime.ts';
export type { RunVoice } from './actors/run/create-agent-runtime.ts';
export { defineAgent } from './actors/turn/define-agent.ts';
export type { AgentOptions, DefinedAgent } from './actors/turn/define-agent.ts';
export { defineTool } from './actors/turn/define-tool.ts';
export type { ToolOptions } from './actors/turn/define-tool.ts';
export type { Tool, ToolContext } from './actors/turn/tool.ts';
export { AgentState } from './machines/turn/agent-state.ts';
export type { ToolCallRecord } from './machines/turn/agent-state.ts';
export { KNOWN_PRICES, PRICES_AS_OF } from './machines/run/prices.ts';
export type { PriceTable } from './machines/run/prices.ts';

export type { SessionEvents } from './actors/session/session-events.ts';
export type { Sessions } from './actors/session/sessions.ts';
export type { SendReceipt } from './actors/session/ingress.ts';
export type { SessionEvent, SessionEventData, SessionEventType } from './machines/session/session-event.ts';
export type { SessionStatus } from './machines/session/session-machine.ts';
export type { NewSession, SendOptions, SessionIngress } from './machines/session/session-requests.ts';
export type { OpenToolCall, PendingAction, SessionState } from './machines/session/session-state.ts';

export type { SessionWord } from './machines/words/session-word.ts';
export type { WordsOptions } from './actors/words/runtime-words.ts';

export type { WakeOptions } from './actors/wake/wake-ports.ts';
export type { WakeOutcome } from './machines/wake/wake-outcome.ts';

export type { SessionWorker } from './actors/session/session-worker.ts';
export type {
  SessionWorkerEvent,
  SessionWorkerOptions,
  SessionWorkerStatus,
  SessionWorkerSummary,
} from './actors/session/session-worker-types.ts';
export type { PruneReport } from './actors/session/session-pruning.ts';
