/** The words of `wakechart completion`: its commands with their arguments, help and examples. */
import { Argument } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { SHELLS, COMPLETION_SCRIPTS } from './scripts.ts';
import type { Shell } from './scripts.ts';

export function addCompletionCommands(program: Command, run: RunWork): void {
  const completion = program.command('completion').description('completion by the Tab key: bash, zsh, fish');
  for (const shell of SHELLS) addScript(completion, shell, run);
  const words = completion
    .command('words')
    .description('what a command line can go on with, a line each; completion in a shell asks for it');
  withExamples(words, 'wakechart completion words -- session st')
    .addArgument(new Argument('[words...]', 'after --: what was typed so far; the last word may be empty'))
    .action((typed: readonly string[]) =>
      run(words, async (context) => (await import('./words.ts')).completeWords(context, program, typed)),
    );
}

const USES: Readonly<Record<Shell, string>> = {
  bash: 'wakechart completion bash >> ~/.bashrc',
  zsh: 'wakechart completion zsh >> ~/.zshrc',
  fish: 'wakechart completion fish | source',
};

function addScript(completion: Command, shell: Shell, run: RunWork): void {
  const script = completion.command(shell).description(`the completion of ${shell}, for its file of settings`);
  withExamples(script, USES[shell]).action(() =>
    run(script, async ({ out }) => {
      await out.write(COMPLETION_SCRIPTS[shell]);
      return 0;
    }),
  );
}
