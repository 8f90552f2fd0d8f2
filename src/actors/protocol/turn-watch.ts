/**
 * Reads and follows one turn of a session, with what it asks: its own requests and those of the children that it waits
 * for. Everything comes from logs, so any process can follow a turn that another one runs.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { foldTurn, hasEnded, turnId, turnOf } from '../../machines/protocol/turn.ts';
import type { Turn, TurnRef } from '../../machines/protocol/turn.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { askedRequests } from '../session/asked-requests.ts';
import type { AskedRequest } from '../session/asked-requests.ts';
import type { Sessions } from '../session/sessions.ts';

export interface TurnNews {
  readonly turn: Turn;
  /** What waits for an answer now. */
  readonly asked: readonly AskedRequest[];
  /** The event that it comes from, of the session itself or of one that works for it. */
  readonly event: SessionEvent;
}

/** After these something else may be asked, or nothing any more. */
const MAY_CHANGE_WHAT_IS_ASKED: ReadonlySet<SessionEvent['type']> = new Set<SessionEvent['type']>([
  'permission.requested',
  'permission.resolved',
  'agent.question_asked',
  'agent.custom_tool_use',
  'request.cancelled',
  'user.tool_confirmation',
  'user.answer',
  'user.custom_tool_result',
  'session.status_changed',
]);

/**
 * Where a turn stands now.
 * @throws RuntimeError SESSION_NOT_FOUND, TURN_NOT_FOUND
 */
export async function readTurn(
  sessions: Sessions,
  ref: TurnRef,
): Promise<{ readonly turn: Turn; readonly asked: readonly AskedRequest[] }> {
  let turn = turnOf(ref);
  let isFirst = true;
  for await (const event of sessions.events(ref.sessionId, { from: ref.seq })) {
    if (isFirst && event.type !== 'user.message') break;
    isFirst = false;
    turn = foldTurn(turn, event);
    if (hasEnded(turn)) break;
  }
  if (turn.messageId === undefined) throw notFound(ref);
  return { turn, asked: hasEnded(turn) ? [] : await askedRequests(sessions, ref.sessionId) };
}

/**
 * The turn after each event from its message on, until it has ended or `signal` is aborted. The events of children come
 * with it.
 * @throws RuntimeError SESSION_NOT_FOUND
 */
export async function* followTurn(
  sessions: Sessions,
  ref: TurnRef,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<TurnNews, void, undefined> {
  let turn = turnOf(ref);
  let asked: readonly AskedRequest[] = [];
  for await (const event of familyEvents(sessions, ref, signal)) {
    const isOwn = event.sessionId === ref.sessionId;
    if (isOwn) turn = foldTurn(turn, event);
    // Something may have been asked before the message came.
    const mayAsk = MAY_CHANGE_WHAT_IS_ASKED.has(event.type) || (isOwn && event.seq === ref.seq);
    if (hasEnded(turn)) asked = [];
    else if (mayAsk) asked = await askedRequests(sessions, ref.sessionId);
    yield { turn, asked, event };
    if (hasEnded(turn)) return;
  }
}

/** Those of the session from the message on, and all of its children. Ends when `signal` is aborted. */
export async function* familyEvents(
  sessions: Sessions,
  { sessionId, seq }: TurnRef,
  signal: AbortSignal | undefined,
): AsyncGenerator<SessionEvent, void, undefined> {
  const waiting: SessionEvent[] = [];
  let wakeUp: () => void = () => undefined;
  let failure: { readonly error: unknown } | undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    wakeUp();
  };
  const subscription = sessions.runEvents$(sessionId).subscribe({
    next: (event) => {
      if (event.sessionId === sessionId && event.seq < seq) return;
      waiting.push(event);
      wakeUp();
    },
    error: (error: unknown) => {
      failure = { error };
      end();
    },
    complete: end,
  });
  signal?.addEventListener('abort', end, { once: true });
  try {
    while (signal?.aborted !== true) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (failure !== undefined) throw failure.error;
      else if (isOver) return;
      else
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
    }
  } finally {
    signal?.removeEventListener('abort', end);
    subscription.unsubscribe();
  }
}

function notFound(ref: TurnRef): RuntimeError {
  return new RuntimeError('TURN_NOT_FOUND', `there is no turn ${turnId(ref)}: event ${ref.seq} is no message`, {
    category: 'not_found',
    hint: 'A turn is named by its session and the number of its message, as it was told when the message was sent.',
  });
}
