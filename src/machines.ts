/**
 * What can be said of charts: ours, in the catalogue `charts`, and any other XState machine; of what was recorded of
 * them; and what is decided beside them, for stores of one's own. All of it runs anywhere, browsers included.
 */
export { charts } from './machines/inspection/chart-catalog.ts';
export type { Chart } from './machines/inspection/chart.ts';
export { describeChart } from './machines/inspection/describe-chart.ts';
export type { ChartSource } from './machines/inspection/describe-chart.ts';
export type { ChartDescription } from './machines/inspection/chart-description.ts';
export { chartEvents } from './machines/inspection/chart-events.ts';
export type { ChartEvents, DeclaredEvent, EventOf } from './machines/inspection/chart-events.ts';
export { auditChart } from './machines/inspection/audit-chart.ts';
export type { ExplorationLimits } from './machines/inspection/exploration-limits.ts';
export type { ChartAudit, Finding } from './machines/inspection/chart-audit.ts';
export { diffCharts } from './machines/inspection/diff-charts.ts';
export { coverageOf } from './machines/inspection/coverage.ts';
export { logHits } from './machines/inspection/log-hits.ts';
export type { ChartCoverage, ChartDiff, ChartHits } from './machines/inspection/chart-change.ts';

/** Inspection logs: what a recorder writes of the actors of a process, read again, and shown as of any moment. */
export type {
  InspectedValue,
  InspectionHeader,
  InspectionRecord,
} from './machines/inspection-log/inspection-record.ts';
export { InspectionReader } from './machines/inspection-log/inspection-reader.ts';
export type { ReadReport } from './machines/inspection-log/read-report.ts';
export { InspectionTimeline } from './machines/inspection-log/inspection-timeline.ts';
export type { InspectedActorState, InspectionWorld } from './machines/inspection-log/inspection-world.ts';
export type { InspectedMoment } from './machines/inspection-log/inspected-actor.ts';
export type { InspectedFamily } from './machines/inspection-log/inspected-family.ts';
export type { RecordSequence } from './machines/inspection-log/record-sequence.ts';
export type { InspectionCounts } from './machines/inspection-log/record-blocks.ts';
export { headerOfSession, recordsOfSession } from './machines/inspection-log/session-records.ts';

/** The lifecycle of a background task, as a table and as pure functions. */
export {
  getBackgroundTaskTransitions,
  isTerminalBackgroundTaskStatus,
  transitionBackgroundTaskStatus,
} from './machines/task/task-lifecycle.ts';
export type { BackgroundTaskTransition } from './machines/task/task-lifecycle.ts';

/** From a log to the state of its session. */
export { foldSession } from './machines/session/session-fold.ts';
export { initialSessionState } from './machines/session/session-state.ts';

/** What every store decides alike: which records of a log count, how events are read, and which sessions are due. */
export { LogAdmission } from './machines/session/log-admission.ts';
export type { LogRecord, RecordPlace, Verdict } from './machines/session/log-admission.ts';
export { admitted, recordsOf } from './machines/session/log-records.ts';
export { MAX_RECORD_BYTES } from './machines/session/limits.ts';
export { placeEvent, readStoredEvent } from './machines/session/session-event.ts';
export type { StoredEvent } from './machines/session/session-event.ts';
export { checkActivation, compareUrgency } from './machines/session/activation.ts';
export { dueSessions } from './machines/session/due-sessions.ts';
