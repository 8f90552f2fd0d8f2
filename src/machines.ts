/** The lifecycles themselves, as XState machines and compiled, and what is decided beside them: for inspection, audits, tests and stores of one's own. */
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
export type { WorktreeChartEvent, WorktreeChartEventType, WorktreeStatus } from './machines/subagent/worktree-machine.ts';

export { sessionLifecycle, sessionMachine } from './machines/session/session-machine.ts';
export type { SessionChartEvent, SessionChartEventType } from './machines/session/session-machine.ts';
export { workerLifecycle, workerMachine } from './machines/session/worker-machine.ts';
export type { WorkerEventType, WorkerPhase } from './machines/session/worker-machine.ts';
export { activationLifecycle, activationMachine } from './machines/session/activation-machine.ts';
export type { ActivationEventType, ActivationPhase } from './machines/session/activation-machine.ts';

export { wakeMachine } from './machines/wake/wake-machine.ts';
export type { ClaimAnswer, CommitAnswer, FoldAnswer, StepAnswer, WakeInput, WakeStopEvent } from './machines/wake/wake-machine.ts';
export { leaseLifecycle, leaseMachine } from './machines/wake/lease-machine.ts';
export type { LeaseChartEvent, LeaseChartEventType, LeaseState } from './machines/wake/lease-machine.ts';

export { toolCallMachine } from './machines/turn/tool-call-machine.ts';
export type { ToolCallEvent, ToolCallInput, ToolCallResult } from './machines/turn/tool-call-machine.ts';
export { mcpConnectionLifecycle, mcpConnectionMachine } from './machines/turn/mcp-connection-machine.ts';
export type { McpConnectionEvent, McpConnectionEventType } from './machines/turn/mcp-connection-machine.ts';

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
export type { LogRecord, RecordPlace, Verdict } from './machines/session/log-admission.ts';
export { recordsOf } from './machines/session/log-records.ts';
export { MAX_RECORD_BYTES } from './machines/session/limits.ts';
export { placeEvent, readStoredEvent } from './machines/session/session-event.ts';
export type { NewSessionEvent, SessionEvent, StoredEvent } from './machines/session/session-event.ts';
export { checkActivation } from './machines/session/activation-check.ts';
export { compareUrgency } from './machines/session/activation.ts';
export type { Activation } from './machines/session/activation.ts';
export { dueSessions } from './machines/session/due-sessions.ts';
export type { DueSession } from './machines/session/due-sessions.ts';
