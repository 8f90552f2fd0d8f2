/** The words of `wakechart explain`. */
import type { Command } from 'commander';
import type { RunWork } from '../program.ts';
import { nonEmpty } from '../usage.ts';

export interface ExplainProgram {
  readonly run: RunWork;
  readonly withExamples: (command: Command, ...lines: readonly string[]) => Command;
}

export function addExplainCommand(program: Command, { run, withExamples }: ExplainProgram): void {
  const explain = program
    .command('explain')
    .description('say what an error is about: its category, what it says and what to do, from docs/errors.md');
  withExamples(explain, 'wakechart explain SESSION_NOT_FOUND')
    .argument('<code>', 'the code of the error, as it stands in brackets after its message')
    .action((code: string) =>
      run(explain, async (context) => (await import('./explain.ts')).explainError(context, nonEmpty(code))),
    );
}
