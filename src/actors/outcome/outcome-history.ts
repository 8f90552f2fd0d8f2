/**
 * How the outcome of a session was evaluated so far, and where that is going: read from the end of its log, within a
 * bound.
 */
import { trendOf } from '../../machines/outcome/outcome-trend.ts';
import type { OutcomeTrend } from '../../machines/outcome/outcome-trend.ts';
import type { OutcomeVerdict } from '../../machines/session/improvement-events.ts';
import type { SessionEvent, SessionEventOf } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventReader } from './read-work.ts';

/** Events that are scanned for evaluations, from the end of the log. */
const MAX_HISTORY_EVENTS = 20_000;

interface OutcomeHistoryEntry {
  readonly seq: number;
  /** ISO-8601. */
  readonly at: string;
  readonly verdict: OutcomeVerdict;
  readonly because: string;
  readonly throughSeq: number;
  readonly evaluators: readonly string[];
  /** Of an outcome that was defined before the one that stands now. */
  readonly isOfEarlierOutcome?: true | undefined;
}

export interface OutcomeHistory {
  /** Oldest first. */
  readonly entries: readonly OutcomeHistoryEntry[];
  /** Of the outcome that stands. */
  readonly trend: OutcomeTrend;
  /** The first event that was checked: there may be older entries before it. 1 when there are none. */
  readonly fromSeq: number;
}

export async function readHistory(
  reader: EventReader,
  { sessionId, head, outcome }: Pick<SessionState, 'sessionId' | 'head' | 'outcome'>,
  limit: number,
): Promise<OutcomeHistory> {
  const oldest = Math.max(1, head - MAX_HISTORY_EVENTS + 1);
  const found: SessionEventOf<'outcome.evaluated'>[] = [];
  let from = head + 1;
  while (from > oldest && found.length < limit) {
    const until = from;
    from = Math.max(oldest, from - MAX_READ_EVENTS);
    const page = await reader.read(sessionId, { from, limit: until - from });
    found.unshift(...page.filter(isEvaluation));
  }
  const entries = found.slice(-limit).map((event) => entryOf(event, outcome?.seq));
  return {
    entries,
    trend: trendOf(
      entries.filter(({ isOfEarlierOutcome }) => isOfEarlierOutcome !== true).map(({ verdict }) => verdict),
    ),
    fromSeq: found.length > limit ? (found.at(-limit)?.seq ?? from) : Math.max(1, from),
  };
}

function isEvaluation(event: SessionEvent): event is SessionEventOf<'outcome.evaluated'> {
  return event.type === 'outcome.evaluated';
}

function entryOf(
  { seq, at, data: { verdict, because, throughSeq, evaluators } }: SessionEventOf<'outcome.evaluated'>,
  outcomeSeq = 0,
): OutcomeHistoryEntry {
  return {
    seq,
    at,
    verdict,
    because,
    throughSeq,
    evaluators,
    ...(seq < outcomeSeq ? { isOfEarlierOutcome: true as const } : {}),
  };
}
