/** One turn of a session, folded from the events that follow its message: the log alone says where it stands. */
import type { SessionEvent } from '../session/session-event.ts';
import { IS_END, PHASE_AFTER, PHASE_IN } from './turn-phase.ts';
import type { TurnPhase, WakeEnding } from './turn-phase.ts';

/** Which turn: the session, and the number of the event that holds its message. */
export interface TurnRef {
  readonly sessionId: string;
  readonly seq: number;
}

export interface Turn extends TurnRef {
  readonly phase: TurnPhase;
  /** The event of its message. */
  readonly messageId?: string | undefined;
  /** What the message says. */
  readonly request?: string | undefined;
  /** Whether a model has answered the message. */
  readonly isRead: boolean;
  /** What the agent said last. */
  readonly answer?: string | undefined;
  /** What is told of it beside: why it failed or stopped. */
  readonly note?: string | undefined;
  /** The bound that was reached. */
  readonly budget?: string | undefined;
  /** ISO-8601. */
  readonly startedAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  /** The last event that counts for it. */
  readonly throughSeq: number;
  readonly lastEnding?: WakeEnding | undefined;
  readonly isAwake: boolean;
}

export function turnOf({ sessionId, seq }: TurnRef): Turn {
  return { sessionId, seq, phase: 'queued', isRead: false, isAwake: false, throughSeq: seq };
}

/** A name of the turn for other protocols. */
export function turnId({ sessionId, seq }: TurnRef): string {
  return `${sessionId}.${seq}`;
}

/** Undefined for what is no such name. */
export function parseTurnId(text: string): TurnRef | undefined {
  const [, sessionId, seq] = /^([0-9a-f-]{36})\.([1-9]\d{0,14})$/.exec(text) ?? [];
  return sessionId === undefined || seq === undefined ? undefined : { sessionId, seq: Number(seq) };
}

export function hasEnded({ phase }: Pick<Turn, 'phase'>): boolean {
  return IS_END[phase];
}

/** What an event of its session changes. Nothing changes a turn that has ended. */
export function foldTurn(turn: Turn, event: SessionEvent): Turn {
  if (hasEnded(turn) || event.seq < turn.seq) return turn;
  const seen = { ...turn, throughSeq: event.seq, updatedAt: event.at };
  if (event.seq === turn.seq)
    return {
      ...seen,
      messageId: event.id,
      startedAt: event.at,
      ...(event.type === 'user.message' ? { request: event.data.text } : {}),
    };
  return { ...seen, ...changeBy(event, turn) };
}

type Changes = {
  readonly [Type in SessionEvent['type']]?: (
    event: Extract<SessionEvent, { readonly type: Type }>,
    turn: Turn,
  ) => Partial<Turn>;
};

const CHANGES: Changes = {
  'message.consumed': ({ data }, { isRead, messageId }) => ({
    isRead: isRead || (messageId !== undefined && data.eventIds.includes(messageId)),
  }),
  'wake.started': () => ({ isAwake: true }),
  'agent.message': ({ data }) => (data.text === '' ? {} : { answer: data.text }),
  'wake.ended': ({ data }) => ({ isAwake: false, lastEnding: data.outcome, ...noteOf(data) }),
  'session.status_changed': ({ data }, turn) => changeOfStatus(data, turn),
  'session.status_idle': ({ data }, turn) =>
    data.reason === 'idle' ? { phase: phaseAtRest(turn) } : phaseOfWaiting(data.blockingEventIds),
  'session.parked': ({ data }) => ({ phase: 'failed', note: data.reason }),
  // With a wake that runs it ends when that does; what is unread is read by another wake.
  'user.interrupt': ({ data }, { isAwake, isRead }) =>
    isAwake || !isRead ? {} : { phase: 'interrupted', note: data.reason },
};

function changeBy(event: SessionEvent, turn: Turn): Partial<Turn> {
  // The entry under its type takes the event, by construction of the table.
  const change = CHANGES[event.type] as ((event: SessionEvent, turn: Turn) => Partial<Turn>) | undefined;
  return change?.(event, turn) ?? {};
}

/** A bound that was reached, and what a failed wake says: it is tried again by itself until the session is parked. */
function noteOf({
  outcome,
  summary,
  budget,
}: Extract<SessionEvent, { readonly type: 'wake.ended' }>['data']): Partial<Turn> {
  if (outcome === 'failed' || outcome === 'aborted' || outcome === 'lost') return { note: summary };
  return budget === undefined ? { note: undefined } : { note: summary, budget: budget.name };
}

function changeOfStatus(
  { to, reason }: Extract<SessionEvent, { readonly type: 'session.status_changed' }>['data'],
  turn: Turn,
): Partial<Turn> {
  switch (to) {
    case 'running':
    case 'rescheduling':
      return { phase: PHASE_IN[to] };
    case 'terminated':
      return { phase: PHASE_IN[to], note: reason };
    case 'idle':
      // Why it rests is said by the event after it.
      return { phase: turn.phase };
  }
}

/** Where the message was not read another wake comes to it. */
function phaseAtRest({ isRead, lastEnding }: Turn): TurnPhase {
  const resting = PHASE_IN['idle.resting'];
  const after = lastEnding === undefined ? resting : PHASE_AFTER[lastEnding];
  return isRead || !IS_END[after] ? after : resting;
}

/** One that waits for a child of its own, and for nothing else, asks no client. */
function phaseOfWaiting(blocking: readonly string[] = []): Partial<Turn> {
  return { phase: blocking.length > 0 ? PHASE_IN['idle.requires_action'] : 'working' };
}
