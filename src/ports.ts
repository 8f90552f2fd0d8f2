/** The ports: what to implement to run Wakechart on another technology. */
export type { Clock, TimerHandle } from './actors/clock/clock.ts';
export type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskRunners,
  BackgroundTaskStart,
  ChildTasks,
  ScheduleChanges,
} from './actors/task/task-runner.ts';
export type {
  EndProcessTreeOptions,
  EndedProcessTree,
  ProcessIdentity,
  ProcessTree,
  ProcessTreeWork,
  ReconciledProcessTree,
  ReconcileOptions,
  TrackedProcessTree,
} from './actors/task/process-tree.ts';
export type { CronPlan, CronTimes } from './actors/schedule/cron-plan.ts';
export type { ScheduleStore } from './actors/schedule/schedule-store.ts';
export type { AgentCatalog, AgentListing, NewAgent } from './actors/session/agent-catalog.ts';
export type {
  AppendOptions,
  AppendResult,
  Durability,
  EventStore,
  NewSessionEvents,
  ReadOptions,
  SessionIdentity,
  SessionListing,
  WakeRight,
} from './actors/session/event-store.ts';
export type { SessionDirectories } from './actors/session/session-directories.ts';
export type { AgentRunConfig, AgentRunMeta, AgentRunParams, AgentRunResult, AgentRuntime } from './actors/run/agent-runtime.ts';
export type { AgentRunEvent, RunPayload, RunUsage } from './machines/run/run-output.ts';
export type { RunFailure, RunFailureKind } from './machines/run/run-failure.ts';
export type { Tool, ToolContext } from './actors/turn/tool.ts';
