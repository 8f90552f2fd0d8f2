/**
 * Whether an outcome is reached: evidence of the log, checks and a judge, and the table of rules that weighs them. The
 * first rule that applies decides.
 */
import { beginningOf } from '../cut-text.ts';
import type { OutcomeEvidence, OutcomeVerdict } from '../session/improvement-events.ts';
import { MAX_SUMMARY_CHARACTERS } from '../session/limits.ts';
import type { SessionState } from '../session/session-state.ts';
import { criterionOf } from './outcome-criterion.ts';
import type { Criterion, ReadCommand } from './outcome-criterion.ts';
import type { Grade } from './outcome-grade.ts';
import { shownBy } from './work-shown.ts';
import type { OpenFailure, PlainRun, WorkChange, WorkShown } from './work-shown.ts';
import type { WorkRecord } from './work-record.ts';

/** A check as it ended. `outcome`: set by people with the outcome itself. `environment`: for every session in it. */
export interface CheckEnding {
  readonly of: 'outcome' | 'environment';
  readonly command: string;
  /**
   * `exited`: with a code, by a signal (null), or because its time was up. `not_run`: what it would have said is
   * unknown.
   */
  readonly ended:
    | { readonly kind: 'exited'; readonly exitCode: number | null; readonly isTimeUp?: boolean | undefined }
    | { readonly kind: 'not_run'; readonly because: string };
}

export interface Judgement {
  readonly verdict: 'pass' | 'fail' | 'uncertain';
  readonly because: string;
}

export interface Judged {
  readonly outcome: NonNullable<SessionState['outcome']>;
  readonly grade: Grade;
  readonly record: WorkRecord;
  readonly checks: readonly CheckEnding[];
  /** Absent: no judge is configured, or there was nothing to judge. */
  readonly judgement?: Judgement | undefined;
  /** What happened while it was evaluated, if anything did. */
  readonly disturbance?: string | undefined;
  readonly readCommand: ReadCommand;
}

export interface Evaluation {
  readonly verdict: OutcomeVerdict;
  readonly because: string;
  readonly evidence: readonly OutcomeEvidence[];
}

interface Weighed extends Judged {
  readonly shown: WorkShown;
  readonly criteria: readonly WeighedCriterion[];
  /** Runs of all tests that speak, the last of each suite: after everything that was changed. */
  readonly testRuns: readonly PlainRun[];
}

interface WeighedCriterion {
  readonly criterion: Criterion;
  /** The last run of its command after everything that was changed. */
  readonly run?: PlainRun | undefined;
}

type Rule = readonly [name: string, verdict: OutcomeVerdict, applies: (weighed: Weighed) => string | undefined];

/** Names are those of docs/outcomes.md. */
const RULES: readonly Rule[] = [
  ['not at rest', 'not_ready', ({ grade }) => (grade.grade === 'done_candidate' ? undefined : grade.because)],
  [
    'a check failed',
    'fail',
    ({ checks }) => first(checks.filter(({ ended }) => ended.kind === 'exited' && ended.exitCode !== 0).map(checkText)),
  ],
  [
    'the judge says no',
    'fail',
    ({ judgement }) => (judgement?.verdict === 'fail' ? `The judge says no: ${judgement.because}` : undefined),
  ],
  [
    'a criterion does not hold',
    'fail',
    ({ criteria }) =>
      first(
        criteria.flatMap((each) =>
          each.run !== undefined && isContradicted(each)
            ? [`"${each.criterion.text}" does not hold: it exited with ${each.run.ending.exitCode}`]
            : [],
        ),
      ),
  ],
  [
    'tests fail',
    'fail',
    ({ shown, criteria }) =>
      first(
        shown.failedTests
          .filter(({ seq }) => !criteria.some(({ run }) => run?.ending.seq === seq))
          .map(({ text }) => `${text}, and nothing shows that this was made good`),
      ),
  ],
  [
    'the effect of a call is unknown',
    'uncertain',
    ({ shown }) => first(shown.unknown.map(({ text }) => `it is not known what came of ${text}`)),
  ],
  [
    'a check could not be run',
    'uncertain',
    ({ checks }) => first(checks.filter(({ ended }) => ended.kind === 'not_run').map(checkText)),
  ],
  [
    'the judge does not know',
    'uncertain',
    ({ judgement }) =>
      judgement?.verdict === 'uncertain' ? `The judge does not know: ${judgement.because}` : undefined,
  ],
  ['something happened meanwhile', 'uncertain', ({ disturbance }) => disturbance],
  [
    'a criterion is not covered',
    'uncertain',
    (weighed) => first(weighed.criteria.filter((each) => !isCovered(each, weighed)).map(uncoveredText)),
  ],
  ['a check or the judge speaks for it', 'pass', (weighed) => (hasOutsideWord(weighed) ? forText(weighed) : undefined)],
  [
    'the agent set it itself',
    'uncertain',
    ({ outcome }) =>
      outcome.by === 'agent'
        ? 'The agent has said itself what it is to achieve, so its log alone cannot speak for it: that takes a check or a judge of the environment, or an outcome that a client defines.'
        : undefined,
  ],
  [
    'the log is not whole',
    'uncertain',
    ({ record }) =>
      record.isWhole
        ? undefined
        : 'More has happened since the outcome was defined than is checked, so the log alone cannot speak for it.',
  ],
  [
    'a call failed',
    'uncertain',
    ({ shown }) => first(shown.failed.map(({ text }) => `${text}, and was not done again with success`)),
  ],
  [
    'tests were changed',
    'uncertain',
    ({ shown }) =>
      first(
        changesOf(shown, 'test_material').map(
          ({ text }) => `${text}: that decides what the tests do, so the log alone cannot speak for the outcome`,
        ),
      ),
  ],
  [
    'not all changes can be seen',
    'uncertain',
    ({ shown }) =>
      first(
        changesOf(shown, 'hidden').map(
          ({ text }) =>
            `${text}: the log does not show what that has changed, so it alone cannot speak for the outcome`,
        ),
      ),
  ],
  ['the log speaks for it', 'pass', (weighed) => logText(weighed)],
  [
    'nothing speaks for it',
    'uncertain',
    () =>
      'Nothing in the log speaks for the outcome: no check, no judge, and no run of all tests that exited with 0 after the last change.',
  ],
];

