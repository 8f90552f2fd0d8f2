/**
 * The port to what agents have learned. It is a cache of what the logs of their sessions say (`learning.captured`), but
 * for what people took out.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { CapturedLearning, KeptLearning } from '../../machines/memory/learning.ts';
import type { Keeping } from '../../machines/memory/learning-ledger.ts';

interface LearningFilter {
  readonly kind?: KeptLearning['kind'] | undefined;
  /** Those in whose title or detail all of these words are, whatever their case. */
  readonly text?: string | undefined;
  /** Also what people took out. Default false. */
  readonly includeForgotten?: boolean | undefined;
  /** Default: all. */
  readonly limit?: number | undefined;
}

export interface LearningsExamination {
  readonly learnings: number;
  /** Lines that cannot be read; what they held comes back with a rebuild. */
  readonly damagedLines: number;
}

/**
 * Every method rejects with AGENT_ID_INVALID for a name that no agent can have, and with STORAGE_FAILED where the
 * medium refuses.
 */
export interface LearningStore {
  /**
   * Keeps a learning for all sessions of the agent. The same capture again is the same answer and changes nothing;
   * another capture of the same learning raises its count.
   * @throws RuntimeError LEARNING_INVALID, LEARNINGS_FULL
   */
  keep(agentId: string, learning: CapturedLearning): Promise<Keeping>;
  /** The newest first, by when they were learned last. */
  list(agentId: string, filter?: LearningFilter): Promise<readonly KeptLearning[]>;
  /** Undefined when there is none, or it was taken out. */
  get(agentId: string, learningId: string): Promise<KeptLearning | undefined>;
  /**
   * Takes it out for good, as people may: the same learned again does not bring it back. False when there is no such
   * learning.
   */
  forget(agentId: string, learningId: string): Promise<boolean>;
  /** Makes everything anew of what the logs say. What people took out stays out. */
  rebuild(agentId: string, captured: AsyncIterable<CapturedLearning>): Promise<LearningsExamination>;
  examine(agentId: string): Promise<LearningsExamination>;
}

/** The learnings that a filter lets through, the newest first. */
export function filteredLearnings(
  all: readonly KeptLearning[],
  { kind, text, includeForgotten = false, limit = Infinity }: LearningFilter,
): readonly KeptLearning[] {
  const words = (text ?? '')
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
  return all
    .filter((each) => (includeForgotten || !each.isForgotten) && (kind === undefined || each.kind === kind))
    .filter(({ title, detail }) => {
      const said = `${title}\n${detail}`.toLowerCase();
      return words.every((word) => said.includes(word));
    })
    .toSorted((one, other) => (one.lastSeenAt < other.lastSeenAt ? 1 : one.lastSeenAt > other.lastSeenAt ? -1 : 0))
    .slice(0, limit);
}

export function learningsFull(agentId: string, maxLearnings: number): RuntimeError {
  return new RuntimeError('LEARNINGS_FULL', `expected at most ${maxLearnings} learnings of agent ${agentId}`, {
    category: 'capacity',
    hint: 'Take out what is not needed any more (wakechart learnings forget), or make another agent.',
    details: { agentId, maxLearnings },
  });
}
