/** How a session stands, in a few words. */
import type { SessionState } from '../session/session-state.ts';
import type { ReasonKind } from '../session/why-reason.ts';

/** The colors of badges that mean the same everywhere. */
export type ShownStatus = 'waiting' | 'running' | 'done' | 'error' | 'quiet';

export interface StatusWords {
  readonly text: string;
  readonly status: ShownStatus;
}

const WORDS: Readonly<Record<ReasonKind, StatusWords>> = {
  permission: { text: 'waits for your permission', status: 'waiting' },
  question: { text: 'waits for your answer', status: 'waiting' },
  custom_tool: { text: 'waits for a tool result', status: 'waiting' },
  running: { text: 'runs', status: 'running' },
  dead: { text: 'its process died', status: 'error' },
  lost: { text: 'its wake was lost, its process lives', status: 'running' },
  losing: { text: 'loses its wakes', status: 'error' },
  suspended: { text: 'its process is suspended', status: 'error' },
  child: { text: 'waits for another agent', status: 'running' },
  agent_missing: { text: 'its agent is missing', status: 'error' },
  environment_missing: { text: 'its environment is missing', status: 'error' },
  unread: { text: 'goes on with the next wake', status: 'running' },
  held_back: { text: 'is held back', status: 'quiet' },
  queued_wake: { text: 'rests until', status: 'quiet' },
  retry: { text: 'is tried again', status: 'error' },
  unfinished: { text: 'was cut off', status: 'error' },
  parked: { text: 'is parked', status: 'error' },
  budget: { text: 'stopped at its budget', status: 'error' },
  disk_full: { text: 'the disk is full', status: 'error' },
  schedule: { text: 'its schedule does not fire', status: 'error' },
  unreadable: { text: 'cannot be read', status: 'error' },
  terminated: { text: 'is terminated', status: 'quiet' },
  left: { text: 'rests, left with a failure', status: 'waiting' },
  nothing: { text: 'rests', status: 'quiet' },
};

/** Whether a goal is reached, as the end of a sentence. */
export const VERDICTS = {
  pass: 'reached',
  fail: 'not reached',
  not_ready: 'not there yet',
  uncertain: 'not certain',
} as const;

/** What there is to tell by where no event says why. */
const BY_STATUS: Readonly<Record<SessionState['status'], ReasonKind>> = {
  idle: 'nothing',
  running: 'running',
  rescheduling: 'retry',
  terminated: 'terminated',
};

export interface StatusFacts {
  readonly status: SessionState['status'];
  readonly stopReason?: SessionState['stopReason'];
  /** How many requests wait for a person or client. */
  readonly pendingActions: number;
  /** The first of the reasons why it does what it does. */
  readonly why?: { readonly kind: ReasonKind } | undefined;
  readonly isStuck?: true | undefined;
}

export function statusWords({ status, stopReason, pendingActions, why }: StatusFacts): StatusWords {
  if (why !== undefined) return statusOf(why.kind);
  if (pendingActions > 0)
    return {
      text: pendingActions === 1 ? 'waits for you' : `waits for you, ${pendingActions} times`,
      status: 'waiting',
    };
  return statusOf(stopReason === 'requires_action' ? 'child' : (BY_STATUS[status] ?? 'nothing'));
}

/**
 * What it needs of a person: an answer, to check why it does not go on by itself, or to see what it left when it came to
 * rest.
 */
export type SessionNeed = 'answer' | 'attention' | 'left';

/** Undefined: nothing. */
export function needOf(facts: StatusFacts): SessionNeed | undefined {
  if (facts.pendingActions > 0 && facts.status !== 'terminated') return 'answer';
  if (facts.isStuck === true || statusWords(facts).status === 'error') return 'attention';
  return facts.why?.kind === 'left' ? 'left' : undefined;
}

/** Where it is unknown what is usual: a model rarely thinks for as long; a command may well work for longer. */
const STUCK_MS = 10 * 60_000;
const STUCK_IN_CALL_MS = 60 * 60_000;
/** Where it is known. A shorter silence is no reason to be called, however short all of them were before. */
const STUCK_AFTER_USUAL = 3;
export const LEAST_STUCK_MS = 2 * 60_000;

export interface StuckFacts {
  /** The longest that what runs has taken before, in milliseconds. Absent: unknown. */
  readonly usualMs?: number | undefined;
  /** ISO-8601: when what runs put out something last. Absent: unknown. */
  readonly lastActivityAt?: string | undefined;
}

/**
 * Whether the wake of a session has told nothing, in its log and in what its commands put out, for longer than one
 * usually does. Its process lives.
 */
export function isStuck(
  { openWake, openToolCalls, updatedAt }: Pick<SessionState, 'openWake' | 'openToolCalls' | 'updatedAt'>,
  nowMs: number,
  { usualMs, lastActivityAt }: StuckFacts = {},
): boolean {
  if (openWake === undefined) return false;
  const fixed = openToolCalls.some(({ phase }) => phase === 'started') ? STUCK_IN_CALL_MS : STUCK_MS;
  const most = usualMs === undefined ? fixed : Math.max(LEAST_STUCK_MS, STUCK_AFTER_USUAL * usualMs);
  return nowMs - Date.parse(lastActivityAt ?? updatedAt ?? '') >= most;
}

/** @param kind of the first reason why it does what it does */
export function statusOf(kind: ReasonKind): StatusWords {
  return WORDS[kind] ?? { text: 'stands in a way that is not known here', status: 'quiet' };
}
