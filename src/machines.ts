/**
 * The lifecycles themselves, as XState machines and compiled, what can be said of them and of any other XState machine,
 * and what is decided beside them: for inspection, audits, tests and stores of one's own.
 */
import type { RenderOptions } from './adapters/diagram/render-chart.ts';
import type { ChartDiff } from './machines/inspection/chart-change.ts';
import type { ChartDescription } from './machines/inspection/chart-description.ts';

export { compileLifecycle } from './machines/lifecycle.ts';
export type { CompiledLifecycle, LifecycleSnapshot } from './machines/lifecycle.ts';

export { taskMachine } from './machines/task/task-machine.ts';
export type { BackgroundTaskChartEvent } from './machines/task/task-machine.ts';
export { taskLifecycle } from './machines/task/task-lifecycle.ts';
export { supervisorLifecycle, supervisorMachine } from './machines/task/supervisor-machine.ts';

export { scheduleLifecycle, scheduleMachine } from './machines/schedule/schedule-machine.ts';
export type { ScheduleEvent } from './machines/schedule/schedule-machine.ts';
export { durableScheduleMachine } from './machines/schedule/durable-machine.ts';
export type { DurableScheduleEvent, DurableScheduleStatus } from './machines/schedule/durable-machine.ts';

export { subagentLifecycle, subagentMachine } from './machines/subagent/subagent-machine.ts';
export type { SubagentChartEvent, SubagentChartEventType } from './machines/subagent/subagent-machine.ts';
export { worktreeLifecycle, worktreeMachine } from './machines/subagent/worktree-machine.ts';
export type {
  WorktreeChartEvent,
  WorktreeChartEventType,
  WorktreeStatus,
} from './machines/subagent/worktree-machine.ts';

export { sessionLifecycle, sessionMachine } from './machines/session/session-machine.ts';
export type { SessionChartEvent, SessionChartEventType } from './machines/session/session-machine.ts';
export { workerLifecycle, workerMachine } from './machines/session/worker-machine.ts';
export type { WorkerEventType, WorkerPhase } from './machines/session/worker-machine.ts';
export { activationLifecycle, activationMachine } from './machines/session/activation-machine.ts';
export type { ActivationEventType, ActivationPhase } from './machines/session/activation-machine.ts';

export type { WakeCourse, WakeEnd, WakeLimits } from './machines/wake/wake-decision.ts';
export { wakeMachine } from './machines/wake/wake-machine.ts';
export type {
  CallsInput,
  ClaimAnswer,
  CommitAnswer,
  CommitInput,
  DecidedEnd,
  FailureInput,
  FoldAnswer,
  FoldInput,
  RecordedEnd,
  ReleaseInput,
} from './machines/wake/wake-machine.ts';
export type {
  StepAnswer,
  StepInput,
  WakeInput,
  WakeOutput,
  WakeStep,
  WakeStopEvent,
} from './machines/wake/wake-machine.ts';
export { leaseLifecycle, leaseMachine } from './machines/wake/lease-machine.ts';
export type { LeaseChartEvent, LeaseChartEventType, LeaseState } from './machines/wake/lease-machine.ts';

export { toolCallMachine } from './machines/turn/tool-call-machine.ts';
export type { ToolCallEvent, ToolCallInput, ToolCallResult } from './machines/turn/tool-call-machine.ts';
export { mcpConnectionLifecycle, mcpConnectionMachine } from './machines/turn/mcp-connection-machine.ts';
export type { McpConnectionEvent, McpConnectionEventType } from './machines/turn/mcp-connection-machine.ts';

/** Looks at charts: ours, and any XState 5 machine of one's own. */
export { charts } from './machines/inspection/chart-catalog.ts';
export type { Chart } from './machines/inspection/chart.ts';
export { describeChart } from './machines/inspection/describe-chart.ts';
export type { ChartSource } from './machines/inspection/describe-chart.ts';
export type {
  ChartDescription,
  ChartEvent,
  ChartInvocation,
  ChartOperation,
  ChartState,
  ChartTransition,
  ChartWaiver,
} from './machines/inspection/chart-description.ts';
export { chartEvents } from './machines/inspection/chart-events.ts';
export type { ChartEvents, DeclaredEvent, EventOf, SampleEvent } from './machines/inspection/chart-events.ts';
export type { ChartNotes } from './machines/inspection/chart-notes.ts';
export { chartOutlook } from './machines/inspection/chart-outlook.ts';
export type {
  ChartOutlook,
  ImpossibleEvent,
  OutlookState,
  OutlookWay,
  OwnStep,
  PossibleEvent,
} from './machines/inspection/chart-outlook.ts';
export { auditChart } from './machines/inspection/audit-chart.ts';
export type { ExplorationLimits } from './machines/inspection/explore-chart.ts';
export type {
  AuditRule,
  ChartAudit,
  EventClass,
  Finding,
  MatrixCell,
  Reach,
  StateReach,
} from './machines/inspection/chart-audit.ts';
export { diffCharts } from './machines/inspection/diff-charts.ts';
export { restoreOldSnapshots } from './machines/inspection/old-snapshots.ts';
export type { EarlierAudit } from './machines/inspection/old-snapshots.ts';
export { coverageOf } from './machines/inspection/coverage.ts';
export { logHits } from './machines/inspection/log-hits.ts';
export type { DiagramMarks, RenderOptions } from './adapters/diagram/render-chart.ts';
export type { Theme } from './adapters/diagram/theme.ts';
export type { Bump, ChartChange, ChartCoverage, ChartDiff, ChartHits } from './machines/inspection/chart-change.ts';

