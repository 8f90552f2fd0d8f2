/**
 * Folds what is recorded of an agent's learnings. Total: a record that makes no sense where it stands changes nothing.
 */
import * as z from 'zod';
import { MAX_SESSIONS_OF_LEARNING, capturedLearning, identityOf } from './learning.ts';
import type { CapturedLearning, KeptLearning } from './learning.ts';

export const learningRecord = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('captured'), learning: capturedLearning }),
  z.strictObject({ type: z.literal('forgotten'), learningId: z.string().min(1).max(200), at: z.iso.datetime() }),
]);

export type LearningRecord = Readonly<z.output<typeof learningRecord>>;

/** What became of one capture. */
export type Keeping = { readonly as: 'new' } | { readonly as: 'duplicate'; readonly duplicateOf: string };

export class LearningLedger {
  readonly #byId = new Map<string, KeptLearning>();
  readonly #byIdentity = new Map<string, string>();
  /** By key: what people took out of what is about that. */
  readonly #forgottenByKey = new Map<string, string>();
  readonly #forgottenAt = new Map<string, string>();
  /** By the id of the capture: each is counted once, however often it is recorded. */
  readonly #keepings = new Map<string, Keeping>();

  take(record: LearningRecord): void {
    if (record.type === 'captured') this.#capture(record.learning);
    else this.#forget(record);
  }

  /** What became of a capture; undefined for one that is not recorded. */
  keepingOf(learningId: string): Keeping | undefined {
    return this.#keepings.get(learningId);
  }

  /** What would become of it. */
  foresee(learning: CapturedLearning): Keeping {
    const known = this.#keepings.get(learning.learningId);
    if (known !== undefined) return known;
    // What people took out does not come back under its key in other words.
    const same = this.#byIdentity.get(identityOf(learning)) ?? this.#forgottenByKey.get(learning.dedupeKey ?? '');
    return same === undefined ? { as: 'new' } : { as: 'duplicate', duplicateOf: same };
  }

  get(learningId: string): KeptLearning | undefined {
    return this.#byId.get(learningId);
  }

  /** When it was taken out: ISO-8601. */
  forgottenAt(learningId: string): string | undefined {
    return this.#forgottenAt.get(learningId);
  }

  /** In the order in which they were first learned. */
  get all(): readonly KeptLearning[] {
    return [...this.#byId.values()];
  }

  get size(): number {
    return this.#byId.size;
  }

  #capture(learning: CapturedLearning): void {
    if (this.#keepings.has(learning.learningId)) return;
    const keeping = this.foresee(learning);
    this.#keepings.set(learning.learningId, keeping);
    if (keeping.as === 'new') {
      this.#byId.set(learning.learningId, {
        ...learning,
        count: 1,
        lastSeenAt: learning.at,
        sessionIds: [learning.sessionId],
        isForgotten: false,
      });
      this.#byIdentity.set(identityOf(learning), learning.learningId);
      return;
    }
    const kept = this.#byId.get(keeping.duplicateOf);
    if (kept === undefined) return;
    const { sessionIds } = kept;
    const isFromHere = sessionIds.includes(learning.sessionId) || sessionIds.length >= MAX_SESSIONS_OF_LEARNING;
    this.#byId.set(kept.learningId, {
      ...kept,
      count: kept.count + 1,
      lastSeenAt: learning.at > kept.lastSeenAt ? learning.at : kept.lastSeenAt,
      sessionIds: isFromHere ? sessionIds : [...sessionIds, learning.sessionId],
    });
  }

  #forget({ learningId, at }: Extract<LearningRecord, { readonly type: 'forgotten' }>): void {
    const kept = this.#byId.get(learningId);
    if (kept === undefined) return;
    this.#byId.set(learningId, { ...kept, isForgotten: true });
    this.#forgottenAt.set(learningId, at);
    if (kept.dedupeKey !== undefined) this.#forgottenByKey.set(kept.dedupeKey, learningId);
  }
}

/** Those that repeat most first; of these, those that were seen last. */
export function byWeight(one: Weight, other: Weight): number {
  return (
    other.count - one.count || (one.lastSeenAt < other.lastSeenAt ? 1 : one.lastSeenAt > other.lastSeenAt ? -1 : 0)
  );
}

type Weight = Pick<KeptLearning, 'count' | 'lastSeenAt'>;
