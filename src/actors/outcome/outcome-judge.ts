/**
 * The port to a judge: it reads what the log shows and the criteria, nothing else, and says whether the outcome is
 * reached.
 */
import type { Judgement } from '../../machines/outcome/outcome-verdict.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { OutcomeEvidence } from '../../machines/session/improvement-events.ts';
import type { SessionState } from '../../machines/session/session-state.ts';

export interface JudgeModel {
  readonly provider: string;
  readonly model: string;
  readonly profile?: string | undefined;
}

export interface JudgeRequest {
  readonly sessionId: string;
  readonly model: JudgeModel;
  readonly outcome: Pick<NonNullable<SessionState['outcome']>, 'title' | 'detail' | 'criteria' | 'by'>;
  readonly evidence: readonly OutcomeEvidence[];
  /** Absolute. */
  readonly workspaceDirectory: string;
  readonly agentDirectory: string;
  readonly signal: AbortSignal;
}

export interface JudgeAnswer extends Judgement {
  /** What it took to be asked: absent where none was. */
  readonly usage?: RunUsage | undefined;
}

export interface OutcomeJudge {
  /** What cannot be understood, or fails, is `uncertain`. @throws what `signal` was aborted with, and nothing else */
  judge(request: JudgeRequest): Promise<JudgeAnswer>;
}
