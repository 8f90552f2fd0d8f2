/**
 * What the parts of a wake can answer, one of each kind: for the audit of the chart, and for those who lead a wake
 * through it by its log.
 */
import type { WakeCourse } from './wake-decision.ts';
import type { ClaimAnswer, CommitAnswer, FoldAnswer, RecordedEnd, StepAnswer, WakeStep } from './wake-machine.ts';

const COURSE: WakeCourse = { modelSteps: 1, mustSpeak: false, hasDriven: false, nextStep: {} };
const RECORDED: RecordedEnd = { end: { outcome: 'sleep', summary: undefined }, summary: '' };

export const CLAIMED: ClaimAnswer = { next: 'claimed', mustSpeak: false };
export const NOTHING_TO_DO: ClaimAnswer = { next: 'nothing_to_do' };
export const FOLDED_TO_STEP: FoldAnswer = { next: 'step' };
export const FOLDED_TO_CALLS: FoldAnswer = { next: 'call_tools' };
export const FOLDED_TO_END: FoldAnswer = { next: 'end', decided: { end: RECORDED.end, head: 0 } };
export const ASSEMBLED: WakeStep = { need: {} };
export const STEPPED_TO_CALLS: StepAnswer = { next: 'call_tools', course: COURSE, calls: [] };
export const STEPPED: StepAnswer = { next: 'fold', course: COURSE, calls: [] };
export const COMMITTED: CommitAnswer = { next: 'committed', recorded: RECORDED };
export const MOVED: CommitAnswer = { next: 'moved' };

/** By the part that answers. */
export const wakeAnswers = {
  claim: [CLAIMED, NOTHING_TO_DO],
  fold: [FOLDED_TO_STEP, FOLDED_TO_CALLS, FOLDED_TO_END],
  assemble: [ASSEMBLED],
  step: [STEPPED_TO_CALLS, STEPPED],
  commit: [COMMITTED, MOVED],
  recordFailure: [RECORDED],
} as const;
