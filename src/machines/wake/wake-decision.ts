/**
 * What a wake does next, decided from the folded log and from what the wake has done so far. Pure, so that every case
 * is a row of a table.
 *
 * The order: what must end the wake; tool calls that are ready; stop when a call waits for an answer; what came in; one
 * model step.
 */
import type { ErrorRecord } from '../errors.ts';
import type { Allowance } from '../session/event-parts.ts';
import { MAX_CONTINUES_IN_A_ROW } from '../session/limits.ts';
import { delegatedCalls, expiryOf, isBlocked, isUnfinished } from '../session/session-activations.ts';
import type { OpenToolCall, PendingIngress, SessionState } from '../session/session-state.ts';
import type { Directive } from './directive.ts';
import { heldByJobs } from './held-budget.ts';

/** What a wake has come to so far: handed on from part to part of its work. */
export interface WakeCourse {
  /** Model steps of this wake. */
  readonly modelSteps: number;
  /** Queued wakes that this one is due for, or calls that a dead wake left: the model has something to hear. */
  readonly mustSpeak: boolean;
  /** Whether this wake has seen to the children that calls wait for. */
  readonly hasDriven: boolean;
  /** What the next step may use up at most. */
  readonly nextStep: Allowance;
  /** What the model said last. */
  readonly lastText?: string | undefined;
  readonly failure?: ErrorRecord | undefined;
}

/** What only the running wake knows. */
export interface WakeProgress extends WakeCourse {
  /** Since the wake began, in milliseconds. */
  readonly elapsedMs: number;
  readonly limits: WakeLimits;
  /** Calls in a row that were the same and came to the same, and steps in a row of which nothing new came. */
  readonly identicalCalls: number;
  readonly stepsWithoutProgress: number;
  /** ISO-8601. */
  readonly now: string;
  /** Why this process stops the wake. */
  readonly abortReason?: string | undefined;
}

/** What one wake may use up before it rests and says so. */
export interface WakeLimits {
  readonly maxModelStepsPerWake: number;
  /** Input and output together, as far as the provider tells. */
  readonly maxTokensPerWake?: number | undefined;
  readonly maxTokensPerSession?: number | undefined;
  /** In US dollars. */
  readonly maxCostPerWake?: number | undefined;
  readonly maxCostPerSession?: number | undefined;
  readonly maxSecondsPerWake?: number | undefined;
  readonly maxIdenticalCalls: number;
  readonly maxStepsWithoutProgress: number;
}

type BudgetName = keyof WakeLimits | 'MAX_CONTINUES_IN_A_ROW';

export type WakeEnd =
  | { readonly outcome: 'sleep' | 'requires_action' | 'rescheduled'; readonly summary: string | undefined }
  | {
      readonly outcome: 'budget_reached';
      readonly budget: { readonly name: BudgetName; readonly value: number; readonly because?: string | undefined };
    }
  | { readonly outcome: 'failed'; readonly error: ErrorRecord }
  | { readonly outcome: 'interrupted' | 'aborted'; readonly reason: string }
  | { readonly outcome: 'terminated' };

export type WakeDecision = { readonly act: 'step' | 'call_tools' } | { readonly act: 'end'; readonly end: WakeEnd };

/** Whether a session has anything for a wake to do at `now` (ISO-8601). */
export function hasWork(state: SessionState, now: string): boolean {
  if (readyCalls(state).length > 0 || delegatedCalls(state).length > 0 || expiredCalls(state, now).length > 0)
    return true;
  if (isBlocked(state)) return false;
  return isUnfinished(state) || state.pending.length > 0 || dueWakeIds(state, now).length > 0;
}

/** The queued wakes whose time has come, soonest first. None while the session could not hear of them. */
export function dueWakeIds(state: SessionState, now: string): string[] {
  if (isBlocked(state)) return [];
  const nowMs = Date.parse(now);
  return state.queuedWakes
    .filter(({ dueAt }) => Date.parse(dueAt) <= nowMs)
    .toSorted((one, other) => Date.parse(one.dueAt) - Date.parse(other.dueAt))
    .map(({ queuedWakeId }) => queuedWakeId);
}

/** Calls whose permission was not given in time. */
export function expiredCalls({ openToolCalls }: SessionState, now: string): readonly OpenToolCall[] {
  return openToolCalls.filter((call) => call.phase === 'waiting' && (expiryOf(call) ?? Infinity) <= Date.parse(now));
}

/** Open calls that nothing holds back: just asked for, or answered by a person or client. */
export function readyCalls({ openToolCalls }: SessionState): readonly OpenToolCall[] {
  return openToolCalls.filter(({ phase }) => phase === 'requested' || phase === 'answered');
}

/**
 * What the next model step reads of what came in: all of it between turns, and within a turn what is to steer it. A
 * wake that begins in the middle of a turn, after a limit or a failure, reads all of it first: who wrote must not wait
 * for a turn that may never end.
 */
export function readableIngress(state: SessionState): readonly PendingIngress[] {
  const readable = state.pending.filter(({ callId }) => callId === undefined);
  const isWithinTurn = state.unansweredResults > 0 && !isAnswered(state) && (state.openWake?.steps ?? 0) > 0;
  return isWithinTurn ? readable.filter(({ delivery }) => delivery !== 'queue') : readable;
}

