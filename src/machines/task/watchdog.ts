/**
 * Rules that end an agent task which no longer makes sense: limits as data, and the detector of streams that repeat
 * themselves.
 */
import type { ErrorRecord } from '../errors.ts';
import { BackgroundTaskError } from './task-error.ts';
import type { AgentTaskRequest, BackgroundTaskRequest } from './task-request.ts';
import type { BackgroundTaskTimeoutReason } from './task-state.ts';

/** Every limit of a task, resolved. 0 turns a limit off. */
export interface WatchdogLimits {
  readonly idleTimeoutMs: number;
  readonly maxRuntimeMs: number;
  readonly outputLimitBytes: number;
  readonly maxTextDeltas: number;
  readonly repetitionWindow: number;
  readonly repetitionThreshold: number;
}

/** Defaults of the manager for tasks that do not say otherwise. */
export interface WatchdogDefaults {
  readonly agentIdleTimeoutMs: number;
  readonly agentMaxRuntimeMs: number;
  readonly agentOutputLimitBytes: number;
  readonly agentMaxTextDeltas: number;
  readonly repetitionWindow: number;
  readonly repetitionThreshold: number;
}

const NO_LIMITS: WatchdogLimits = Object.freeze({
  idleTimeoutMs: 0,
  maxRuntimeMs: 0,
  outputLimitBytes: 0,
  maxTextDeltas: 0,
  repetitionWindow: 0,
  repetitionThreshold: 0,
});

/** The limits of agent tasks that name none themselves. */
export function agentLimitsOf(defaults: WatchdogDefaults): WatchdogLimits {
  return Object.freeze({
    idleTimeoutMs: defaults.agentIdleTimeoutMs,
    maxRuntimeMs: defaults.agentMaxRuntimeMs,
    outputLimitBytes: defaults.agentOutputLimitBytes,
    maxTextDeltas: defaults.agentMaxTextDeltas,
    repetitionWindow: defaults.repetitionWindow,
    repetitionThreshold: defaults.repetitionThreshold,
  });
}

/**
 * The limits that hold for a request. Agent tasks fall back to the manager's, and their legacy `timeoutMs` means
 * `idleTimeoutMs`. For a process `timeoutMs` is wall clock and belongs to its runner; other limits hold when the
 * request names them.
 */
export function watchdogLimitsFor(request: BackgroundTaskRequest, agentLimits: WatchdogLimits): WatchdogLimits {
  if (request.kind === 'agent') {
    if (namesNoLimit(request)) return agentLimits;
    return {
      idleTimeoutMs: request.idleTimeoutMs ?? request.timeoutMs ?? agentLimits.idleTimeoutMs,
      maxRuntimeMs: request.maxRuntimeMs ?? agentLimits.maxRuntimeMs,
      outputLimitBytes: request.outputLimitBytes ?? agentLimits.outputLimitBytes,
      maxTextDeltas: request.maxTextDeltas ?? agentLimits.maxTextDeltas,
      repetitionWindow: request.repetitionWindow ?? agentLimits.repetitionWindow,
      repetitionThreshold: request.repetitionThreshold ?? agentLimits.repetitionThreshold,
    };
  }
  if (request.idleTimeoutMs === undefined && request.maxRuntimeMs === undefined) return NO_LIMITS;
  return { ...NO_LIMITS, idleTimeoutMs: request.idleTimeoutMs ?? 0, maxRuntimeMs: request.maxRuntimeMs ?? 0 };
}

function namesNoLimit(request: AgentTaskRequest): boolean {
  return (
    request.idleTimeoutMs === undefined &&
    request.timeoutMs === undefined &&
    request.maxRuntimeMs === undefined &&
    request.outputLimitBytes === undefined &&
    request.maxTextDeltas === undefined &&
    request.repetitionWindow === undefined &&
    request.repetitionThreshold === undefined
  );
}

const HINTS = {
  idle: 'Raise idleTimeoutMs, or declare the time limit of long tools with their tool_start.',
  max_runtime: 'Raise maxRuntimeMs, or split the work.',
  output_limit: 'Raise outputLimitBytes or maxTextDeltas if so much text is expected.',
  repetition: 'The text repeated itself; change the prompt or the model, or raise repetitionThreshold.',
  stale_worker: 'The worker was lost; start the task again.',
} as const satisfies Record<BackgroundTaskTimeoutReason, string>;

/** The error of a task that a watchdog ended. `observed` says what was seen, in a few words. */
export function watchdogError(reason: BackgroundTaskTimeoutReason, observed: string): BackgroundTaskError {
  return new BackgroundTaskError(
    'timeout',
    `Background task stopped by its ${reason.replace('_', ' ')} watchdog: ${observed}`,
    {
      code: `TASK_${reason.toUpperCase()}`,
      hint: HINTS[reason],
      details: { timeoutReason: reason },
    },
  );
}

/** The limit that an error tells of, if it does. */
export function timeoutReasonOf({
  category,
  details,
}: Pick<ErrorRecord, 'category' | 'details'>): BackgroundTaskTimeoutReason | undefined {
  const reason = category === 'timeout' ? details?.['timeoutReason'] : undefined;
  return isTimeoutReason(reason) ? reason : undefined;
}

function isTimeoutReason(value: unknown): value is BackgroundTaskTimeoutReason {
  return typeof value === 'string' && Object.hasOwn(HINTS, value);
}
