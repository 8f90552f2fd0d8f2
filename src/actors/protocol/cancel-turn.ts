/** Ends one turn before its time. */
import { hasEnded } from '../../machines/protocol/turn.ts';
import type { Turn, TurnRef } from '../../machines/protocol/turn.ts';
import type { Sessions } from '../session/sessions.ts';
import { followTurn, readTurn } from './turn-watch.ts';

/** How long a wake may take to come to an end, in milliseconds. */
const CANCEL_LIMIT_MS = 10_000;

/**
 * Interrupts the session until the turn has ended: a message that no model has read yet survives an interruption, so the
 * wake that reads it is interrupted as well. @returns where it stands; it has not ended where no worker comes to it
 */
export async function cancelTurn(sessions: Sessions, ref: TurnRef, reason: string): Promise<Turn> {
  const { turn } = await readTurn(sessions, ref);
  if (hasEnded(turn)) return turn;
  let last = turn;
  let { seq } = await sessions.interrupt(ref.sessionId, { reason });
  for await (const news of followTurn(sessions, ref, { signal: AbortSignal.timeout(CANCEL_LIMIT_MS) })) {
    last = news.turn;
    const { event } = news;
    const isReadAfter = event.sessionId === ref.sessionId && event.type === 'span.started' && event.seq > seq;
    if (isReadAfter && !hasEnded(last)) ({ seq } = await sessions.interrupt(ref.sessionId, { reason }));
  }
  return last;
}
