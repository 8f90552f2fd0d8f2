/** `wakechart outcome define | grade | evaluate | history`. */
import { readHistory } from '../../actors/outcome/outcome-history.ts';
import type { OutcomeReport } from '../../actors/outcome/evaluation.ts';
import type { OutcomeEvaluator } from '../../actors/outcome/outcome-evaluator.ts';
import { promotionProblem } from '../../actors/outcome/promotion-gate.ts';
import { readWork } from '../../actors/outcome/read-work.ts';
import type { EventReader } from '../../actors/outcome/read-work.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { checkHistoryLimit } from '../../machines/outcome/outcome-definitions.ts';
import { gradeOf } from '../../machines/outcome/outcome-grade.ts';
import type { OutcomeVerdict } from '../../machines/session/improvement-events.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import type { Output } from '../terminal/output.ts';
import { withRuntime } from '../open/runtime.ts';
import { withSessions } from '../open/stores.ts';
import { toldWhile } from '../terminal/progress.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { counted, localTime, printable } from '../terminal/text.ts';
import { checkedSessionId } from '../session/session.ts';

export interface OutcomeDefineOptions {
  readonly session: string;
  readonly title: string;
  readonly detail: string | undefined;
  readonly criterion: readonly string[];
  readonly check: string | undefined;
  readonly checkSeconds: number | undefined;
}

export async function defineOutcome(
  context: CommandContext,
  { session, title, detail, criterion, check, checkSeconds }: OutcomeDefineOptions,
): Promise<number> {
  const { out, json } = context;
  const id = checkedSessionId(session);
  if (check === undefined && checkSeconds !== undefined)
    throw new RuntimeError('USAGE', 'expected --check with --check-seconds', {
      category: 'validation',
      hint: 'Say which command is to be run: --check "npm test".',
    });
  const receipt = await withSessions(context, ({ sessions }) =>
    sessions.send(id, {
      type: 'user.define_outcome',
      title,
      ...(detail === undefined ? {} : { detail }),
      ...(criterion.length === 0 ? {} : { criteria: [...criterion] }),
      ...(check === undefined
        ? {}
        : { check: { command: check, ...(checkSeconds === undefined ? {} : { timeoutSeconds: checkSeconds }) } }),
    }),
  );
  if (json) await out.document(receipt);
  else {
    await out.line(`${out.styles.green('Stored')} as event ${receipt.seq}.`);
    await out.line(
      `When the session has worked on it: ${nextCommand(context, 'outcome', 'evaluate', '--session', id)}`,
    );
  }
  return EXIT_SUCCESS;
}

export async function gradeOutcome(context: CommandContext, session: string): Promise<number> {
  const { out, json } = context;
  const id = checkedSessionId(session);
  const { state, grade } = await withSessions(context, async ({ sessions }) => {
    const now = await sessions.status(id);
    return { state: now, grade: gradeOf({ state: now, record: await readWork(readerOf(sessions), now) }) };
  });
  const problem = promotionProblem(state);
  const { outcome, evaluation } = state;
  if (json) {
    await out.document({
      sessionId: id,
      ...grade,
      ...(outcome === undefined ? {} : { outcome }),
      ...(evaluation === undefined ? {} : { evaluation }),
      mayPromote: problem === undefined,
      ...(problem === undefined ? {} : { promotionProblem: problem }),
    });
    return EXIT_SUCCESS;
  }
  const fields: [string, string | undefined][] = [
    ['grade', `${grade.grade}  ${printable(grade.because)}`],
    [
      'outcome',
      outcome === undefined
        ? undefined
        : `${printable(outcome.title)} (set by ${outcome.by === 'person' ? 'a person' : 'the agent'})`,
    ],
    ['check', outcome?.check === undefined ? undefined : printable(outcome.check.command)],
    [
      'evaluated',
      evaluation === undefined
        ? undefined
        : `${verdictText(evaluation.verdict, out)}  ${printable(evaluation.because)}`,
    ],
    ['promotion', problem === undefined ? 'allowed until something is changed' : `refused: ${printable(problem)}`],
  ];
  for (const line of fieldLines(fields, out)) await out.line(line);
  return EXIT_SUCCESS;
}

