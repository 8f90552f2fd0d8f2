/**
 * One evaluation of an outcome: what the log shows, then the checks, then the judge; what came of it is said of exactly
 * the log that was checked.
 */
import { gradeOf } from '../../machines/outcome/outcome-grade.ts';
import type { Grade } from '../../machines/outcome/outcome-grade.ts';
import { weigh } from '../../machines/outcome/outcome-verdict.ts';
import type { CheckEnding, Evaluation, Judged, Judgement } from '../../machines/outcome/outcome-verdict.ts';
import type { WorkRecord } from '../../machines/outcome/work-record.ts';
import type { SessionEventData, SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { SharedFilesStage } from '../memory/shared-files-stage.ts';
import { stageDigest } from '../memory/shared-files-stage.ts';
import type { ReadShell } from '../permission/permission-ports.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { IdSource } from '../session/id-source.ts';
import type { CheckRunner } from './check-runner.ts';
import type { JudgeAnswer, OutcomeJudge } from './outcome-judge.ts';
import { readWork } from './read-work.ts';
import type { EventReader } from './read-work.ts';

export interface EvaluationPorts {
  readonly store: EventReader;
  readonly ids: IdSource;
  /** Reads command lines. Without it no command line is understood, and no exit code speaks for anything. */
  readonly readShell?: ReadShell | undefined;
  /** Without it a check that is set counts as one that could not be run. */
  readonly checks?: CheckRunner | undefined;
  /** What is staged to be shared. Without it nothing of that can be. */
  readonly stage?: Pick<SharedFilesStage, 'read'> | undefined;
  /**
   * What still runs in the open shells of a session, in words; undefined when nothing does. Without it this is not
   * looked up.
   */
  readonly leftRunning?: ((session: SessionIdentity) => Promise<string | undefined>) | undefined;
  /** Without it a judge that is named counts as one that does not know. */
  readonly judge?: OutcomeJudge | undefined;
}

/** Where an outcome is evaluated. */
export interface EvaluationPlace {
  /** As the log stands now. */
  state(): SessionState;
  readonly environment?: SessionEnvironment | undefined;
  /** Absolute. */
  readonly workspaceDirectory: string;
  readonly agentDirectory: string;
  /** The tool call that asks, in a wake. */
  readonly askingCallId?: string | undefined;
  /** Appends what is to be said of the log as it stands then. */
  append(draftsFor: (state: SessionState) => readonly SessionEventDraft[]): Promise<void>;
  readonly signal: AbortSignal;
}

export interface OutcomeReport extends Evaluation {
  readonly grade: Grade['grade'];
  /** The last event that was checked. */
  readonly throughSeq: number;
  readonly evaluators: SessionEventData<'outcome.evaluated'>['evaluators'];
}

const DEFAULT_CHECK_SECONDS = 600;

/** Commands are not understood without a reader. */
const readNothing: ReadShell = () => ({
  kind: 'not_understood',
  because: 'there is no reader of command lines here',
});

/**
 * Stores what came of it; nothing where there is no outcome. @throws what `signal` was aborted with, and what the store
 * throws
 */
export async function evaluateOutcome(place: EvaluationPlace, ports: EvaluationPorts): Promise<OutcomeReport> {
  const { signal } = place;
  signal.throwIfAborted();
  const before = place.state();
  const record = await readWork(ports.store, before);
  const grade = gradeOf({
    state: before,
    record,
    askingCallId: place.askingCallId,
    leftRunning: await ports.leftRunning?.(before),
  });
  const { outcome } = before;
  if (outcome === undefined)
    return {
      grade: grade.grade,
      verdict: 'not_ready',
      because: grade.because,
      evidence: [],
      throughSeq: before.head,
      evaluators: ['log'],
    };
  const isCandidate = grade.grade === 'done_candidate';
  const staged = isCandidate ? await digestOf(place, ports) : undefined;
  const words: OutsideWords = isCandidate
    ? await outsideWords(place, ports, { before, outcome, grade, record })
    : { checks: [] };
  const stagedAfter = isCandidate ? await digestOf(place, ports) : undefined;
  signal.throwIfAborted();
  const judged = { outcome, grade, record, ...words, readCommand: ports.readShell ?? readNothing };
  const evaluators = evaluatorsOf(words);
  const usage = words.judgement?.usage;
  let report: OutcomeReport | undefined;
  const draftsFor = (after: SessionState): readonly SessionEventDraft[] => {
    const disturbance =
      disturbanceBetween(before, after, place.askingCallId) ??
      (staged === stagedAfter ? undefined : 'What is staged to be shared was changed while the outcome was evaluated.');
    const evaluation = weigh({ ...judged, disturbance });
    report = { ...evaluation, grade: grade.grade, throughSeq: before.head, evaluators };
    return [
      { type: 'outcome.graded', data: { ...grade, evidence: [] } },
      {
        type: 'outcome.evaluated',
        data: {
          verdict: evaluation.verdict,
          because: evaluation.because,
          evidence: [...evaluation.evidence],
          throughSeq: before.head,
          evaluators,
          ...(staged === undefined ? {} : { stageDigest: staged }),
          ...(usage === undefined ? {} : { usage }),
        },
      },
    ];
  };
  await place.append(draftsFor);
  // The caller that appends has asked for the drafts.
  return report ?? { ...weigh(judged), grade: grade.grade, throughSeq: before.head, evaluators };
}

function evaluatorsOf({ checks, judgement }: OutsideWords): OutcomeReport['evaluators'] {
  return [
    'log',
    ...(checks.length > 0 ? (['check'] as const) : []),
    ...(judgement === undefined ? [] : (['judge'] as const)),
  ];
}

/** Undefined for a stage that cannot be read, such as one with links in it: of that nothing can be shared. */
async function digestOf(
  { workspaceDirectory }: EvaluationPlace,
  { stage }: EvaluationPorts,
): Promise<string | undefined> {
  const staged = await stage?.read(workspaceDirectory).catch(() => undefined);
  return staged === undefined ? undefined : stageDigest(staged);
}

interface Checked {
  readonly before: SessionState;
  readonly outcome: NonNullable<SessionState['outcome']>;
  readonly grade: Grade;
  readonly record: WorkRecord;
}

interface OutsideWords extends Pick<Judged, 'checks'> {
  readonly judgement?: JudgeAnswer | undefined;
}

/** What others than the log say. No other is asked once one has said no. */
async function outsideWords(place: EvaluationPlace, ports: EvaluationPorts, checked: Checked): Promise<OutsideWords> {
  const { before, outcome, grade, record } = checked;
  const checks: CheckEnding[] = [];
  for (const check of checksOf(outcome, place.environment)) {
    checks.push({ of: check.of, command: check.command, ended: await endingOf(check, place, ports, before) });
    if (!didPass(checks.at(-1))) return { checks };
  }
  const model = place.environment?.definition.evaluation.judge;
  if (model === undefined) return { checks };
  const so = weigh({ outcome, grade, record, checks, readCommand: ports.readShell ?? readNothing });
  if (so.verdict === 'fail') return { checks };
  const { workspaceDirectory, agentDirectory, signal } = place;
  const unasked: Judgement = { verdict: 'uncertain', because: 'no judge can be asked here' };
  const judgement = await ports.judge?.judge({
    sessionId: before.sessionId,
    model,
    outcome,
    evidence: so.evidence,
    workspaceDirectory,
    agentDirectory,
    signal,
  });
  return { checks, judgement: judgement ?? unasked };
}

interface SetCheck {
  readonly of: CheckEnding['of'];
  readonly command: string;
  readonly timeoutSeconds: number;
}

/** Those that people have set. */
export function checksOf(
  outcome: SessionState['outcome'],
  environment: SessionEnvironment | undefined,
): readonly SetCheck[] {
  // The schema of the agent's own definitions knows no check; what a damaged or hand-made log says does not count
  // either.
  const own = outcome?.by === 'person' ? outcome.check : undefined;
  const common = environment?.definition.evaluation.check;
  return [
    ...(own === undefined
      ? []
      : [
          { of: 'outcome' as const, command: own.command, timeoutSeconds: own.timeoutSeconds ?? DEFAULT_CHECK_SECONDS },
        ]),
    ...(common === undefined
      ? []
      : [{ of: 'environment' as const, command: common.command, timeoutSeconds: common.timeoutSeconds }]),
  ];
}

async function endingOf(
  { command, timeoutSeconds }: SetCheck,
  { environment, workspaceDirectory, signal }: EvaluationPlace,
  { checks, ids }: EvaluationPorts,
  state: SessionState,
): Promise<CheckEnding['ended']> {
  const ended = await checks?.run({
    session: placeOfSession(state),
    workspaceDirectory,
    environment,
    command,
    timeoutSeconds,
    checkId: `check-${ids.next()}`,
    signal,
  });
  return ended ?? { kind: 'not_run', because: 'checks cannot be run here' };
}

function didPass(check: CheckEnding | undefined): boolean {
  return check?.ended.kind === 'exited' && check.ended.exitCode === 0;
}

/** What happened between the check and the verdict that may make it another one. */
function disturbanceBetween(
  before: SessionState,
  after: SessionState,
  askingCallId: string | undefined,
): string | undefined {
  if (after.outcome?.seq !== before.outcome?.seq) return 'Another outcome was defined while this one was evaluated.';
  if (after.changedAtSeq !== before.changedAtSeq) return 'Something was changed while the outcome was evaluated.';
  if (after.pending.length > before.pending.length) return 'A message came while the outcome was evaluated.';
  const isOpenBeside = after.openToolCalls.some(
    ({ callId }) => callId !== askingCallId && !before.openToolCalls.some((call) => call.callId === callId),
  );
  return isOpenBeside || after.status === 'terminated'
    ? 'The session went on while the outcome was evaluated.'
    : undefined;
}
