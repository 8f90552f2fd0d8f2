/** Where the evaluations of an outcome are going. */
import type { OutcomeVerdict } from '../session/improvement-events.ts';

/** `flapping`: it went up and down and up again, or the other way round. */
export type OutcomeTrend = 'better' | 'worse' | 'same' | 'flapping';

const RANKS = { fail: 0, not_ready: 1, uncertain: 2, pass: 3 } as const satisfies Record<OutcomeVerdict, number>;

/** Evaluations that a trend is told from. */
const TREND_EVALUATIONS = 6;

/** Turns between up and down that make it flap. */
const FLAPS = 2;

/** @param verdicts oldest first */
export function trendOf(verdicts: readonly OutcomeVerdict[]): OutcomeTrend {
  const ranks = verdicts.slice(-TREND_EVALUATIONS).map((verdict) => RANKS[verdict]);
  const moves = ranks
    .slice(1)
    .flatMap((rank, index) =>
      rank === ranks[index] ? [] : ([rank > (ranks[index] ?? 0) ? 'better' : 'worse'] as const),
    );
  const turns = moves.slice(1).filter((move, index) => move !== moves[index]).length;
  if (turns >= FLAPS) return 'flapping';
  return moves.at(-1) ?? 'same';
}