/** A runtime that evaluates. */
interface Evaluates {
  readonly outcomes: Pick<OutcomeEvaluator, 'evaluate'>;
}

export async function evaluateOutcome(context: CommandContext, session: string): Promise<number> {
  const { out, json } = context;
  // Before anything is made or started for it.
  const { sessionId, outcome } = await withSessions(context, ({ sessions }) =>
    sessions.status(checkedSessionId(session)),
  );
  const report = await withRuntime(context, (runtime) =>
    toldWhile(context, 'evaluating what the session has done', () =>
      evaluatorOf(runtime).evaluate(sessionId, { signal: context.interruption.signal }),
    ),
  );
  if (json) await out.document({ sessionId, ...report });
  else await tellReport(context, report, { sessionId, outcome });
  return report.verdict === 'pass' ? EXIT_SUCCESS : EXIT_FAILURE;
}

function evaluatorOf(runtime: object): Evaluates['outcomes'] {
  if ('outcomes' in runtime) return (runtime as Evaluates).outcomes;
  throw new RuntimeError('OUTCOMES_UNSUPPORTED', 'expected a runtime that evaluates outcomes', {
    category: 'crash',
    hint: 'This is a defect of Wakechart.',
  });
}

async function tellReport(
  context: CommandContext,
  { verdict, because, evidence, throughSeq }: OutcomeReport,
  { sessionId, outcome }: Pick<SessionState, 'sessionId' | 'outcome'>,
): Promise<void> {
  const { out } = context;
  await out.line(`${verdictText(verdict, out)}  ${printable(because)}`);
  for (const { speaks, text, seq } of evidence)
    await out.line(
      `  ${SIGNS[speaks]} ${printable(text)}${seq === undefined ? '' : out.styles.dim(` (event ${seq})`)}`,
    );
  if (outcome === undefined)
    await out.line(
      `Say what it is to achieve: ${nextCommand(context, 'outcome', 'define', '--session', sessionId, '--title', 'TEXT')}`,
    );
  else await out.line(out.styles.dim(`Checked everything up to event ${throughSeq}.`));
}

const SIGNS = { for: '+', against: '-', neither: '·' } as const;

export async function showOutcomeHistory(
  context: CommandContext,
  { session, limit }: { readonly session: string; readonly limit: number | undefined },
): Promise<number> {
  const { out, json } = context;
  const id = checkedSessionId(session);
  const history = await withSessions(context, async ({ sessions }) =>
    readHistory(readerOf(sessions), await sessions.status(id), checkHistoryLimit(limit)),
  );
  if (json) {
    await out.document({ sessionId: id, ...history });
    return EXIT_SUCCESS;
  }
  const { entries, trend, fromSeq } = history;
  if (entries.length === 0) {
    await out.line(
      `Not evaluated yet${fromSeq > 1 ? ` since event ${fromSeq}` : ''}. Evaluate it: ${nextCommand(context, 'outcome', 'evaluate', '--session', id)}`,
    );
    return EXIT_SUCCESS;
  }
  const rows = entries.map(({ seq, at, verdict, because, isOfEarlierOutcome }) => [
    String(seq),
    localTime(at),
    verdict,
    `${isOfEarlierOutcome === true ? '(an earlier outcome) ' : ''}${because}`,
  ]);
  for (const line of tableLines(['EVENT', 'AT', 'VERDICT', 'BECAUSE'], rows, out)) await out.line(line);
  await out.line(`${counted(entries.length, 'evaluation')}, trend: ${trend}.`);
  return EXIT_SUCCESS;
}

function verdictText(verdict: OutcomeVerdict, { styles }: Output): string {
  return verdict === 'pass' ? styles.green(verdict) : verdict === 'fail' ? styles.red(verdict) : styles.yellow(verdict);
}

function readerOf(sessions: Sessions): EventReader {
  return {
    async read(sessionId, { from = 1, limit } = {}) {
      const events: SessionEvent[] = [];
      for await (const event of sessions.events(sessionId, { from, ...(limit === undefined ? {} : { limit }) }))
        events.push(event);
      return events;
    },
  };
}
