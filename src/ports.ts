/**
 * The ports: what to implement to run Wakechart on another technology, the errors that their contracts ask for, a
 * runtime over them, and its parts: runs of agents, tools. What stands in one of these signatures only is a part of it
 * and has no name: `FleetOverview['leases']`, `Parameters<CandidateHealthStore['report']>[1]`.
 */
export type { Clock, TimerHandle } from './actors/clock/clock.ts';
export type { OnListenerError } from './actors/streams/listener-errors.ts';
export type { AgentTaskRequest, ProcessTaskRequest, ScheduledTaskRequest } from './machines/task/task-request.ts';
export type { BackgroundTaskRunnerEvent } from './machines/task/task-state.ts';
export type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskRunnerList,
  BackgroundTaskRunners,
  BackgroundTaskStart,
  ScheduleChanges,
} from './actors/task/task-runner.ts';
export type {
  EndedProcessTree,
  ProcessLaunch,
  ProcessTree,
  LivingProcess,
  ProcessIdentity,
  ProcessUse,
  ReconciledProcessTree,
  TrackedProcessTree,
} from './actors/task/process-tree.ts';
export type { CronPlan, CronTimes } from './actors/schedule/cron-plan.ts';
export type { SlotOwners } from './actors/schedule/slot-owners.ts';
export type { ScheduleStore } from './actors/schedule/schedule-store.ts';
export type { ScheduleHistory } from './machines/schedule/slot-ledger.ts';
export type { ScheduleRecord } from './machines/schedule/slot-record.ts';

export type { AgentCatalog, AgentListing, NewAgent } from './actors/session/agent-catalog.ts';
export type { AgentDefinition, AgentFrontmatter } from './machines/agent/agent-definition.ts';
export type { IdSource } from './actors/session/id-source.ts';
export type { SessionDirectories, SessionPlace } from './actors/session/session-directories.ts';

export {
  MAX_READ_EVENTS,
  epochSuperseded,
  eventsNotStorable,
  headMoved,
  recordTooLarge,
  sessionBusy,
  sessionExists,
  sessionNotFound,
  storeClosed,
  wakeConflict,
} from './actors/session/event-store.ts';
export type {
  AppendOptions,
  AppendResult,
  EventStore,
  NewSessionEvents,
  ReadOptions,
  SessionIdentity,
  ListFilter,
  SessionListing,
  SessionRecord,
  StoredRecord,
  WakeClaim,
  WakeRight,
} from './actors/session/event-store.ts';
export type { NewSessionEvent, SessionEventDraft } from './machines/session/session-event.ts';
export type { Definition as SessionEventDefinition } from './machines/session/event-definition.ts';
export type { Allowance, Attachment, Restriction } from './machines/session/event-parts.ts';

export type { ActivationIndex, DueActivations, DueQuery } from './actors/session/activation-index.ts';
export type { Activation } from './machines/session/activation.ts';
export type { DueSession, SessionOpening } from './machines/session/due-sessions.ts';

