/** The words of `wakechart explain`. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

export function addExplainCommand(program: Command, run: RunWork): void {
  const explain = program
    .command('explain')
    .description('say what an error is about: its category, what it says and what to do, from its page in docs/errors');
  withExamples(explain, 'wakechart explain SESSION_NOT_FOUND')
    .argument('<code>', 'the code of the error, as it stands in brackets after its message')
    .action((code: string) =>
      run(explain, async (context) => (await import('./explain.ts')).explainError(context, nonEmpty(code))),
    );
}
