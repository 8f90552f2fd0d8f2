/**
 * How a schedule stands: its status with the reason, how many runs it has had, and how the last one went. Pure; every
 * change is a new value, which takes effect only when it replaces exactly the one it was made from (see
 * ScheduleStates).
 */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
import { nextScheduleStatus } from './durable-machine.ts';
import type { DurableScheduleStatus } from './durable-machine.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';
import { epochMsOf, instant } from './slot-record.ts';

const MAX_NOTE_CHARACTERS = 1_000;
const text = z.string().min(1);

const statusReason = z.strictObject({ code: text, message: z.string() });

const RUN_OUTCOMES = ['running', 'completed', 'failed', 'missed', 'cancelled'] as const;

const scheduleRun = z.strictObject({
  slot: instant,
  startedAt: instant,
  endedAt: instant.optional(),
  /** `missed`: what it is for could not take it just then, such as a session whose queue is full. */
  outcome: z.enum(RUN_OUTCOMES),
  /** What came of it, for people. */
  note: z.string().optional(),
  /** Who runs it, and when that gave the last sign of life. */
  owner: text,
  seenAt: instant,
});

export const scheduleState = z.strictObject({
  v: z.literal(1),
  status: z.enum(['active', 'paused', 'parked', 'ended'] satisfies readonly DurableScheduleStatus[]),
  /** Why it is parked or has ended. */
  reason: statusReason.optional(),
  /** When the status came into force. */
  since: instant,
  /** Runs that have begun; a slot that what it is for could not take is none. */
  runs: z.number().int().nonnegative(),
  failuresInARow: z.number().int().nonnegative(),
  lastRun: scheduleRun.optional(),
});

export type ScheduleState = Readonly<z.output<typeof scheduleState>>;
export type ScheduleRun = Readonly<z.output<typeof scheduleRun>>;
export type RunOutcome = Exclude<ScheduleRun['outcome'], 'running'>;
export type StatusReason = Readonly<z.output<typeof statusReason>>;

/** A run that gives no sign of life for this long is taken for dead: its worker was killed, or has lost its disk. */
export const RUN_SILENCE_MS = 60_000;

export function newScheduleState(createdAt: string): ScheduleState {
  return { v: 1, status: 'active', since: createdAt, runs: 0, failuresInARow: 0 };
}

/** The state with another status; undefined when there is no such way from the present one. */
export function withStatus(
  state: ScheduleState,
  change: {
    readonly type: 'PAUSE' | 'RESUME' | 'PARK' | 'END';
    readonly at: string;
    readonly reason?: StatusReason | undefined;
  },
): ScheduleState | undefined {
  const status = nextScheduleStatus(state.status, change.type);
  if (status === undefined) return undefined;
  const { reason: _, ...rest } = state;
  const failures = change.type === 'RESUME' ? { failuresInARow: 0 } : {};
  return {
    ...rest,
    ...failures,
    status,
    since: change.at,
    ...(change.reason === undefined ? {} : { reason: shortened(change.reason) }),
  };
}

export interface RunBeginning {
  readonly slot: string;
  readonly owner: string;
  /** Now. */
  readonly at: string;
  /** An owner that is known to be dead: a run of it goes on no more. */
  readonly deadOwner?: string | undefined;
}

export type BeginDecision =
  | { readonly kind: 'begins'; readonly state: ScheduleState }
  | {
      readonly kind: 'refused';
      readonly reason: StatusReason;
      /** What is to be recorded besides. */ readonly state?: ScheduleState;
    };

/** Whether a slot may run now. The one place where this is decided, for every worker alike. */
export function beginRun(definition: ScheduleDefinition, state: ScheduleState, beginning: RunBeginning): BeginDecision {
  const { slot, owner, at, deadOwner } = beginning;
  if (state.status !== 'active')
    return { kind: 'refused', reason: { code: 'SCHEDULE_INACTIVE', message: `the schedule is ${state.status}` } };
  const over = endOf(definition, state, slot);
  if (over !== undefined) return { kind: 'refused', reason: over, ...ended(state, over, at) };
  const { lastRun } = state;
  // The records of its slots may have lost that one; what is known of the run lies elsewhere.
  if (lastRun?.slot === slot)
    return { kind: 'refused', reason: { code: 'SCHEDULE_SLOT_DONE', message: `the run of ${slot} has begun before` } };
  const open = lastRun?.outcome === 'running' && lastRun.owner !== owner ? lastRun : undefined;
  const isDead = open !== undefined && (open.owner === deadOwner || isSilent(open, at));
  if (open !== undefined && !isDead && definition.target.kind === 'command') {
    return {
      kind: 'refused',
      reason: { code: 'SCHEDULE_OVERLAP', message: `the run of ${open.slot} still goes on in another worker` },
    };
  }
  // A run that takes its worker with it each time has to be parked like any other that fails.
  const failuresInARow = state.failuresInARow + (isDead ? 1 : 0);
  if (failuresInARow >= definition.limits.maxFailures) {
    const reason = tooManyFailures(failuresInARow, isDead ? 'its worker died' : lastRun?.note);
    const parked = withStatus({ ...state, failuresInARow }, { type: 'PARK', at, reason });
    return { kind: 'refused', reason, ...(parked === undefined ? {} : { state: parked }) };
  }
  const run: ScheduleRun = { slot, startedAt: at, outcome: 'running', owner, seenAt: at };
  return {
    kind: 'begins',
    state: { ...state, failuresInARow, runs: state.runs + 1, lastRun: newest(state, run) },
  };
}

