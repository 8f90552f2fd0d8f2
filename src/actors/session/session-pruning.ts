/**
 * Removes sessions that are over. Cut off at any point and begun again, it goes on: a session is there as a whole or
 * gone, and one that rested is terminated first, so that nothing can be sent to it while it goes.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { sessionsToPrune } from '../../machines/session/retention.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { Clock } from '../clock/clock.ts';
import type { SessionJournal } from './session-journal.ts';

export interface PruneOptions {
  /** Takes sessions that were terminated this long ago at least, in milliseconds. Default: none. */
  readonly endedForMs?: number | undefined;
  /**
   * Takes sessions that rest with nothing to do, nothing asked for and no child at work, and have stored nothing for
   * this long, in milliseconds. A family goes as a whole. Default: none.
   */
  readonly idleForMs?: number | undefined;
  /** Only says which. Default false. */
  readonly isDryRun?: boolean | undefined;
  /** Asked before each: why it has to stay, if it has. Export it here, or check who still needs it. */
  readonly keep?: ((session: SessionState) => Promise<string | undefined>) | undefined;
  /** Ends it between two sessions. */
  readonly signal?: AbortSignal | undefined;
}

export interface PruneReport {
  /** Those that are gone; in a dry run those that would be asked for. */
  readonly pruned: readonly SessionState[];
  readonly left: readonly { readonly sessionId: string; readonly why: string }[];
}

export interface PruningPorts {
  readonly clock: Clock;
  list(): Promise<readonly SessionState[]>;
  open(sessionId: string): Promise<SessionJournal>;
  /** Ends what works for it, and lets its parent know, once it is terminated. */
  ended(before: SessionState, journal: SessionJournal, reason: string): Promise<void>;
  /** The events of a session from this one on. */
  read(sessionId: string, from: number): Promise<readonly SessionEvent[]>;
  delete(sessionId: string): Promise<void>;
}

/** @throws RuntimeError SESSION_REQUEST_INVALID */
export async function pruneSessions(options: PruneOptions, ports: PruningPorts): Promise<PruneReport> {
  const { endedForMs, idleForMs, isDryRun = false, keep = async () => undefined, signal } = options;
  const nowMs = ports.clock.now();
  const states = sessionsToPrune(await ports.list(), {
    endedBefore: timeBefore(nowMs, endedForMs, 'endedForMs'),
    idleBefore: timeBefore(nowMs, idleForMs, 'idleForMs'),
  });
  if (isDryRun) return { pruned: states, left: [] };
  const pruned: SessionState[] = [];
  const left: PruneReport['left'][number][] = [];
  for (const state of states) {
    if (signal?.aborted === true) break;
    const why = await prunedOne(state, keep, ports).catch((error: unknown) => messageOf(error));
    if (why === undefined) pruned.push(state);
    else left.push({ sessionId: state.sessionId, why });
  }
  return { pruned, left };
}

/** What a session stores when it is terminated. */
const IS_END: ReadonlySet<string> = new Set<SessionEvent['type']>(['session.status_changed', 'session.parent_told']);

export const STORED_MEANWHILE = 'something was stored for it meanwhile';
const REASON = 'it had rested for so long that it was pruned';

/** Why it was left; undefined when it is gone. */
async function prunedOne(
  state: SessionState,
  keep: NonNullable<PruneOptions['keep']>,
  ports: PruningPorts,
): Promise<string | undefined> {
  const why = await keep(state);
  if (why !== undefined) return why;
  const journal = await ports.open(state.sessionId);
  if (state.status !== 'terminated' && journal.state.status !== 'terminated') {
    if (journal.state.head !== state.head) return STORED_MEANWHILE;
    const end = { to: 'terminated', stopReason: 'terminated', reason: REASON } as const;
    // At this head or not at all: what is sent to it in this moment is not lost.
    await journal.append([{ type: 'session.status_changed', data: end }], { onlyAtHead: true });
    await ports.ended(state, journal, REASON);
  }
  // Of one that rested, its end is all that may have come: by us, or with its parent.
  const since = await ports.read(state.sessionId, state.head + 1);
  if (!since.every(({ type }) => state.status !== 'terminated' && IS_END.has(type))) return STORED_MEANWHILE;
  await ports.delete(state.sessionId);
  return undefined;
}

function timeBefore(nowMs: number, ageMs: number | undefined, name: string): string | undefined {
  if (ageMs === undefined) return undefined;
  if (Number.isFinite(ageMs) && ageMs >= 0) return isoTimeOf(nowMs - ageMs);
  throw new RuntimeError('SESSION_REQUEST_INVALID', `${name}: expected milliseconds from 0 on, received ${ageMs}`, {
    category: 'validation',
    hint: 'Say for how long a session has to have been over, such as 90 * 86_400_000.',
  });
}
