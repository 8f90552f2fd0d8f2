/**
 * What a session may promote: what its own log says that it has learned, in its own words, before its outcome was
 * evaluated.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { wordsOf } from '../../machines/memory/learning.ts';
import type { CapturedLearning, KeptLearning } from '../../machines/memory/learning.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { PromotionPermit } from '../outcome/promotion-gate.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';
import { capturedAt, capturesAmong } from './captured-learnings.ts';
import type { LearningStore } from './learning-store.ts';

/** Events that are scanned for a learning that another session had first, from the end of the log. */
const MAX_SOUGHT_EVENTS = 20_000;

export interface ProvingPorts {
  readonly store: Pick<EventStore, 'read'>;
  readonly learnings: Pick<LearningStore, 'get'>;
}

export interface WantedLearning {
  readonly learningId: string;
  /** Of the event by which the session has learned it, where that is known. */
  readonly seq?: number | undefined;
}

type Session = Pick<SessionState, 'sessionId' | 'agentId' | 'head' | 'importedThroughSeq'>;

/**
 * The learning as this session has it in its log; undefined when it was not kept, or people took it out.
 * @throws RuntimeError PROMOTION_REFUSED where the session has not learned it, or not before the evaluation
 */
export async function provenLearning(
  { learningId, seq }: WantedLearning,
  permit: PromotionPermit,
  session: Session,
  { store, learnings }: ProvingPorts,
): Promise<KeptLearning | undefined> {
  const kept = await learnings.get(session.agentId, learningId);
  if (kept === undefined) return undefined;
  const known = seq ?? (kept.sessionId === session.sessionId ? kept.seq : undefined);
  const own = await ownCapture(kept, known, session, store);
  if (own === undefined) throw notLearnedHere(kept);
  if (own.seq > permit.throughSeq) throw learnedLater(learningId);
  // Words that differ in case or punctuation only are the same learning; those that were evaluated are shared.
  return { ...kept, title: own.title, detail: own.detail };
}

/** The earliest place in the session's own part of its log that is known to say the same. */
async function ownCapture(
  kept: KeptLearning,
  known: number | undefined,
  session: Session,
  store: ProvingPorts['store'],
): Promise<CapturedLearning | undefined> {
  const { sessionId, head, importedThroughSeq = 0 } = session;
  const words = wordsOf(kept);
  const isOwn = (captured: CapturedLearning | undefined): captured is CapturedLearning =>
    captured !== undefined && captured.seq > importedThroughSeq && wordsOf(captured) === words;
  const named = known === undefined ? undefined : await capturedAt(store, sessionId, known);
  if (isOwn(named)) return named;
  for (let from = Math.max(importedThroughSeq, head - MAX_SOUGHT_EVENTS) + 1; from <= head;) {
    const page = await store.read(sessionId, { from, limit: MAX_READ_EVENTS });
    const found = capturesAmong(sessionId, page).find(isOwn);
    const last = page.at(-1);
    if (found !== undefined || last === undefined) return found;
    from = last.seq + 1;
  }
  return undefined;
}

function notLearnedHere({ learningId, sessionId }: KeptLearning): RuntimeError {
  return new RuntimeError(
    'PROMOTION_REFUSED',
    `learning ${learningId} comes from session ${sessionId}, and only what this session has learned was evaluated here`,
    {
      category: 'permission',
      hint: 'Prove it here and capture it again in the same words, or leave it to people, who may write into MEMORY.md.',
    },
  );
}

function learnedLater(learningId: string): RuntimeError {
  return new RuntimeError('PROMOTION_REFUSED', `learning ${learningId} was captured after the outcome was evaluated`, {
    category: 'permission',
    hint: 'Evaluate the outcome again (outcome_evaluate, or wakechart outcome evaluate).',
  });
}
