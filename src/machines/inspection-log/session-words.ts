/** How a session stands, in a few words. */
import type { SessionState } from '../session/session-state.ts';
import type { ReasonKind } from '../session/why.ts';

/** The colors of badges that mean the same everywhere. */
export type Standing = 'waiting' | 'running' | 'done' | 'error' | 'quiet';

export interface StandingWords {
  readonly text: string;
  readonly standing: Standing;
}

const WORDS: Readonly<Record<ReasonKind, StandingWords>> = {
  permission: { text: 'waits for your permission', standing: 'waiting' },
  question: { text: 'waits for your answer', standing: 'waiting' },
  custom_tool: { text: 'waits for a tool result', standing: 'waiting' },
  running: { text: 'runs', standing: 'running' },
  child: { text: 'waits for another agent', standing: 'running' },
  unread: { text: 'goes on with the next wake', standing: 'running' },
  held_back: { text: 'is held back', standing: 'quiet' },
  queued_wake: { text: 'rests until', standing: 'quiet' },
  retry: { text: 'is tried again', standing: 'error' },
  unfinished: { text: 'was cut off', standing: 'error' },
  parked: { text: 'is parked', standing: 'error' },
  budget: { text: 'stopped at its budget', standing: 'error' },
  unreadable: { text: 'cannot be read', standing: 'error' },
  terminated: { text: 'is terminated', standing: 'quiet' },
  nothing: { text: 'rests', standing: 'quiet' },
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

export interface StandingFacts {
  readonly status: SessionState['status'];
  readonly stopReason?: SessionState['stopReason'];
  /** How many requests wait for a person or client. */
  readonly pendingActions: number;
  /** The first of the reasons why it does what it does. */
  readonly why?: { readonly kind: ReasonKind } | undefined;
}

export function standingWords({ status, stopReason, pendingActions, why }: StandingFacts): StandingWords {
  if (why !== undefined) return standingOf(why.kind);
  if (pendingActions > 0)
    return {
      text: pendingActions === 1 ? 'waits for you' : `waits for you, ${pendingActions} times`,
      standing: 'waiting',
    };
  return standingOf(stopReason === 'requires_action' ? 'child' : (BY_STATUS[status] ?? 'nothing'));
}

/** Whether a person or client has to do something. */
export function isWaitingForSomebody({ status, pendingActions }: StandingFacts): boolean {
  return pendingActions > 0 && status !== 'terminated';
}

/** @param kind of the first reason why it does what it does */
export function standingOf(kind: ReasonKind): StandingWords {
  return WORDS[kind] ?? { text: 'stands in a way that is not known here', standing: 'quiet' };
}
