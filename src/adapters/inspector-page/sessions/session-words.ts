/** How a session stands, in a few words, and in which order sessions are listed. */
import type { InspectedSessionSummary } from '../../../actors/inspection/inspection-source.ts';
import type { ReasonKind } from '../../../machines/session/why.ts';
import { instant } from '../model/words.ts';

/** The colors of badges that mean the same everywhere in the page. */
export type Standing = 'waiting' | 'running' | 'done' | 'error' | 'quiet';

export interface SessionWords {
  readonly text: string;
  readonly standing: Standing;
}

const WORDS: Readonly<Record<ReasonKind, SessionWords>> = {
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
export const VERDICTS = { pass: 'reached', fail: 'not reached', not_ready: 'not there yet', uncertain: 'not certain' } as const;

/** Words of the status alone, where the server does not say why. */
const BY_STATUS: Readonly<Record<InspectedSessionSummary['status'], ReasonKind>> = { idle: 'nothing', running: 'running', rescheduling: 'retry', terminated: 'terminated' };

/** @param kind of the first reason why it does what it does */
export function wordsOfReason(kind: ReasonKind): SessionWords {
  return WORDS[kind] ?? { text: 'stands in a way that this page does not know', standing: 'quiet' };
}

export function wordsOf({ status, stopReason, pendingActions, why }: InspectedSessionSummary): SessionWords {
  if (why !== undefined) return wordsOfReason(why.kind);
  if (pendingActions > 0) return { text: pendingActions === 1 ? 'waits for you' : `waits for you, ${pendingActions} times`, standing: 'waiting' };
  return wordsOfReason(stopReason === 'requires_action' ? 'child' : (BY_STATUS[status] ?? 'nothing'));
}

/** Whether somebody outside has to do something. */
export function isWaiting({ status, pendingActions }: InspectedSessionSummary): boolean {
  return pendingActions > 0 && status !== 'terminated';
}

/** What people call it. */
export function nameOf({ title, agentId, sessionId }: Pick<InspectedSessionSummary, 'title' | 'agentId' | 'sessionId'>): string {
  return title ?? (agentId === '' ? sessionId : agentId);
}

/** The last characters tell sessions apart: ids begin with the time. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** Those that wait for somebody first, then those that changed last; the order that the server gave where it does not say when. */
export function ordered(sessions: readonly InspectedSessionSummary[]): readonly InspectedSessionSummary[] {
  const changed = (session: InspectedSessionSummary): number => instant(session.updatedAt) ?? 0;
  return sessions.toSorted((one, other) => Number(isWaiting(other)) - Number(isWaiting(one)) || changed(other) - changed(one));
}

/** Those whose title, agent, id or standing holds each of the words, upper and lower case alike. */
export function matching(sessions: readonly InspectedSessionSummary[], text: string): readonly InspectedSessionSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return sessions;
  return sessions.filter((session) => {
    const told = `${session.title ?? ''} ${session.agentId} ${session.sessionId} ${wordsOf(session).text}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}