export function decideNext(state: SessionState, progress: WakeProgress): WakeDecision {
  if (state.status === 'terminated') return end({ outcome: 'terminated' });
  const interruption = state.openWake?.interruption;
  // Before a failure, which would be tried again.
  if (interruption !== undefined)
    return end({ outcome: 'interrupted', reason: interruption.reason ?? 'a client interrupted it' });
  if (progress.failure !== undefined) return end({ outcome: 'failed', error: progress.failure });
  if (progress.abortReason !== undefined)
    return end(timeLimit(progress) ?? { outcome: 'aborted', reason: progress.abortReason });
  if (readyCalls(state).length > 0 || expiredCalls(state, progress.now).length > 0) return { act: 'call_tools' };
  if (delegatedCalls(state).length > 0 && !progress.hasDriven) return { act: 'call_tools' };
  if (isBlocked(state)) return end({ outcome: 'requires_action', summary: waitingFor(state) });

  if (progress.mustSpeak || readableIngress(state).length > 0 || (state.unansweredResults > 0 && !isAnswered(state)))
    return stepOrLimit(state, progress);
  if (state.intent?.next !== 'go_on') return end(restOf(state, state.openDirectives.at(-1)));
  if (state.continuesInARow <= MAX_CONTINUES_IN_A_ROW) return stepOrLimit(state, progress);
  return end({ outcome: 'budget_reached', budget: { name: 'MAX_CONTINUES_IN_A_ROW', value: MAX_CONTINUES_IN_A_ROW } });
}

/** Whether the model has said that its turn is over, whatever its tools returned. */
function isAnswered({ intent }: SessionState): boolean {
  return intent?.next === 'rest';
}

/** The work in hand is cut short when the time is up; then that is why it ended. */
function timeLimit({ elapsedMs, limits: { maxSecondsPerWake: value } }: WakeProgress): WakeEnd | undefined {
  return value !== undefined && elapsedMs >= value * 1000
    ? { outcome: 'budget_reached', budget: { name: 'maxSecondsPerWake', value } }
    : undefined;
}

/** Reserve before, commit after: a step that could use up more than is left is not taken. */
function stepOrLimit(state: SessionState, progress: WakeProgress): WakeDecision {
  const { modelSteps, elapsedMs, limits, identicalCalls, stepsWithoutProgress, nextStep } = progress;
  const { tokens = 0, cost = 0 } = state.openWake ?? {};
  // What jobs may use up is theirs until they have ended.
  const held = heldByJobs(state);
  const needs: Readonly<Record<keyof WakeLimits, number>> = {
    maxModelStepsPerWake: modelSteps + 1,
    maxTokensPerWake: tokens + held.tokens + (nextStep.tokens ?? 1),
    maxTokensPerSession: state.used.tokens + held.tokens + (nextStep.tokens ?? 1),
    maxCostPerWake: cost + held.cost + (nextStep.cost ?? 0),
    maxCostPerSession: state.used.cost + held.cost + (nextStep.cost ?? 0),
    maxSecondsPerWake: Math.max(elapsedMs / 1000, Number.EPSILON),
    maxIdenticalCalls: identicalCalls + 1,
    maxStepsWithoutProgress: stepsWithoutProgress + 1,
  };
  const reached = BUDGETS.find((name) => needs[name] > (limits[name] ?? Infinity));
  if (reached === undefined) return { act: 'step' };
  const because = reached.startsWith('maxCost') && nextStep.cost === Infinity ? UNKNOWN_PRICE : BECAUSE[reached];
  return end({
    outcome: 'budget_reached',
    budget: { name: reached, value: limits[reached] ?? 0, ...(because === undefined ? {} : { because }) },
  });
}

const BUDGETS = [
  'maxModelStepsPerWake',
  'maxTokensPerWake',
  'maxTokensPerSession',
  'maxCostPerWake',
  'maxCostPerSession',
  'maxSecondsPerWake',
  'maxIdenticalCalls',
  'maxStepsWithoutProgress',
] as const satisfies readonly (keyof WakeLimits)[];

const UNKNOWN_PRICE = 'the price of the model is not known, so what it costs cannot be bounded';

const BECAUSE: Readonly<Partial<Record<keyof WakeLimits, string>>> = {
  maxIdenticalCalls: 'the same call came to the same result again and again',
  maxStepsWithoutProgress: 'nothing new came of the last steps',
};

function restOf(state: SessionState, directive: Directive | undefined): WakeEnd {
  const summary = directive?.summary;
  const asksOutside =
    state.pendingActions.length > 0 ||
    state.openDirectives.some(({ customToolRequest }) => customToolRequest !== undefined);
  if (asksOutside) return { outcome: 'requires_action', summary };
  return {
    outcome: directive?.outcome === 'continue' && directive.followUpSeconds !== undefined ? 'rescheduled' : 'sleep',
    summary,
  };
}

function waitingFor(state: SessionState): string {
  const children = delegatedCalls(state).map(({ name }) => `the agent behind ${name}`);
  const wishes = state.pendingActions.map(({ kind, toolName, question }) =>
    kind === 'permission' ? `permission to run ${toolName}` : (question ?? `a result of ${toolName}`),
  );
  return `Waits for ${children.length === 0 ? 'an answer: ' : ''}${[...children, ...wishes].join('; ')}`;
}

function end(wakeEnd: WakeEnd): WakeDecision {
  return { act: 'end', end: wakeEnd };
}
