/** The words of `wakechart vault`: its commands with their arguments, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

export function addVaultCommands(program: Command, run: RunWork): void {
  const vault = program
    .command('vault')
    .description(
      'the secrets that agents may use without seeing them: list, check; they are written as vaults/NAME.yaml in the home',
    );
  const load = (): Promise<typeof import('./vault.ts')> => import('./vault.ts');
  const list = vault
    .command('list')
    .description(
      'list the vaults and what is in them: names, where each secret is and where it may go; nothing is read',
    );
  withExamples(list, 'wakechart vault list').action(() =>
    run(list, async (context) => (await load()).listVaults(context)),
  );
  const check = vault
    .command('check')
    .description(
      'find out whether each secret can be had here and now; commands of keychains are run, no value is shown',
    );
  withExamples(check, 'wakechart vault check', 'wakechart vault check --vault github')
    .option('--vault <name>', 'only those of this vault', nonEmpty)
    .action(({ vault: name }: { readonly vault?: string }) =>
      run(check, async (context) => (await load()).checkVaults(context, name)),
    );
}
