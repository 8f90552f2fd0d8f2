/**
 * The ports: what to implement to run Wakechart on another technology, the errors that their contracts ask for, and a
 * runtime over them.
 */
export type { Clock, TimerHandle } from './actors/clock/clock.ts';
export type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskRunnerList,
  BackgroundTaskRunners,
  BackgroundTaskStart,
  ChildTasks,
  ScheduleChanges,
} from './actors/task/task-runner.ts';
export type {
  EndProcessTreeOptions,
  EndedProcessTree,
  ProcessLaunch,
  ProcessTree,
  LivingProcess,
  ProcessUse,
  ReconciledProcessTree,
  ReconcileOptions,
  TrackedProcessTree,
} from './actors/task/process-tree.ts';
export type { CronPlan, CronTimes } from './actors/schedule/cron-plan.ts';
export type { SlotOwners } from './actors/schedule/slot-owners.ts';
export type { NominalTimes } from './machines/schedule/due-slots.ts';
export type { ScheduleStore } from './actors/schedule/schedule-store.ts';
export type { ScheduleHistory } from './machines/schedule/slot-ledger.ts';
export type { SchedulePlan, ScheduleRecord } from './machines/schedule/slot-record.ts';

export type { AgentCatalog, AgentListing, NewAgent } from './actors/session/agent-catalog.ts';
export type { AgentBudget, AgentFrontmatter } from './machines/agent/agent-definition.ts';
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
  Durability,
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

export type { ActivationIndex, DueActivations, DueQuery } from './actors/session/activation-index.ts';
export type { Activation, ActivationKind } from './machines/session/activation.ts';
export type { DueSession, SessionOpening } from './machines/session/due-sessions.ts';
export type { Directive, DirectiveInput, WakePriority } from './machines/wake/directive.ts';