export interface RunEnding extends RunBeginning {
  readonly outcome: RunOutcome;
  readonly note?: string | undefined;
  /** The schedule has lost what it is for. */
  readonly ends?: StatusReason | undefined;
}

export function endRun(definition: ScheduleDefinition, state: ScheduleState, ending: RunEnding): ScheduleState {
  const { slot, owner, at, outcome, note, ends } = ending;
  const startedAt = state.lastRun?.slot === slot ? state.lastRun.startedAt : at;
  const run: ScheduleRun = {
    slot,
    startedAt,
    endedAt: at,
    outcome,
    owner,
    seenAt: at,
    ...(note === undefined ? {} : { note: beginningOf(note, MAX_NOTE_CHARACTERS) }),
  };
  const next: ScheduleState = {
    ...state,
    runs: Math.max(state.runs - (outcome === 'missed' ? 1 : 0), 0),
    failuresInARow:
      outcome === 'failed' ? state.failuresInARow + 1 : outcome === 'completed' ? 0 : state.failuresInARow,
    lastRun: newest(state, run),
  };
  const over = ends ?? endOf(definition, next);
  if (over !== undefined) return withStatus(next, { type: 'END', at, reason: over }) ?? next;
  if (next.failuresInARow < definition.limits.maxFailures) return next;
  return withStatus(next, { type: 'PARK', at, reason: tooManyFailures(next.failuresInARow, note) }) ?? next;
}

/**
 * The state with a sign of life of a run; undefined when that run is no longer the one that is recorded as going on.
 */
export function withSignOfLife(state: ScheduleState, { slot, owner, at }: RunBeginning): ScheduleState | undefined {
  const { lastRun } = state;
  if (lastRun?.slot !== slot || lastRun.owner !== owner || lastRun.outcome !== 'running') return undefined;
  return { ...state, lastRun: { ...lastRun, seenAt: at } };
}

export function isSilent({ seenAt }: Pick<ScheduleRun, 'seenAt'>, at: string): boolean {
  return epochMsOf(at) - epochMsOf(seenAt) >= RUN_SILENCE_MS;
}

/** Why the schedule's own limits end it, if they do: before the run of `slot`, or after a run without one. */
function endOf({ limits }: ScheduleDefinition, { runs }: ScheduleState, slot?: string): StatusReason | undefined {
  if (limits.maxRuns !== undefined && runs >= limits.maxRuns)
    return { code: 'SCHEDULE_RUNS_DONE', message: `all of its ${limits.maxRuns} runs are done` };
  if (limits.until !== undefined && slot !== undefined && slot > limits.until)
    return { code: 'SCHEDULE_TIME_OVER', message: `its time ended at ${limits.until}` };
  return undefined;
}

function ended(state: ScheduleState, reason: StatusReason, at: string): { readonly state?: ScheduleState } {
  // The last run may still go on; its end is what ends the schedule.
  if (state.lastRun?.outcome === 'running' && !isSilent(state.lastRun, at)) return {};
  const next = withStatus(state, { type: 'END', at, reason });
  return next === undefined ? {} : { state: next };
}

function newest({ lastRun }: ScheduleState, run: ScheduleRun): ScheduleRun {
  return lastRun !== undefined && lastRun.slot > run.slot ? lastRun : run;
}

function tooManyFailures(count: number, last: string | undefined): StatusReason {
  return shortened({
    code: 'SCHEDULE_FAILS',
    message: `${count} runs in a row have failed${last === undefined || last === '' ? '' : `, the last one: ${last}`}`,
  });
}

function shortened({ code, message }: StatusReason): StatusReason {
  return { code, message: beginningOf(message, MAX_NOTE_CHARACTERS) };
}
