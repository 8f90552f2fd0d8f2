/** The words of `wakechart init`: its argument, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

export function addInitCommand(program: Command, run: RunWork): void {
  const init = program
    .command('init')
    .description('make a home with a first agent, and say what comes next; what is there stays as it is');
  withExamples(
    init,
    'wakechart init',
    'wakechart init coder --provider claude-code',
    'wakechart init --provider anthropic --model claude-sonnet-4-5',
  )
    .argument('[name]', 'the agent: lower-case letters, digits, "-" and "_"', 'helper')
    .option('--provider <name>', 'whose model it works with; at a terminal it is asked for', nonEmpty)
    .option('--model <name>', 'which model; claude-code and codex choose one themselves', nonEmpty)
    .action((name: string, { provider, model }: { readonly provider?: string; readonly model?: string }) =>
      run(init, async (context) => (await import('./init.ts')).initHome(context, { name, provider, model })),
    );
}