export type {
  AgentRunConfig,
  AgentRunParams,
  AgentRunResult,
  AgentRuntime,
  MessageIntake,
  RunCredential,
  RunPermissionAnswer,
  RunPermissionRequest,
  RunResumption,
} from './actors/run/agent-runtime.ts';
export type { AuthProfiles } from './actors/run/auth-profiles.ts';
export type { CandidateHealthStore } from './actors/run/candidate-health-store.ts';
export type { CandidateHealth } from './machines/run/candidate-health.ts';
export type { CandidateAdmission } from './machines/run/health-table.ts';
export type { AuthProfile } from './machines/run/auth-profile.ts';
export type {
  KeptWorktree,
  PreparedSubagentWorktree,
  ReconcileWorktreesOptions,
  ReconciledWorktree,
  SubagentWorktreeAdapter,
  WorktreeStore,
  WorktreeRequest,
} from './actors/subagent/worktree-adapter.ts';
export type { FoundJobRecord, JobRecords, KeptJobOutput } from './actors/subagent/job-records.ts';
export type { JobRecord } from './machines/subagent/job-record.ts';
export type { SubagentLog } from './actors/subagent/subagent-log.ts';
export type { HostLife } from './actors/host/host-life.ts';
export type { Meter, Telemetry } from './actors/telemetry/telemetry.ts';
export type { Readiness, RuntimeOperations } from './actors/telemetry/runtime-operations.ts';
export type { MetricFamily } from './machines/telemetry/metric-registry.ts';
export type { MetricChange, MetricLabels, MetricReading } from './machines/telemetry/metric-catalog.ts';
export type { AgentRunEvent, AgentRunEventBody, OpaquePart, RunPayload, RunUsage } from './machines/run/run-output.ts';
export type { RunFailure, RunFailureKind } from './machines/run/run-failure.ts';
export type {
  AssistantMessage,
  ProviderMessage,
  FilePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from './machines/turn/provider-message.ts';
export type { HookedWake, PreparedAgent, SkippedTool, Subflow, ToolProgress } from './actors/turn/tool.ts';
export type { ToolDefinition, ToolDescriptor } from './machines/turn/tool-definition.ts';
export type { QuotaNote } from './actors/turn/quota-notes.ts';
export type { OutputStore } from './actors/turn/output-store.ts';
export { WORKSPACE_COPY_GRACE_MS } from './actors/workspace-copy/copy-store.ts';
export type { WorkspaceCopyStore, WorkspaceCopyPiece } from './actors/workspace-copy/copy-store.ts';
export type { LackedHere } from './actors/workspace-copy/lacked-here.ts';
export type { Lack } from './machines/session/lack.ts';
export type { ArrivedWorkspaceCopy, WorkspaceCopies } from './actors/workspace-copy/workspace-copies.ts';
export { copySuperseded } from './machines/workspace-copy/copy-state.ts';
export type { HomeHost, WorkspaceCopyState } from './machines/workspace-copy/copy-state.ts';
export type { AttachmentStore } from './actors/session/attachment-store.ts';
export type { ProcessFolder, ShellHost } from './actors/shell/shell-host.ts';
export type { CommandEnvironmentSettings, HostEnvironment } from './machines/turn/shell/environment.ts';
export type { ToolServerRequest, ToolSource } from './actors/turn/tool-source.ts';
export type {
  CommandPlaces,
  KeptRule,
  PlaceGuard,
  PolicyStore,
  ReadShell,
} from './actors/permission/permission-ports.ts';
export type { ShellCommand, ShellReading } from './machines/permission/shell-reading.ts';
export type { PermissionRule } from './machines/permission/permission-rule.ts';
export type { PermissionSubject } from './machines/permission/permission-subject.ts';

export type {
  EnvironmentRequest,
  SessionEnvironment,
  SessionEnvironments,
} from './actors/environment/session-environment.ts';
export type { CommandSandbox, SandboxedProgram } from './actors/environment/command-sandbox.ts';
export type { PieceRedaction } from './machines/vault/secret-redaction.ts';
export type { ByteRedaction, SessionSecrets } from './actors/environment/session-secrets.ts';
export type { EnvironmentDefinition, EnvironmentFile } from './machines/environment/environment-definition.ts';
export type { TextRedaction } from './machines/vault/text-redaction.ts';

export type { OnWord, WordChannel, WordLink } from './actors/words/word-channel.ts';
export type { WakeHook } from './actors/wake/wake-hook.ts';
export type { WakeMemory } from './actors/wake/wake-ports.ts';
export type { LearningStore, LearningsExamination } from './actors/memory/learning-store.ts';
export type { CapturedLearning, KeptLearning } from './machines/memory/learning.ts';
export type { Keeping } from './machines/memory/learning-ledger.ts';
export type { LogRedaction } from './actors/session/session-journal.ts';
export type {
  SharedFilesEdit,
  SharedFilesHead,
  SharedFilesResult,
  SharedFilesStore,
} from './actors/memory/shared-files-store.ts';
export type { SharedFile, SharedFilesVersion } from './machines/memory/shared-files-version.ts';
export type { PromotionPermit } from './actors/outcome/promotion-gate.ts';

export type { InspectionRange } from './actors/inspection/inspection-source.ts';
export type { Fleet, FleetAnswer, FleetQuestions, FleetOverview, FleetWorker } from './actors/inspection/fleet.ts';
export type { FolderChanges, FolderDifference } from './actors/inspection/folder-changes.ts';

/** Runs of agents over backends and accounts of one's own, and the tools of an agent. */
export { executeAgentRun } from './actors/run/execute-agent-run.ts';
export type { ExecuteAgentRunOptions } from './actors/run/run-options.ts';
export type { AgentRun } from './actors/run/start-agent-run.ts';
export { AgentRuntimeRegistry } from './actors/run/agent-runtime-registry.ts';
export { classifyRunFailure } from './machines/run/classify-failure.ts';
export type { Candidate, ModelChoice } from './machines/run/candidate.ts';
export type { RunLimits } from './machines/run/run-decision.ts';
export type { RunDecision } from './machines/run/run-attempt.ts';
export type { ProviderSettings } from './machines/run/provider-settings.ts';
export { StreamStepMessageBuilder } from './machines/turn/step-message.ts';
export { buildTools, loadAgent, mapAgentTool } from './actors/turn/agent-tools.ts';
export type { BuiltTools } from './actors/turn/agent-tools.ts';
export type { ToolAttachment } from './machines/agent/tool-attachment.ts';
export type { McpServer } from './machines/agent/mcp-server.ts';

/** A runtime over ports of one's own. */
export { createRuntime } from './runtime.ts';
export type { HookSource, RuntimeServices } from './actors/wake/hook-source.ts';
export type { Reconciliation, Runtime, RuntimePorts } from './runtime.ts';
export type { InspectedFolders } from './actors/inspection/runtime-inspection.ts';

/** What processes of subagents are told, and say. */
export { isSubagentWorkerChildMessage, isSubagentWorkerParentMessage } from './machines/subagent/worker-messages.ts';
export type { SubagentWorkerChildMessage, SubagentWorkerParentMessage } from './machines/subagent/worker-protocol.ts';

/** For runners of tasks: what a process puts out, and pages of its log. */
export { createLimitedOutputCapture } from './machines/task/output-capture.ts';
export type { LimitedOutputCapture } from './machines/task/output-capture.ts';
export { appendPrefixedLogLines, createBackgroundTaskLogPage } from './machines/task/log-pages.ts';

/** Worktrees around a runner of subagents, with hooks. */
export type { HookTypeExecutor } from './actors/subagent/worktree-hooks.ts';
export { WorktreeSubagentRunner, createWorktreeSubagentRunner } from './actors/subagent/worktree-subagent-runner.ts';
export type { WorktreeSubagentRunnerOptions } from './actors/subagent/worktree-subagent-runner.ts';
export type { WorktreeInspection } from './machines/subagent/worktree-findings.ts';
export type { HookDefinition, WorktreeHookInput, WorktreeHooks } from './machines/subagent/hook-config.ts';

/** Runners of subagents. */
export type {
  SubagentRunner,
  SubagentJobHandle,
  SubagentJobResult,
  SubagentJobStart,
} from './actors/subagent/subagent-runner.ts';
export type { SubagentPorts } from './actors/subagent/subagent-services.ts';
export type { ReconciledJob } from './actors/subagent/job-recovery.ts';
