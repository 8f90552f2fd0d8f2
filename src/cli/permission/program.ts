/** The words of `wakechart permission`: its commands with their arguments, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

export function addPermissionCommands(program: Command, run: RunWork): void {
  const permission = program
    .command('permission')
    .description('what agents may do without asking: list, revoke, check');
  const load = (): Promise<typeof import('./permission.ts')> => import('./permission.ts');
  const list = permission.command('list').description('list the rules that are kept, and where they come from');
  withExamples(list, 'wakechart permission list', 'wakechart permission list --agent reviewer')
    .option('--agent <name>', 'only those of this agent', nonEmpty)
    .action(({ agent }: { readonly agent?: string }) =>
      run(list, async (context) => (await load()).listPermissions(context, agent)),
    );
  const revoke = permission.command('revoke').description('take back what was allowed for always');
  withExamples(revoke, 'wakechart permission revoke --agent reviewer --rule "shell_run(npm test)"')
    .requiredOption('--agent <name>', 'the agent', nonEmpty)
    .requiredOption('--rule <rule>', 'the rule, as `permission list` shows it', nonEmpty)
    .action((options: { readonly agent: string; readonly rule: string }) =>
      run(revoke, async (context) => (await load()).revokePermission(context, options)),
    );
  const check = permission
    .command('check')
    .description('say whether a command would be allowed, asked about or denied, and why; nothing is run');
  withExamples(
    check,
    'wakechart permission check --agent reviewer -- git push',
    "wakechart permission check --agent reviewer -- 'git status && rm -r build'",
  )
    .argument('<command...>', 'after --: a program and its arguments, or one word with a line for the shell')
    .requiredOption('--agent <name>', 'the agent', nonEmpty)
    .option('--session <id>', 'with what was allowed in this session', nonEmpty)
    .action((words: readonly string[], { agent, session }: { readonly agent: string; readonly session?: string }) =>
      run(check, async (context) => (await load()).checkPermission(context, { agent, session, words })),
    );
}
