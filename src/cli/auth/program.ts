/** The words of `wakechart auth`: its commands with their arguments, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import type { AddOptions, ResetOptions, StatusOptions } from './auth.ts';
import { nonEmpty } from '../usage.ts';

export function addAuthCommands(program: Command, run: RunWork): void {
  const auth = program
    .command('auth')
    .description('accounts with providers, and how candidates stand: add, list, remove, status, reset');
  const load = (): Promise<typeof import('./auth.ts')> => import('./auth.ts');
  addAdd(auth, run);
  const list = auth.command('list').description('list the accounts and where their secrets are; no values');
  withExamples(list, 'wakechart auth list', 'wakechart auth list --provider anthropic')
    .option('--provider <name>', 'only those of this provider', nonEmpty)
    .action(({ provider }: { readonly provider?: string }) =>
      run(list, async (context) => (await load()).listProfiles(context, provider)),
    );
  const remove = auth.command('remove').description('remove an account; its secret stays where it is');
  withExamples(remove, 'wakechart auth remove work')
    .argument('<name>', 'the account')
    .action((name: string) => run(remove, async (context) => (await load()).removeProfile(context, name)));
  const status = auth
    .command('status')
    .description('say which candidates cool down or are disabled, until when and why');
  withExamples(status, 'wakechart auth status', 'wakechart auth status work --check')
    .argument('[name]', 'only this account')
    .option('--check', 'read the secret of each account, to see whether it is there; values are not shown')
    .action((name: string | undefined, options: Omit<StatusOptions, 'name'>) =>
      run(status, async (context) => (await load()).showStatus(context, { ...options, name })),
    );
  const reset = auth
    .command('reset')
    .description('forget what is held against candidates, once you have put things right');
  withExamples(
    reset,
    'wakechart auth reset work',
    'wakechart auth reset --provider ollama',
    'wakechart auth reset --all',
  )
    .argument('[name]', 'the account')
    .option('--provider <name>', 'all of this provider, those without an account too', nonEmpty)
    .option('--all', 'all candidates')
    .action((name: string | undefined, options: Omit<ResetOptions, 'name'>) =>
      run(reset, async (context) => (await load()).resetHealth(context, { ...options, name })),
    );
}

function addAdd(auth: Command, run: RunWork): void {
  const add = auth.command('add').description('add an account: where its secret is, never the secret itself');
  withExamples(
    add,
    'wakechart auth add work --provider anthropic --env WORK_ANTHROPIC_KEY',
    'wakechart auth add home --provider openai --command -- pass show openai/home',
    'wakechart auth add team --provider claude-code --set "CLAUDE_CONFIG_DIR=$HOME/.claude-team"',
  )
    .argument('<name>', 'what you call it: lower-case letters, digits, ".", "_" and "-"')
    .argument('[words...]', 'after --: the program that prints the secret, and its arguments')
    .requiredOption('--provider <name>', 'the provider, as agents name it', nonEmpty)
    .option('--env <variable>', 'the secret is in this variable of the environment')
    .option('--command', 'the secret is what the command after -- prints; it is run directly, not by a shell')
    .option(
      '--set <name=value>',
      'for programs: a variable that tells them which account it is; no secrets; may be given several times',
      together,
    )
    .action((name: string, words: readonly string[], options: Omit<AddOptions, 'name' | 'words'>) =>
      run(add, async (context) => (await import('./auth.ts')).addProfile(context, { ...options, name, words })),
    );
}

/** An option that may be given several times. */
function together(given: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), given];
}
