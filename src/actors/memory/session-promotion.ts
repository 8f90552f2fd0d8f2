/** From the log of a session to what all sessions of its agent have: its learnings are kept, and those that are to be are promoted, through the gate. */
import { RuntimeError } from '../../machines/errors.ts';
import type { Keeping } from '../../machines/memory/learning-ledger.ts';
import type { KeptLearning } from '../../machines/memory/learning.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { requirePromotion } from '../outcome/promotion-gate.ts';
import type { EventStore } from '../session/event-store.ts';
import type { CompanionWake } from '../wake/wake-companion.ts';
import type { AgentMemory } from './agent-memory.ts';
import { capturedAt } from './captured-learnings.ts';
import type { LearningStore } from './learning-store.ts';
import type { SubstrateResult, SubstrateStore } from './substrate-store.ts';

/** How often a promotion is tried anew when other sessions of the agent were faster. */
const MAX_PROMOTION_ATTEMPTS = 8;

/** Learnings that are kept at once; the next time goes on. */
const MAX_KEPT_AT_ONCE = 200;

/** Learnings that one promotion takes. */
const MAX_PROMOTED_AT_ONCE = 100;

/** The log of a session, to read where it stands and to add to it. */
export type SessionLog = Pick<CompanionWake, 'state' | 'append'>;

export interface KeepingPorts {
  readonly store: Pick<EventStore, 'read'>;
  readonly learnings: LearningStore;
}

export interface PromotionPorts {
  readonly substrate: Pick<SubstrateStore, 'head'>;
  readonly learnings: LearningStore;
  readonly memory: AgentMemory;
}

/** Keeps what the log says was learned and nobody has kept. @throws what keeping the first that failed threw, once all were tried. @returns what became of each, by its id */
export async function keepLearnings(log: SessionLog, { store, learnings }: KeepingPorts): Promise<ReadonlyMap<string, Keeping>> {
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
  if (kept.size > 0) await log.append([...kept].map(([learningId, keeping]): SessionEventDraft => ({ type: 'learning.kept', data: { learningId, ...keeping } })));
  if (failures.length > 0) throw failures[0];
  return kept;
}

export interface SessionPromotion {
  /** None: those of the session that wait for it. */
  readonly learningIds: readonly string[];
  /** Undefined: whatever it is then. */
  readonly expectedVersion?: number | undefined;
}

export interface PromotedLearnings extends SubstrateResult {
  readonly learningIds: readonly string[];
}

/** The learnings of a session that wait to be promoted, as many as go at once. */
export function waitingForPromotion({ state }: { readonly state: ReturnType<SessionLog['state']> }): readonly string[] {
  return (state.learningsToPromote ?? []).slice(0, MAX_PROMOTED_AT_ONCE);
}

/**
 * Promotes learnings for a session, and says so in its log. Where no version is expected, others may be faster a few times.
 * @throws RuntimeError PROMOTION_REFUSED, LEARNING_NOT_FOUND, NOTHING_TO_PROMOTE, and as AgentMemory.promote
 */
export async function promoteForSession(log: SessionLog, { substrate, learnings, memory }: PromotionPorts, { learningIds, expectedVersion }: SessionPromotion): Promise<PromotedLearnings> {
  const { sessionId, agentId } = log.state();
  const wanted = learningIds.length > 0 ? learningIds : waitingForPromotion({ state: log.state() });
  const found = await namedLearnings(learnings, { agentId, wanted, areNamed: learningIds.length > 0 });
  for (let attempt = 1; ; attempt += 1) {
    const version = expectedVersion ?? (await substrate.head(agentId)).version;
    try {
      const result = await memory.promote(requirePromotion(log.state()), { agentId, learnings: found, expectedVersion: version, why: `learned in session ${sessionId}` });
      const promoted = found.map(({ learningId }) => learningId);
      await log.append([{ type: 'memory.promoted', data: { version: result.version, expectedVersion: version, learningIds: promoted } }]);
      return { ...result, learningIds: promoted };
    } catch (error) {
      if (expectedVersion !== undefined || !isConflict(error) || attempt >= MAX_PROMOTION_ATTEMPTS) throw error;
    }
  }
}

/** What people took out meanwhile is not brought back because a session had it waiting. */
async function namedLearnings(learnings: LearningStore, { agentId, wanted, areNamed }: { readonly agentId: string; readonly wanted: readonly string[]; readonly areNamed: boolean }): Promise<readonly KeptLearning[]> {
  const found: KeptLearning[] = [];
  for (const learningId of wanted) {
    const each = await learnings.get(agentId, learningId);
    if (each !== undefined) found.push(each);
    else if (areNamed) throw new RuntimeError('LEARNING_NOT_FOUND', `agent ${agentId} has no learning ${JSON.stringify(learningId)}`, { category: 'not_found', hint: `List them: wakechart learnings list --agent ${agentId}` });
  }
  if (found.length > 0) return found;
  throw new RuntimeError('NOTHING_TO_PROMOTE', 'no learning of the session waits to be promoted', { category: 'not_found', hint: 'Name one: learnings wait that were captured with promoteToMemory, and are not in the memory yet.' });
}

function isConflict(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'SUBSTRATE_CONFLICT';
}
