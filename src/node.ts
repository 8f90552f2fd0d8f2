/** `wakechart/node`: a runtime over a home directory or PostgreSQL, with the adapters of this machine. */
export { createInspector, createNodeRuntime } from './node/node-runtime.ts';
export type { NodeRuntime } from './node/node-runtime.ts';
export type { NodeRuntimeOptions, WakechartConfig } from './node/runtime-options.ts';
export { defineConfig } from './node/config-module.ts';
export type { HomeSchedules } from './node/schedules.ts';
export type { TasksElsewhere } from './actors/task/tasks-elsewhere.ts';
export type { TaskElsewhere } from './actors/task/task-elsewhere.ts';
export type { FollowedTaskNews } from './actors/task/followed-task.ts';
export { createDefaultBackgroundTaskRunners, createScheduledTaskRunner } from './node/tasks.ts';
export { createManagedShellProcessRunner } from './adapters/shell/shell-runner.ts';
export type { ManagedShellProcessRunnerOptions } from './adapters/shell/shell-runner.ts';
export { createCronerPlan } from './adapters/cron/croner-plan.ts';
export type {
  ScheduleSummary,
  ScheduleOverview,
  ScheduleRegistry,
  ScheduleView,
  UnreadableSchedule,
} from './actors/schedule/durable-registry.ts';
export type { ScheduleState } from './machines/schedule/schedule-state.ts';
export type { NewSchedule, ScheduleDefinition } from './machines/schedule/schedule-definition.ts';
export { createSystemClock } from './actors/clock/system-clock.ts';
export { createProcessTree } from './adapters/process-tree/process-tree.ts';
export { createScriptAgentRuntime } from './adapters/script/script-agent-runtime.ts';
export { createEmbeddedAgentRuntime } from './adapters/embedded/embedded-agent-runtime.ts';
export { createCliAgentRuntime } from './adapters/cli-agent/cli-agent-runtime.ts';
export { createAcpAgentRuntime } from './adapters/acp/acp-agent-runtime.ts';
export { createOpenTelemetry } from './adapters/opentelemetry/open-telemetry.ts';
export { createHealthHandler } from './adapters/health/health-handler.ts';
export { FileEventStore } from './adapters/files/file-event-store.ts';
export type { FileEventStoreOptions } from './adapters/files/file-event-store.ts';
export { FileAgentCatalog } from './adapters/agents/file-agent-catalog.ts';
export type { Retrieval, RetrievalAnswer } from './actors/retrieval/retrieval.ts';
export type { RefreshReport } from './actors/retrieval/index-refresh.ts';
export type { RetrievalCandidate } from './machines/retrieval/candidate.ts';
export type { OutcomeEvaluator } from './actors/outcome/outcome-evaluator.ts';
export type { OutcomeReport } from './actors/outcome/evaluation.ts';
export type { OutcomeHistory } from './actors/outcome/outcome-history.ts';
export type { Grade } from './machines/outcome/outcome-grade.ts';
export { AgentMemory } from './actors/memory/agent-memory.ts';
export type { MemoryReading } from './actors/memory/agent-memory.ts';
export type { NodeStoreOptions } from './node/node-store.ts';
export type { NodeSubagentOptions } from './node/subagents.ts';
export { GitWorktreeIsolationAdapter, createGitWorktreeIsolationAdapter } from './adapters/git/git-worktree-adapter.ts';
export type { GitWorktreeOptions } from './adapters/git/git-worktree-options.ts';
export { ChildProcessSubagentRunner } from './adapters/child-process/child-process-runner.ts';
export type { ChildProcessSubagentRunnerOptions } from './adapters/child-process/runner-options.ts';
export { createChildProcessSubagentRunnerFactory } from './adapters/child-process/runner-factory.ts';
export { getDefaultSubagentWorkerPath } from './adapters/child-process/default-worker-path.ts';
export type { Recorder, RecorderStatistics } from './actors/inspection/recorder.ts';
export type { CreateInspectorOptions, Inspector } from './node/inspector.ts';
export { renderChart, renderCoverage } from './node/drawings.ts';
export type { RenderOptions } from './adapters/diagram/render-chart.ts';
