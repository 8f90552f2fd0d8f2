/**
 * From the log of a session to what all sessions of its agent have: its learnings are kept, and those that are to be
 * are promoted, through the gate.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { Keeping } from '../../machines/memory/learning-ledger.ts';
import type { KeptLearning } from '../../machines/memory/learning.ts';
import type { LearningToPromote, SessionState } from '../../machines/session/session-state.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { requirePromotion } from '../outcome/promotion-gate.ts';
import type { PromotionPermit } from '../outcome/promotion-gate.ts';
import type { EventStore } from '../session/event-store.ts';
import type { HookedWake } from '../turn/tool.ts';
import type { AgentMemory } from './agent-memory.ts';
import { capturedAt } from './captured-learnings.ts';
import type { LearningStore } from './learning-store.ts';
import { provenLearning } from './proven-learnings.ts';
import type { WantedLearning } from './proven-learnings.ts';
import type { SharedFilesResult, SharedFilesStore } from './shared-files-store.ts';

/** How often a promotion is tried anew when other sessions of the agent were faster. */
const MAX_PROMOTION_ATTEMPTS = 8;

/** Learnings that are kept at once; the next time goes on. */
const MAX_KEPT_AT_ONCE = 200;

/** Learnings that one promotion takes. */
const MAX_PROMOTED_AT_ONCE = 100;

/** The log of a session, to read where it stands and to add to it. */
export type SessionLog = Pick<HookedWake, 'state' | 'append'>;

export interface KeepingPorts {
  readonly store: Pick<EventStore, 'read'>;
  readonly learnings: LearningStore;
}

export interface PromotionPorts {
  readonly store: Pick<EventStore, 'read'>;
  readonly sharedFiles: Pick<SharedFilesStore, 'head'>;
  readonly learnings: LearningStore;
  readonly memory: AgentMemory;
}

/**
 * Keeps what the log says was learned and was not kept yet. @throws what keeping the first that failed threw, once all
 * were tried. @returns what became of each, by its id
 */
export async function keepLearnings(
  log: SessionLog,
  { store, learnings }: KeepingPorts,
): Promise<ReadonlyMap<string, Keeping>> {
  const { sessionId, agentId, learningsToKeep = [] } = log.state();
  const kept = new Map<string, Keeping>();
  const failures: unknown[] = [];
  for (const { learningId, seq } of learningsToKeep.slice(0, MAX_KEPT_AT_ONCE)) {
    try {
      const captured = await capturedAt(store, sessionId, seq);
      if (captured?.learningId === learningId) kept.set(learningId, await learnings.keep(agentId, captured));
    } catch (error) {
      failures.push(error);
    }
  }
  if (kept.size > 0)
    await log.append(
      [...kept].map(([learningId, keeping]): SessionEventDraft => ({
        type: 'learning.kept',
        data: { learningId, ...keeping },
      })),
    );
  if (failures.length > 0) throw failures[0];
  return kept;
}

export interface SessionPromotion {
  /** None: those of the session that wait for it and were evaluated. */
  readonly learningIds: readonly string[];
  /** Undefined: whatever it is then. */
  readonly expectedVersion?: number | undefined;
}

export interface PromotedLearnings extends SharedFilesResult {
  readonly learningIds: readonly string[];
}

/**
 * The learnings of a session that wait to be promoted, as many as go at once: those that its evaluation has seen, and
 * those that came after it.
 */
export function waitingForPromotion({
  learningsToPromote = [],
  evaluation,
}: Pick<SessionState, 'learningsToPromote' | 'evaluation'>): {
  readonly evaluated: readonly LearningToPromote[];
  readonly later: readonly LearningToPromote[];
} {
  const throughSeq = evaluation?.throughSeq ?? 0;
  const part = (isEvaluated: boolean): readonly LearningToPromote[] =>
    learningsToPromote.filter(({ seq }) => seq <= throughSeq === isEvaluated).slice(0, MAX_PROMOTED_AT_ONCE);
  return { evaluated: part(true), later: part(false) };
}

/**
 * Promotes learnings for a session, and says so in its log. Where no version is expected, others may be faster a few
 * times.
 * @throws RuntimeError PROMOTION_REFUSED, LEARNING_NOT_FOUND, NOTHING_TO_PROMOTE, and as AgentMemory.promote
 */
export async function promoteForSession(
  log: SessionLog,
  { store, sharedFiles, learnings, memory }: PromotionPorts,
  { learningIds, expectedVersion }: SessionPromotion,
): Promise<PromotedLearnings> {
  const { sessionId, agentId } = log.state();
  const permit = requirePromotion(log.state());
  const found = await (learningIds.length > 0
    ? namedLearnings(log, permit, { store, learnings }, learningIds)
    : waitingLearnings(log, permit, { store, learnings }));
  for (let attempt = 1; ; attempt += 1) {
    const version = expectedVersion ?? (await sharedFiles.head(agentId)).version;
    try {
      const result = await memory.promote(requirePromotion(log.state()), {
        agentId,
        learnings: found,
        expectedVersion: version,
        why: `learned in session ${sessionId}`,
      });
      const promoted = found.map(({ learningId }) => learningId);
      await log.append([
        { type: 'memory.promoted', data: { version: result.version, expectedVersion: version, learningIds: promoted } },
      ]);
      return { ...result, learningIds: promoted };
    } catch (error) {
      if (expectedVersion !== undefined || !isConflict(error) || attempt >= MAX_PROMOTION_ATTEMPTS) throw error;
    }
  }
}

type ProvingPorts = Pick<PromotionPorts, 'store' | 'learnings'>;

/**
 * @throws RuntimeError LEARNING_NOT_FOUND; PROMOTION_REFUSED for what this session has not learned, or not before the
 * evaluation
 */
export async function namedLearnings(
  log: SessionLog,
  permit: PromotionPermit,
  ports: ProvingPorts,
  learningIds: readonly string[],
): Promise<readonly KeptLearning[]> {
  const { agentId } = log.state();
  return Promise.all(
    learningIds.map(async (learningId) => {
      const proven = await provenLearning({ learningId }, permit, log.state(), ports);
      if (proven !== undefined) return proven;
      throw new RuntimeError('LEARNING_NOT_FOUND', `agent ${agentId} has no learning ${JSON.stringify(learningId)}`, {
        category: 'not_found',
        hint: `learning_list shows those that it has, and so does wakechart learnings list --agent ${agentId}.`,
      });
    }),
  );
}

/**
 * What people took out meanwhile is not brought back because a session had it waiting, and nothing that cannot be
 * proven holds back the rest.
 */
async function waitingLearnings(
  log: SessionLog,
  permit: PromotionPermit,
  ports: ProvingPorts,
): Promise<readonly KeptLearning[]> {
  const prove = (wanted: WantedLearning): Promise<KeptLearning | undefined> =>
    provenLearning(wanted, permit, log.state(), ports).catch((error: unknown) => {
      if (RuntimeError.is(error) && error.code === 'PROMOTION_REFUSED') return undefined;
      throw error;
    });
  const found = (await Promise.all(waitingForPromotion(log.state()).evaluated.map(prove))).filter(
    (each) => each !== undefined,
  );
  if (found.length > 0) return found;
  throw new RuntimeError('NOTHING_TO_PROMOTE', 'no learning of the session waits to be promoted', {
    category: 'not_found',
    hint: 'Name one: learnings wait that were captured with promoteToMemory before the outcome was evaluated, and are not in the memory yet.',
  });
}

function isConflict(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'SHARED_FILES_CONFLICT';
}
