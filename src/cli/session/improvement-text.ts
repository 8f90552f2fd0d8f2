/** What a session is to achieve, whether it has, and what it has learned that waits for that, in short lines. */
import { promotionProblem } from '../../actors/outcome/promotion-gate.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { counted, oneLine } from '../terminal/text.ts';

/** By name; those that there is nothing to say of are undefined. */
export function improvementFields(state: SessionState): [string, string | undefined][] {
  return [
    ['outcome', outcomeText(state)],
    ['evaluated', evaluationText(state)],
    ['learned', learnedText(state)],
  ];
}

function outcomeText({ outcome }: SessionState): string | undefined {
  return outcome === undefined
    ? undefined
    : `${oneLine(outcome.title)}${outcome.by === 'agent' ? ' (defined by the agent)' : ''}`;
}

function evaluationText({ outcome, evaluation, changedAtSeq = 0 }: SessionState): string | undefined {
  if (outcome === undefined) return undefined;
  if (evaluation === undefined || evaluation.throughSeq < outcome.seq) return 'not yet';
  const isStale = evaluation.throughSeq < changedAtSeq;
  return `${evaluation.verdict}: ${oneLine(evaluation.because)}${isStale ? ' (something was changed since)' : ''}`;
}

function learnedText(state: SessionState): string | undefined {
  const { learningsToKeep = [], learningsToPromote = [] } = state;
  const parts: string[] = [];
  if (learningsToKeep.length > 0)
    parts.push(`${counted(learningsToKeep.length, 'learning')} to be kept by the next wake`);
  const problem = promotionProblem(state);
  if (learningsToPromote.length > 0)
    parts.push(
      `${counted(learningsToPromote.length, 'learning')} for the memory, ${problem === undefined ? 'promoted by the next wake' : `waiting: ${oneLine(problem)}`}`,
    );
  return parts.length === 0 ? undefined : parts.join('; ');
}