export type {
  AgentRunConfig,
  AgentRunResult,
  AgentRuntime,
  MessageIntake,
  RunCredential,
  RunPermissionAnswer,
  RunPermissionRequest,
  RunResumption,
  RunToolMeaning,
} from './actors/run/agent-runtime.ts';
export type { AuthProfiles } from './actors/run/auth-profiles.ts';
export type { CandidateHealthStore } from './actors/run/candidate-health-store.ts';
export type { ReportedAttempt } from './machines/run/breaker.ts';
export type { CandidateAdmission, HealthFilter, HealthReport } from './machines/run/health-table.ts';
export type { SecretCommandEnd } from './actors/run/secret-command.ts';
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
export type { EndedJob, StartedJob, SubagentLog } from './actors/subagent/subagent-log.ts';
export type { HostLife } from './actors/host/host-life.ts';
export type { Meter, Telemetry } from './actors/telemetry/telemetry.ts';
export type { Readiness, RuntimeOperations } from './actors/telemetry/runtime-operations.ts';
export type { MetricFamily, MetricSample } from './machines/telemetry/metric-registry.ts';
export type {
  CountedMetric,
  MetricChange,
  MetricKind,
  MetricLabels,
  MetricName,
  MetricReading,
  ReadMetric,
} from './machines/telemetry/metric-catalog.ts';
export type {
  AgentRunEvent,
  AgentRunEventBody,
  BackendToolOutcome,
  OpaquePart,
  RunPayload,
  RunUsage,
} from './machines/run/run-output.ts';
export type { RunFailure, RunFailureKind } from './machines/run/run-failure.ts';
export type {
  AssistantMessage,
  FilePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from './machines/turn/provider-message.ts';
export type { HookedWake, PreparedAgent, SkippedTool, Subflow, ToolProgress } from './actors/turn/tool.ts';
export type { ToolDefinition, ToolDescriptor, ToolEffect } from './machines/turn/tool-definition.ts';
export type { ToolFamily } from './machines/turn/tool-family.ts';
export type { QuotaNote } from './actors/turn/quota-notes.ts';
export type { KeptOutput, OutputStore } from './actors/turn/output-store.ts';
export { WORKSPACE_COPY_GRACE_MS } from './actors/workspace-copy/copy-store.ts';
export type {
  WorkspaceCopyStore,
  WorkspaceCopyPiece,
  WorkspaceCopyRecord,
  WorkspaceCopyStates,
  PrunedPieces,
} from './actors/workspace-copy/copy-store.ts';
export type { Lacked, LackedHere } from './actors/workspace-copy/lacked-here.ts';
export type { ArrivedWorkspaceCopy, WorkspaceCopies } from './actors/workspace-copy/workspace-copies.ts';
export type { WorkspaceCopyFile } from './machines/workspace-copy/copy-manifest.ts';
export { copySuperseded } from './machines/workspace-copy/copy-state.ts';
export type { WorkspaceCopy, HomeHost, WorkspaceCopyState } from './machines/workspace-copy/copy-state.ts';
export type { AttachmentStore } from './actors/session/attachment-store.ts';
export type { AttachmentSource } from './machines/session/session-requests.ts';
export type { ProcessFolder, ShellHost } from './actors/shell/shell-host.ts';
export type { CommandEnvironmentSettings, HostEnvironment } from './machines/turn/shell/environment.ts';
export type { ToolServerNews, ToolServerRequest, ToolSource } from './actors/turn/tool-source.ts';
export type { ReadShell } from './actors/permission/shell-reader.ts';
export type { OpenWord, ShellCommand, ShellReading } from './machines/permission/shell-reading.ts';
export type { CommandPlaces } from './actors/permission/command-places.ts';
export type { PlaceGuard } from './actors/permission/place-guard.ts';
export type { CommandCheck } from './machines/permission/command-check.ts';
export type { KeptRule, PolicyStore } from './actors/permission/policy-store.ts';
export type { PermissionRule } from './machines/permission/permission-rule.ts';
export type { PermissionSubject } from './machines/permission/permission-subject.ts';

export type { EnvironmentCatalog, EnvironmentListing } from './actors/environment/environment-catalog.ts';
export type {
  EnvironmentRequest,
  SessionEnvironment,
  SessionEnvironments,
} from './actors/environment/session-environment.ts';
export type { CommandSandbox, SandboxedProgram } from './actors/environment/command-sandbox.ts';
export type { PieceRedaction, StreamOptions } from './machines/vault/secret-redaction.ts';
export type { ByteRedaction, SecretReference, SessionSecrets } from './actors/environment/session-secrets.ts';
export type { EnvironmentDefinition, EnvironmentFile } from './machines/environment/environment-definition.ts';
export type { Mount } from './machines/environment/mount-table.ts';
export type { VaultCatalog, VaultListing } from './actors/vault/vault-catalog.ts';
export type { TextRedaction } from './machines/vault/text-redaction.ts';
export type { VaultDefinition } from './machines/vault/vault-definition.ts';

export type { LivePart, LiveSpeech, SpokenWords } from './actors/words/live-words.ts';
export type { OnWord, Speak, WordChannel, WordLink } from './actors/words/word-channel.ts';
export type { WakeHook } from './actors/wake/wake-hook.ts';
export type { ContextReport } from './machines/turn/context-report.ts';
export type { WakeMemory } from './actors/wake/wake-ports.ts';
export type { LearningStore, LearningsExamination } from './actors/memory/learning-store.ts';
export type { CapturedLearning, KeptLearning } from './machines/memory/learning.ts';
export type { Keeping } from './machines/memory/learning-ledger.ts';
export type { MemoryEntry } from './machines/memory/memory-entry.ts';
export type { LogRedaction } from './actors/session/log-redaction.ts';
export type {
  SharedFilesEdit,
  SharedFilesHead,
  SharedFilesRestore,
  SharedFilesResult,
  SharedFilesStore,
} from './actors/memory/shared-files-store.ts';
export type { SharedFile, SharedFilesVersion } from './machines/memory/shared-files-version.ts';
export type { PromotionPermit } from './actors/outcome/promotion-gate.ts';
export type { OutcomeEvidence, OutcomeGrade, OutcomeVerdict } from './machines/session/improvement-events.ts';
export type { SkillCatalog, SkillListing, SkillQuery, SkillText } from './actors/skill/skill-catalog.ts';
export type { Skill, SkillScope, SkillSummary } from './machines/skill/skill-definition.ts';
export type { IndexSize } from './actors/retrieval/retrieval-index.ts';
export type { RetrievalKind } from './machines/retrieval/retrieval-document.ts';

export type { InspectedChanges, InspectionRange, InspectionRecording } from './actors/inspection/inspection-source.ts';
export type {
  Fleet,
  FleetAnswer,
  FleetLag,
  FleetLease,
  FleetList,
  FleetParked,
  FleetQuestion,
  FleetQuestions,
  FleetOverview,
  FleetWorker,
} from './actors/inspection/fleet.ts';
export type { FolderChanges, FolderDifference, FolderCheck } from './actors/inspection/folder-changes.ts';

/** A runtime over ports of one's own. */
export { createRuntime } from './runtime.ts';
export type { HookSource, RuntimeServices } from './actors/wake/hook-source.ts';
export type { Reconciliation, Runtime, RuntimePorts } from './runtime.ts';
export type { BoundsPorts } from './actors/session/parent-bounds.ts';
export type { HandedDown } from './machines/permission/handed-down.ts';
export type { InspectedFolders, RuntimeInspection } from './actors/inspection/runtime-inspection.ts';
export type { JournalCache } from './actors/session/journal-cache.ts';
export type { JournalAppendOptions, JournalPorts, SessionJournal } from './actors/session/session-journal.ts';

/** What processes of subagents are told, and say. */
export { isSubagentWorkerChildMessage, isSubagentWorkerParentMessage } from './machines/subagent/worker-messages.ts';
export type { SubagentWorkerChildMessage, SubagentWorkerParentMessage } from './machines/subagent/worker-protocol.ts';

/** For runners of tasks: what a process puts out, and pages of its log. */
export { createLimitedOutputCapture } from './machines/task/output-capture.ts';
export { appendPrefixedLogLines, createBackgroundTaskLogPage } from './machines/task/log-pages.ts';

/** Worktrees around a runner of subagents, with hooks. */
export type { HookRun, HookTypeExecutor } from './actors/subagent/worktree-hooks.ts';
export { WorktreeSubagentRunner, createWorktreeSubagentRunner } from './actors/subagent/worktree-subagent-runner.ts';
export type { WorktreeSubagentRunnerOptions } from './actors/subagent/worktree-subagent-runner.ts';
export type {
  WorktreeFinding,
  WorktreeFindingKind,
  WorktreeHandoff,
  WorktreeInspection,
} from './machines/subagent/worktree-findings.ts';
export type {
  HookDefinition,
  WorktreeHookEvent,
  WorktreeHookFunction,
  WorktreeHookInput,
  WorktreeHooks,
} from './machines/subagent/hook-config.ts';

/** Runners of subagents. */
export type { WorktreeStatus } from './machines/subagent/worktree-machine.ts';
export type {
  SubagentRunner,
  SubagentJobHandle,
  SubagentJobRequest,
  SubagentJobResult,
  SubagentJobStart,
} from './actors/subagent/subagent-runner.ts';
export type { SubagentPorts } from './actors/subagent/subagent-services.ts';

export type { CandidateHealth } from './machines/run/candidate-health.ts';
export type { RunAttempt, RunDecision } from './machines/run/run-attempt.ts';
export type { McpServer } from './machines/agent/mcp-server.ts';
export type { Allowance, Attachment, Narrowing, Restriction } from './machines/session/event-parts.ts';

/** What the state of a session is made of, as stores keep it. */
export type { CallRequest, LearningToPromote, OpenWake, PendingIngress } from './machines/session/session-state.ts';

/** Of one run of an agent. */
export type { FinishedAttempt } from './actors/run/run-options.ts';

export type { ReconciledJob } from './actors/subagent/job-recovery.ts';
export type { ProviderSettings, ProviderTable } from './machines/run/provider-settings.ts';
export type { MessageReader } from './machines/session/message-reader.ts';
export type {
  Definition as SessionEventDefinition,
  Upcaster as SessionEventUpcaster,
} from './machines/session/event-definition.ts';