/** The rules by name, in their order, for the documentation. */
export const VERDICT_RULES: readonly { readonly name: string; readonly verdict: OutcomeVerdict }[] = RULES.map(
  ([name, verdict]) => ({ name, verdict }),
);

export function weigh(judged: Judged): Evaluation {
  const { outcome, record, readCommand } = judged;
  const shown = shownBy(record, readCommand);
  const settled = shown.runs.filter(
    ({ startedSeq }) => startedSeq > shown.settledAfterSeq && startedSeq > record.copiedThroughSeq,
  );
  const criteria = (outcome.criteria ?? []).map((text): WeighedCriterion =>
    weighCriterion(criterionOf(text, readCommand), settled),
  );
  const testRuns = settled.filter(
    ({ test, ending }) => test?.isWhole === true && ending.exitCode === 0 && ending.saysNothingTested !== true,
  );
  const weighed = { ...judged, shown, criteria, testRuns };
  const evidence = evidenceOf(weighed);
  for (const [, verdict, applies] of RULES) {
    const because = applies(weighed);
    if (because !== undefined) return { verdict, because: sentence(because), evidence };
  }
  return { verdict: 'uncertain', because: 'Nothing in the log speaks for the outcome.', evidence };
}

function weighCriterion(criterion: Criterion, settled: readonly PlainRun[]): WeighedCriterion {
  if (criterion.kind === 'words') return { criterion };
  const run = settled.findLast(
    ({ argv }) => argv.length === criterion.argv.length && argv.every((word, index) => word === criterion.argv[index]),
  );
  return run === undefined ? { criterion } : { criterion, run };
}

function holds({ criterion, run }: WeighedCriterion): boolean {
  return (
    criterion.kind === 'exit_code' &&
    run?.ending.exitCode === criterion.exitCode &&
    (run.test === undefined || run.ending.saysNothingTested !== true)
  );
}

function isContradicted({ criterion, run }: WeighedCriterion): boolean {
  return criterion.kind === 'exit_code' && run !== undefined && run.ending.exitCode !== criterion.exitCode;
}

/**
 * What people have set as the check of this very outcome, and a judge who has read the criteria, answer for all of
 * them.
 */
function isCovered(each: WeighedCriterion, { checks, judgement }: Weighed): boolean {
  return (
    holds(each) ||
    judgement?.verdict === 'pass' ||
    checks.some(({ of, ended }) => of === 'outcome' && ended.kind === 'exited' && ended.exitCode === 0)
  );
}

function uncoveredText({ criterion, run }: WeighedCriterion): string {
  if (run !== undefined) return `"${criterion.text}": its output says that there was nothing to test`;
  return criterion.kind === 'exit_code'
    ? `"${criterion.text}": its command was not run with shell_run, alone and in the workspace, after the last change`
    : `nothing shows whether "${criterion.text}"`;
}

function hasOutsideWord({ checks, judgement }: Weighed): boolean {
  return checks.length > 0 || judgement?.verdict === 'pass';
}

function forText({ checks, judgement }: Weighed): string {
  return [
    ...checks.map(checkText),
    ...(judgement === undefined ? [] : [`The judge says yes: ${judgement.because}`]),
  ].join('; ');
}

function logText({ criteria, testRuns }: Weighed): string | undefined {
  const held = criteria.filter(({ criterion }) => criterion.kind === 'exit_code');
  if (held.length > 0)
    return `After the last change ${held.map(({ criterion }) => `"${criterion.text}"`).join(', ')} held.`;
  const run = testRuns.at(-1);
  return run === undefined ? undefined : `\`${run.line}\` exited with 0 after the last change.`;
}

