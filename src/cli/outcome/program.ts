/** The words of `wakechart outcome`: its commands with their arguments, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { sessionOption } from '../session/program.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

interface OfSession {
  readonly session: string;
}

interface DefineWords extends OfSession {
  readonly title: string;
  readonly detail?: string;
  readonly criterion: readonly string[];
  readonly check?: string;
  readonly checkSeconds?: number;
}

const MAX_CHECK_SECONDS = 3_600;
const MAX_ENTRIES = 100;

export function addOutcomeCommands(program: Command, run: RunWork): void {
  const outcome = program
    .command('outcome')
    .description('what sessions are to achieve: define, grade, evaluate, history');
  addDefine(outcome, run);
  addGrade(outcome, run);
  addEvaluate(outcome, run);
  addHistory(outcome, run);
}

function addDefine(outcome: Command, run: RunWork): void {
  const define = outcome.command('define').description('say what a session is to achieve; the newest counts');
  withExamples(
    define,
    'wakechart outcome define --session ID --title "The tests pass." --criterion "npm test exits with 0"',
    'wakechart outcome define --session ID --title "It builds." --check "npm run build"',
  )
    .addOption(sessionOption())
    .requiredOption('--title <text>', 'what is to be achieved', nonEmpty)
    .option('--detail <text>', 'more about it', nonEmpty)
    .option(
      '--criterion <text>',
      'how to tell that it is achieved; "COMMAND exits with N" is understood; may be given again',
      several,
      [],
    )
    .option(
      '--check <command>',
      'a command that says by exit code 0 that it is achieved, run where the session works',
      nonEmpty,
    )
    .option(
      '--check-seconds <n>',
      'how long the check may take (default: 600)',
      wholeNumber({ min: 1, max: MAX_CHECK_SECONDS }),
    )
    .action((options: DefineWords) =>
      run(define, async (context) =>
        (await loadOutcome()).defineOutcome(context, {
          ...options,
          detail: options.detail,
          check: options.check,
          checkSeconds: options.checkSeconds,
        }),
      ),
    );
}

function addGrade(outcome: Command, run: RunWork): void {
  const grade = outcome
    .command('grade')
    .description('say how far a session has come, and whether it may promote anything');
  withExamples(grade, 'wakechart outcome grade --session ID')
    .addOption(sessionOption())
    .action(({ session }: OfSession) =>
      run(grade, async (context) => (await loadOutcome()).gradeOutcome(context, session)),
    );
}

function addEvaluate(outcome: Command, run: RunWork): void {
  const evaluate = outcome
    .command('evaluate')
    .description('find out whether the outcome is reached: by the log, checks and a judge; exits with 0 when it is');
  withExamples(evaluate, 'wakechart outcome evaluate --session ID')
    .addOption(sessionOption())
    .action(({ session }: OfSession) =>
      run(evaluate, async (context) => (await loadOutcome()).evaluateOutcome(context, session)),
    );
}

function addHistory(outcome: Command, run: RunWork): void {
  const history = outcome
    .command('history')
    .description('list how the outcome was evaluated so far, and where that is going');
  withExamples(history, 'wakechart outcome history --session ID')
    .addOption(sessionOption())
    .option('--limit <n>', 'evaluations to show, the newest (default: 20)', wholeNumber({ min: 1, max: MAX_ENTRIES }))
    .action(({ session, limit }: OfSession & { readonly limit?: number }) =>
      run(history, async (context) => (await loadOutcome()).showOutcomeHistory(context, { session, limit })),
    );
}

function several(value: string, before: readonly string[]): readonly string[] {
  return [...before, nonEmpty(value)];
}

function loadOutcome(): Promise<typeof import('./outcome.ts')> {
  return import('./outcome.ts');
}
