/**
 * The state that the records of one schedule add up to, and the rule that makes slots unique.
 *
 * Records are folded in the order in which they are stored, by every process alike. The first record of a slot wins; a
 * later one that contradicts it has no effect, from any writer. So appending a claim and reading back whether it took
 * effect is an atomic claim, with no lock and nothing to clean up after a crash.
 *
 * Every writer settles or queues slots in the order of their times. Therefore whatever lies at or before `through` is
 * decided, and the ledger keeps only what is still open: its size does not grow with the history.
 */
import * as z from 'zod';
import { assertNever } from '../errors.ts';
import { epochMsOf, instant, instantOf, isSamePlan } from './slot-record.ts';
import type { RecordOf, ScheduleRecord, SchedulePlan } from './slot-record.ts';

/** Interrupted claims that are kept so that a late report of their fire is still heard. */
const INTERRUPTED_CLAIMS_KEPT = 100;

const claimState = z.strictObject({ slot: instant, owner: z.string(), interrupted: z.boolean() });

/** A ledger as plain data: what a store hands out, and what it writes at the head of a new segment. */
export const scheduleHistory = z.strictObject({
  plan: z.strictObject({ cronExpression: z.string(), timezone: z.string() }).optional(),
  paused: z.boolean(),
  /** Every slot up to here is decided. Absent while nothing is known. */
  through: instant.optional(),
  /** Slots in line, oldest first. */
  queued: z.array(z.strictObject({ slot: instant, owner: z.string() })).readonly(),
  /** Slots that a worker has claimed without saying yet how it went. */
  claims: z.array(claimState).readonly(),
});
export type ScheduleHistory = Readonly<z.output<typeof scheduleHistory>>;

export const EMPTY_HISTORY: ScheduleHistory = Object.freeze({
  paused: false,
  queued: Object.freeze([]),
  claims: Object.freeze([]),
});

type OpeningRecord = RecordOf<'slot.queued' | 'slot.claimed' | 'slot.skipped' | 'slot.missed'>;
type ClosingRecord = RecordOf<'slot.fired' | 'slot.refused' | 'slot.interrupted'>;

export class SlotLedger {
  #plan: SchedulePlan | undefined;
  #paused: boolean;
  #throughMs: number;
  readonly #queued: Map<string, string>;
  readonly #claims: Map<string, { readonly owner: string; readonly interrupted: boolean }>;

  constructor(history: ScheduleHistory = EMPTY_HISTORY) {
    this.#plan = history.plan;
    this.#paused = history.paused;
    this.#throughMs = history.through === undefined ? -Infinity : epochMsOf(history.through);
    this.#queued = new Map(history.queued.map(({ slot, owner }) => [slot, owner]));
    this.#claims = new Map(history.claims.map(({ slot, owner, interrupted }) => [slot, { owner, interrupted }]));
  }

  /**
   * Folds the next record. True when it holds: it took effect, or it repeats what its owner has said before.
   * False when an earlier record had decided otherwise; then nothing has changed.
   */
  ingest(record: ScheduleRecord): boolean {
    switch (record.type) {
      case 'schedule.planned':
        this.#planned(record);
        return true;
      case 'schedule.paused':
      case 'schedule.resumed':
        this.#paused = record.type === 'schedule.paused';
        return true;
      case 'slots.missed':
        return this.#missSpan(record);
      case 'slot.queued':
      case 'slot.claimed':
      case 'slot.skipped':
      case 'slot.missed':
        return this.#open(record);
      case 'slot.fired':
      case 'slot.refused':
      case 'slot.interrupted':
        return this.#close(record);
      default:
        return assertNever(record, 'unknown schedule record');
    }
  }

  /** A copy as plain data. */
  history(): ScheduleHistory {
    return {
      ...(this.#plan === undefined ? {} : { plan: this.#plan }),
      paused: this.#paused,
      ...(this.#throughMs === -Infinity ? {} : { through: instantOf(this.#throughMs) }),
      queued: [...this.#queued]
        .map(([slot, owner]) => ({ slot, owner }))
        .toSorted((a, b) => (a.slot < b.slot ? -1 : 1)),
      claims: [...this.#claims].map(([slot, claim]) => ({ slot, ...claim })),
    };
  }

  #reach(recorded: string): void {
    this.#throughMs = Math.max(this.#throughMs, epochMsOf(recorded));
  }

  #planned({ cronExpression, timezone, at }: RecordOf<'schedule.planned'>): void {
    const plan = { cronExpression, timezone };
    // A second run that announces the plan in force must not close slots that the first is about to claim.
    if (this.#plan !== undefined && isSamePlan(this.#plan, plan)) return;
    this.#plan = plan;
    this.#reach(at);
  }

  #open(record: OpeningRecord): boolean {
    const { slot, owner, type } = record;
    const queuedBy = this.#queued.get(slot);
    if (queuedBy === undefined && epochMsOf(slot) <= this.#throughMs) {
      // A write whose success was never confirmed may be repeated by the one who made it.
      const claim = this.#claims.get(slot);
      return type === 'slot.claimed' && claim?.owner === owner && !claim.interrupted;
    }
    // What one run has put in line, the overlaps of another are no reason to drop. It may take it into its own line,
    // though.
    if (queuedBy !== undefined && type === 'slot.skipped' && queuedBy !== owner) return false;
    this.#queued.delete(slot);
    this.#reach(slot);
    if (type === 'slot.queued') this.#queued.set(slot, owner);
    if (type === 'slot.claimed') this.#claims.set(slot, { owner, interrupted: false });
    return true;
  }

  #close(record: ClosingRecord): boolean {
    const { slot, owner, type } = record;
    const claim = this.#claims.get(slot);
    if (claim === undefined) return false;
    if (type === 'slot.interrupted') {
      if (claim.interrupted) return false;
      this.#claims.set(slot, { owner: claim.owner, interrupted: true });
      this.#forgetOldInterruptions();
      return true;
    }
    if (claim.owner !== owner) return false;
    this.#claims.delete(slot);
    return true;
  }

  #missSpan(record: RecordOf<'slots.missed'>): boolean {
    if (epochMsOf(record.upTo) <= this.#throughMs) return false;
    for (const slot of this.#queued.keys()) {
      if (slot > record.after && slot <= record.upTo) this.#queued.delete(slot);
    }
    this.#reach(record.upTo);
    return true;
  }

  #forgetOldInterruptions(): void {
    const interrupted = [...this.#claims].filter(([, claim]) => claim.interrupted).map(([slot]) => slot);
    for (const slot of interrupted.slice(0, -INTERRUPTED_CLAIMS_KEPT)) this.#claims.delete(slot);
  }
}

/**
 * The records that hold, in order: what contradicts an earlier one is left out. A slot's outcome is the last of its
 * records.
 */
export function recordsInEffect(
  records: readonly ScheduleRecord[],
  before: ScheduleHistory = EMPTY_HISTORY,
): ScheduleRecord[] {
  const ledger = new SlotLedger(before);
  return records.filter((record) => ledger.ingest(record));
}