/** Inspection logs: what a recorder writes of the actors of a process, read again, and looked at as of any moment. */
export { INSPECTION_LOG_FORMAT } from './machines/inspection-log/inspection-record.ts';
export type {
  InspectedStatus,
  InspectedValue,
  InspectionHeader,
  InspectionKind,
  InspectionRecord,
  InspectionRecordOf,
} from './machines/inspection-log/inspection-record.ts';
export { InspectionReader } from './machines/inspection-log/inspection-reader.ts';
export type { ReadReport } from './machines/inspection-log/read-report.ts';
export { readRecord } from './machines/inspection-log/read-record.ts';
export type { ReadRecord } from './machines/inspection-log/read-record.ts';
export { InspectionTimeline } from './machines/inspection-log/inspection-timeline.ts';
export type { RecordFilter } from './machines/inspection-log/inspection-timeline.ts';
export type {
  ActorFilter,
  InspectedActorState,
  InspectionWorld,
  Page,
} from './machines/inspection-log/inspection-world.ts';
export type { InspectedMoment, LastTransition, InspectedState } from './machines/inspection-log/inspected-actor.ts';
export type { InspectedFamily } from './machines/inspection-log/inspected-family.ts';
export type { RecordSequence } from './machines/inspection-log/record-sequence.ts';
export type { InspectionCounts } from './machines/inspection-log/record-blocks.ts';
export { headerOfSession, recordsOfSession } from './machines/inspection-log/session-records.ts';

/** What decides whether a tool call runs. */
export { decidePermission } from './machines/permission/permission-decision.ts';
export type { PermissionDecision, PermissionQuestion } from './machines/permission/permission-decision.ts';
export { formatRule, parseRule } from './machines/permission/permission-rule.ts';
export type { PermissionRule } from './machines/permission/permission-rule.ts';
export type { PermissionSubject } from './machines/permission/permission-subject.ts';
export type { ShellCommand, ShellReading } from './machines/permission/shell-reading.ts';

/** From a log to the state of its session. */
export { foldSession } from './machines/session/session-fold.ts';
export { initialSessionState } from './machines/session/session-state.ts';

/** What every store decides alike: which records of a log count, how events are read, and which sessions are due. */
export { LogAdmission } from './machines/session/log-admission.ts';
export type { RecordTable } from './machines/session/record-table.ts';
export type { LogRecord, RecordPlace, Verdict } from './machines/session/log-admission.ts';
export { admitted, recordsOf } from './machines/session/log-records.ts';
export { MAX_RECORD_BYTES } from './machines/session/limits.ts';
export { placeEvent, readStoredEvent } from './machines/session/session-event.ts';
export type { NewSessionEvent, SessionEvent, StoredEvent } from './machines/session/session-event.ts';
export { checkActivation } from './machines/session/activation-check.ts';
export { compareUrgency } from './machines/session/activation.ts';
export type { Activation } from './machines/session/activation.ts';
export { dueSessions } from './machines/session/due-sessions.ts';
export type { DueSession, SessionOpening } from './machines/session/due-sessions.ts';

/**
 * The chart as an SVG document, by ELK, which is loaded only now: everything else here runs anywhere, this needs Node.
 */
export async function renderChart(description: ChartDescription, options?: RenderOptions): Promise<string> {
  return (await import('./adapters/diagram/render-chart.ts')).renderChart(description, options);
}

/** Two versions of a chart side by side, the older one on the left, with what differs marked. */
export async function renderChartDiff(
  before: ChartDescription,
  after: ChartDescription,
  diff?: ChartDiff,
): Promise<string> {
  return (await import('./adapters/diagram/render-chart-diff.ts')).renderChartDiff(before, after, diff);
}
