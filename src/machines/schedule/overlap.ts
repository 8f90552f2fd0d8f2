/**
 * What a slot does that wants to fire. This is the whole of overrun protection: croner's `protect` (skip while the last
 * run is busy) is the policy `skip`; its own timers and callbacks are not used, because it can neither record what it
 * skips nor queue.
 */
import { assertNever } from '../errors.ts';
import type { OverlapPolicy } from '../task/task-request.ts';
import type { SkippedReason } from './slot-record.ts';

export interface OverlapQuestion {
  readonly policy: OverlapPolicy;
  /**
   * Slots that may fire now, ascending. Several only when a catch-up grants them: they run one after another and do not
   * overlap each other.
   */
  readonly batch: readonly number[];
  /** Whether a fire runs or is about to. */
  readonly isBusy: boolean;
  /** Slots in line, ascending. */
  readonly line: readonly number[];
  /** How long the line may get through overlaps. A catch-up has its own limit. */
  readonly lineLimit: number;
}

export interface OverlapDecision {
  /** Fires at once. */
  readonly fire: number | undefined;
  /** Joins the line, in this order. */
  readonly queue: readonly number[];
  readonly skip: readonly { readonly slot: number; readonly reason: SkippedReason }[];
  /** Whether the running fire is to be cancelled. What waits in the line then goes too, unless it is in `queue`. */
  readonly cancelRunning: boolean;
}

const NOTHING: OverlapDecision = { fire: undefined, queue: [], skip: [], cancelRunning: false };

export function decideOverlap({ policy, batch, isBusy, line, lineLimit }: OverlapQuestion): OverlapDecision {
  if (batch.length === 0) return NOTHING;
  if (!isBusy && line.length === 0) return { ...NOTHING, fire: batch[0], queue: batch.slice(1) };
  switch (policy) {
    case 'skip':
      return { ...NOTHING, skip: batch.map((slot) => ({ slot, reason: 'overlap' })) };
    case 'queue': {
      const free = Math.max(lineLimit - line.length, 0);
      return {
        ...NOTHING,
        queue: batch.slice(0, free),
        skip: batch.slice(free).map((slot) => ({ slot, reason: 'queue-full' })),
      };
    }
    case 'cancel-previous':
      return {
        fire: undefined,
        queue: batch,
        skip: line.map((slot) => ({ slot, reason: 'superseded' })),
        cancelRunning: isBusy,
      };
    default:
      return assertNever(policy, 'unknown overlap policy');
  }
}
