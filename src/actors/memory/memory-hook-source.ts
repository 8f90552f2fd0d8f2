/** What the memory of agents adds to a runtime: its tools, and what goes along with wakes. */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { formatUuidV7, UUID_V7_MAX_COUNTER, UUID_V7_RANDOM_BYTES } from '../../machines/ids.ts';
import { MAX_SUMMARY_CHARACTERS } from '../../machines/session/limits.ts';
import type { LearningToPromote, SessionState } from '../../machines/session/session-state.ts';
import { promotionProblem } from '../outcome/promotion-gate.ts';
import type { EventStore } from '../session/event-store.ts';
import type { IdSource } from '../session/id-source.ts';
import { sha256 } from '../sha256.ts';
import type { HookedWake, Tool } from '../turn/tool.ts';
import type { WakeHook } from '../wake/wake-hook.ts';
import { AgentMemory } from './agent-memory.ts';
import type { LearningStore } from './learning-store.ts';
import { createMemoryTools } from './memory-tools.ts';
import { createResourceTools } from './resource-tools.ts';
import type { KeepingPorts, PromotionPorts } from './session-promotion.ts';
import { keepLearnings, promoteForSession, waitingForPromotion } from './session-promotion.ts';
import type { SharedFilesStage } from './shared-files-stage.ts';
import type { SharedFilesStore } from './shared-files-store.ts';

export interface MemoryParts {
  readonly sharedFiles: SharedFilesStore;
  readonly learnings: LearningStore;
  readonly stage: SharedFilesStage;
}

export interface MemoryServices {
  readonly store: Pick<EventStore, 'read'>;
  readonly ids: IdSource;
}

export interface MemoryHookSource {
  readonly tools: readonly Tool[];
  readonly hook: WakeHook;
}

export function createMemoryHookSource(parts: MemoryParts, { store, ids }: MemoryServices): MemoryHookSource {
  const ports = { ...parts, store, ids, memory: new AgentMemory(parts) };
  return {
    tools: [...createMemoryTools(ports), ...createResourceTools(ports)],
    hook: createMemoryHook(ports),
  };
}

type MemoryHookPorts = KeepingPorts & PromotionPorts;

/**
 * Goes along with wakes: what a session has learned is kept for all sessions of its agent, and what is to be in the
 * agent's memory gets there once the session's outcome is reached. Each part is in a store before the log says so; a
 * process that takes over does it again, to no effect.
 */
function createMemoryHook(ports: MemoryHookPorts): WakeHook {
  return {
    name: 'memory',
    async beforeStep(wake) {
      await keepLearnings(wake, ports);
      if (promotionProblem(wake.state()) === undefined) await promoteEvaluated(wake, ports);
    },
    async ended(wake) {
      await keepLearnings(wake, ports);
      await promoteLearnings(wake, ports);
    },
    needsRight(wake) {
      const { learningsToKeep = [], learningsToPromote = [] } = wake.state();
      return learningsToKeep.length + learningsToPromote.length > 0;
    },
  };
}

/** A person has to put these right; the reader of the log is told. */
const TELLING: ReadonlySet<string> = new Set([
  'MEMORY_DAMAGED',
  'MEMORY_FULL',
  'SHARED_FILES_TOO_LARGE',
  'SHARED_FILES_PATH_TAKEN',
  'SHARED_FILES_DAMAGED',
]);

const LEARNED_LATER = 'it was learned after the outcome was evaluated';

/** Promotes what waits for it, or says once why not. */
async function promoteLearnings(wake: HookedWake, ports: PromotionPorts): Promise<void> {
  const problem = promotionProblem(wake.state());
  const { evaluated, later } = waitingForPromotion(wake.state());
  if (problem !== undefined) return refuseOnce(wake, problem, idsOf([...evaluated, ...later]));
  await refuseOnce(wake, LEARNED_LATER, idsOf(later));
  await promoteEvaluated(wake, ports);
}

async function promoteEvaluated(wake: HookedWake, ports: PromotionPorts): Promise<void> {
  const learningIds = idsOf(waitingForPromotion(wake.state()).evaluated);
  if (learningIds.length === 0) return;
  try {
    await promoteForSession(wake, ports, { learningIds: [] });
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    if (error.code === 'NOTHING_TO_PROMOTE') return;
    if (TELLING.has(error.code)) await refuseOnce(wake, error.message, learningIds);
    throw error;
  }
}

/** One refusal for each state of the evaluation, however many wakes find it so. */
async function refuseOnce(wake: HookedWake, because: string, learningIds: readonly string[]): Promise<void> {
  if (learningIds.length === 0) return;
  const id = await idOnce(refusalKey(wake.state(), because, learningIds), wake.state().createdAt);
  await wake.append([
    {
      id,
      type: 'promotion.refused',
      data: { what: 'memory', because: beginningOf(because, MAX_SUMMARY_CHARACTERS), learningIds: [...learningIds] },
    },
  ]);
}

function idsOf(learnings: readonly LearningToPromote[]): readonly string[] {
  return learnings.map(({ learningId }) => learningId);
}

function refusalKey(
  { sessionId, outcome, evaluation }: SessionState,
  because: string,
  learningIds: readonly string[],
): string {
  return JSON.stringify([
    'promotion.refused',
    sessionId,
    outcome?.seq ?? 0,
    evaluation?.seq ?? 0,
    because,
    learningIds,
  ]);
}

/**
 * The same id for the same key: whichever process finds the reason to store the event, and however often, the store
 * takes it once. @param createdAt ISO-8601: the time that the id shows
 */
async function idOnce(key: string, createdAt: string | undefined): Promise<string> {
  const digest = await sha256(key);
  const [high = 0, low = 0] = digest.subarray(UUID_V7_RANDOM_BYTES);
  return formatUuidV7({
    unixMs: Date.parse(createdAt ?? '') || 0,
    counter: ((high << 8) | low) & UUID_V7_MAX_COUNTER,
    random: digest.subarray(0, UUID_V7_RANDOM_BYTES),
  });
}
