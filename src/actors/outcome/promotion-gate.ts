/**
 * The gate before everything that all sessions of an agent share: only what was evaluated to reach its outcome goes
 * through, for every caller.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';

const MADE_HERE = Symbol('made by the gate');

/** That a session may promote now. Only the gate makes them, and what promotes asks for one. */
export class PromotionPermit {
  /** So that nothing that merely looks like a permit is one, for the compiler and when it runs. */
  readonly #isMadeHere = true;
  readonly sessionId: string;
  /** The evaluation that passed: the number of its event. */
  readonly evaluationSeq: number;
  /** The last event that it checked: what came after was not evaluated. */
  readonly throughSeq: number;
  /** Of what was staged all through the evaluation. Undefined: it was not checked. */
  readonly stageDigest: string | undefined;

  constructor(
    madeHere: typeof MADE_HERE,
    {
      sessionId,
      evaluationSeq,
      throughSeq,
      stageDigest,
    }: Pick<PromotionPermit, 'sessionId' | 'evaluationSeq' | 'throughSeq' | 'stageDigest'>,
  ) {
    if (madeHere !== MADE_HERE)
      throw new RuntimeError('PROMOTION_REFUSED', 'expected a permit of the promotion gate', {
        category: 'permission',
        hint: 'Evaluate the outcome of the session first.',
      });
    this.sessionId = sessionId;
    this.evaluationSeq = evaluationSeq;
    this.throughSeq = throughSeq;
    this.stageDigest = stageDigest;
    Object.freeze(this);
  }

  /**
   * A caller that promotes asks this first. @throws RuntimeError PROMOTION_REFUSED for what the gate has not made, or
   * has made for another session
   */
  static check(permit: PromotionPermit, sessionId: string): void {
    const isPermit = typeof permit === 'object' && permit !== null && #isMadeHere in permit && permit.#isMadeHere;
    if (isPermit && permit.sessionId === sessionId) return;
    throw new RuntimeError(
      'PROMOTION_REFUSED',
      isPermit
        ? `expected a permit for session ${sessionId}, received one for session ${permit.sessionId}`
        : 'expected a permit of the promotion gate',
      { category: 'permission', hint: 'Evaluate the outcome of the session first.' },
    );
  }
}

/** Why a session may not promote anything now; undefined when it may. */
export function promotionProblem({
  outcome,
  evaluation,
  changedAtSeq = 0,
  importedThroughSeq = 0,
}: SessionState): string | undefined {
  if (outcome === undefined) return 'the session has no outcome that could be reached';
  // One that was defined during the evaluation was not what was evaluated.
  if (
    evaluation === undefined ||
    evaluation.throughSeq < outcome.seq ||
    evaluation.seq < outcome.seq ||
    evaluation.seq <= importedThroughSeq
  )
    return 'the outcome has not been evaluated';
  if (evaluation.verdict !== 'pass')
    return `the outcome was evaluated as "${evaluation.verdict}": ${evaluation.because}`;
  // What came after may have undone what was evaluated.
  if (evaluation.throughSeq < changedAtSeq) return 'something was changed since the outcome was evaluated';
  return undefined;
}

/** @throws RuntimeError PROMOTION_REFUSED saying why */
export function requirePromotion(state: SessionState): PromotionPermit {
  const problem = promotionProblem(state);
  if (problem === undefined && state.evaluation !== undefined) {
    const { seq: evaluationSeq, throughSeq, stageDigest } = state.evaluation;
    return new PromotionPermit(MADE_HERE, { sessionId: state.sessionId, evaluationSeq, throughSeq, stageDigest });
  }
  throw new RuntimeError(
    'PROMOTION_REFUSED',
    `expected an outcome that was evaluated as reached: ${problem ?? 'nothing was evaluated'}`,
    {
      category: 'permission',
      hint: 'Define an outcome, do the work, and evaluate it (outcome_evaluate, or wakechart outcome evaluate). What passes can be promoted until something is changed.',
    },
  );
}