function checkText({ of, command, ended }: CheckEnding): string {
  const what = `the check of the ${of}, \`${command}\`,`;
  if (ended.kind === 'not_run') return `${what} could not be run: ${ended.because}`;
  if (ended.isTimeUp === true) return `${what} was not over in time`;
  return `${what} ${ended.exitCode === null ? 'was ended by a signal' : `exited with ${ended.exitCode}`}`;
}

/** Events hold at most this many, and each of them so long a text. */
const MAX_EVIDENCE = 50;
const MAX_EVIDENCE_CHARACTERS = 500;

/** What decides comes first: what there is too much of is left out from the end. */
function evidenceOf(weighed: Weighed): readonly OutcomeEvidence[] {
  return [...outsideEvidence(weighed), ...runEvidence(weighed), ...changeEvidence(weighed)]
    .slice(0, MAX_EVIDENCE)
    .map((each) => ({ ...each, text: beginningOf(each.text, MAX_EVIDENCE_CHARACTERS) }));
}

function outsideEvidence({ checks, judgement, grade }: Weighed): OutcomeEvidence[] {
  return [
    ...checks.map((check): OutcomeEvidence => ({ kind: 'check', speaks: checkSpeaks(check), text: checkText(check) })),
    ...(judgement === undefined
      ? []
      : [
          {
            kind: 'judge',
            speaks: judgement.verdict === 'pass' ? 'for' : judgement.verdict === 'fail' ? 'against' : 'neither',
            text: judgement.because,
          } satisfies OutcomeEvidence,
        ]),
    ...(grade.grade === 'done_candidate'
      ? []
      : [{ kind: 'status', speaks: 'against', text: `${grade.grade}: ${grade.because}` } satisfies OutcomeEvidence]),
  ];
}

function runEvidence({ shown, criteria, testRuns, record }: Weighed): OutcomeEvidence[] {
  const others = shown.runs.filter(
    (run) =>
      run.test === undefined && run.startedSeq > shown.settledAfterSeq && !criteria.some((each) => each.run === run),
  );
  return [
    ...criteria.flatMap((each): OutcomeEvidence[] =>
      each.run === undefined
        ? []
        : [
            {
              kind: 'exit_code',
              speaks: holds(each) ? 'for' : isContradicted(each) ? 'against' : 'neither',
              text: `"${each.criterion.text}": exited with ${each.run.ending.exitCode}`,
              seq: each.run.ending.seq,
            },
          ],
    ),
    ...shown.failedTests.map((failure) => against(failure, 'exit_code')),
    ...shown.unknown.map((failure) => against(failure, 'tool_result')),
    ...testRuns.map((run): OutcomeEvidence => ({
      kind: 'exit_code',
      speaks: 'for',
      text: `${run.line} exited with 0 after the last change`,
      seq: run.ending.seq,
    })),
    ...stale(shown, testRuns, record),
    ...others.map((run): OutcomeEvidence => ({
      kind: 'exit_code',
      speaks: 'neither',
      text: `${run.line} exited with ${run.ending.exitCode}`,
      seq: run.ending.seq,
    })),
  ];
}

function changeEvidence({ shown }: Weighed): OutcomeEvidence[] {
  return [
    ...shown.failed.map((failure) => against(failure, 'tool_result')),
    ...shown.changes.toReversed().map((change): OutcomeEvidence => ({
      kind: change.kind === 'hidden' ? 'tool_result' : 'file',
      speaks: 'neither',
      text: change.text,
      seq: change.fromSeq,
    })),
  ];
}

/** Test runs that do not speak, and why. */
function stale(
  { runs, settledAfterSeq }: WorkShown,
  speaking: readonly PlainRun[],
  { copiedThroughSeq }: WorkRecord,
): OutcomeEvidence[] {
  return runs
    .filter((run) => run.test !== undefined && run.ending.exitCode === 0 && !speaking.includes(run))
    .map((run): OutcomeEvidence => {
      const because =
        run.startedSeq <= copiedThroughSeq
          ? 'in the session that this one was forked from'
          : run.startedSeq <= settledAfterSeq
            ? 'before the last change'
            : run.test?.isWhole === true
              ? 'and its output says that there was nothing to test'
              : 'but may not be all of the tests';
      return {
        kind: 'exit_code',
        speaks: 'neither',
        text: `${run.line} exited with 0, ${because}`,
        seq: run.ending.seq,
      };
    });
}

function against({ text, seq }: OpenFailure, kind: OutcomeEvidence['kind']): OutcomeEvidence {
  return { kind, speaks: 'against', text, seq };
}

function checkSpeaks({ ended }: CheckEnding): OutcomeEvidence['speaks'] {
  if (ended.kind === 'not_run') return 'neither';
  return ended.exitCode === 0 ? 'for' : 'against';
}

function changesOf({ changes }: WorkShown, kind: WorkChange['kind']): readonly WorkChange[] {
  return changes.filter((change) => change.kind === kind);
}

function first(texts: readonly string[]): string | undefined {
  return texts[0];
}

function sentence(text: string): string {
  const whole = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return beginningOf(/[.!?]$/.test(whole) ? whole : `${whole}.`, MAX_SUMMARY_CHARACTERS);
}
