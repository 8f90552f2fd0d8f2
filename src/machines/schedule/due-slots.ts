/**
 * Which slots have come due since the last check, and which of them the catch-up policy lets fire. Pure: time comes in
 * as numbers.
 */
import type { CatchUpPolicy } from '../task/task-request.ts';

/**
 * The nominal times of a plan, in epoch milliseconds. Both answers are strict: never the instant that was asked about.
 */
export interface NominalTimes {
  /** The first one after `epochMs`; undefined when the plan has no further time. */
  next(epochMs: number): number | undefined;
  /** The last one before `epochMs`; undefined when the plan has no earlier time. */
  previous(epochMs: number): number | undefined;
}

export interface DueSlots {
  /** Ascending; the newest `limit` ones. */
  readonly slots: readonly number[];
  /** The span (afterMs, upToMs] that holds the older ones, when there are more than `limit`. `upToMs` is a slot. */
  readonly older: { readonly afterMs: number; readonly upToMs: number } | undefined;
}

/** The nominal times in (afterMs, upToMs]. Costs the number returned, however long the span is. */
export function dueSlots(
  times: NominalTimes,
  span: { readonly afterMs: number; readonly upToMs: number; readonly limit: number },
): DueSlots {
  const { afterMs, upToMs, limit } = span;
  const slots: number[] = [];
  let slot = times.previous(upToMs + 1);
  while (slot !== undefined && slot > afterMs && slots.length < limit) {
    slots.push(slot);
    slot = times.previous(slot);
  }
  const older = slot !== undefined && slot > afterMs ? { afterMs, upToMs: slot } : undefined;
  return { slots: slots.toReversed(), older };
}

export interface CatchUpDecision {
  /** Ascending. */
  readonly fire: readonly number[];
  /** Ascending; all of them older than those that fire. */
  readonly missed: readonly number[];
}

export interface CatchUpQuestion {
  /** Ascending. */
  readonly slots: readonly number[];
  readonly policy: CatchUpPolicy;
  readonly nowMs: number;
  /** A slot that is noticed at most this late is on time, and no policy can drop it. 0: all of them are late. */
  readonly punctualMs: number;
}

/**
 * Splits due slots into those to fire and those missed. `none` fires only what is on time, `latest` fires the newest
 * slot however late it is, `{all}` the newest `all` ones; where some are on time, they take the place of late ones, so
 * `latest` never fires an old slot beside them.
 */
export function decideCatchUp({ slots, policy, nowMs, punctualMs }: CatchUpQuestion): CatchUpDecision {
  const firstOnTime = punctualMs > 0 ? slots.findIndex((slot) => nowMs - slot <= punctualMs) : -1;
  const onTime = firstOnTime === -1 ? 0 : slots.length - firstOnTime;
  const count = Math.max(onTime, allowance(policy));
  const split = Math.max(slots.length - count, 0);
  return { missed: slots.slice(0, split), fire: slots.slice(split) };
}

/** How many late slots a policy lets fire. */
export function allowance(policy: CatchUpPolicy): number {
  if (policy === 'none') return 0;
  return policy === 'latest' ? 1 : policy.all;
}
