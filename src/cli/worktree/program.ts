/** The words of `wakechart worktree`: its commands with their arguments, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';

interface OwnerOption {
  readonly ownerGone?: boolean;
}

const OWNER_GONE = 'you know that the process that has it does not run any more, where that cannot be told from here';
const NAME = 'the worktree: its name, its job, its branch or its path';

export function addWorktreeCommands(program: Command, run: RunWork): void {
  const worktree = program
    .command('worktree')
    .description('what subagents left in worktrees of their own: list, show, adopt, remove');
  const load = (): Promise<typeof import('./worktree.ts')> => import('./worktree.ts');
  const list = worktree
    .command('list')
    .description('list the worktrees that jobs left or work in, with what is in them and how to merge it');
  withExamples(list, 'wakechart worktree list').action(() =>
    run(list, async (context) => (await load()).listWorktrees(context)),
  );
  const show = worktree
    .command('show')
    .description('examine a worktree now: all that is in it and nowhere else, and what to do next');
  withExamples(show, 'wakechart worktree show agent_3')
    .argument('<name>', NAME)
    .action((name: string) => run(show, async (context) => (await load()).showWorktree(context, name)));
  const adopt = worktree
    .command('adopt')
    .description('take a worktree over: folder and branch stay, and are no business of Wakechart any more');
  withExamples(adopt, 'wakechart worktree adopt agent_3')
    .argument('<name>', NAME)
    .option('--owner-gone', OWNER_GONE)
    .action((name: string, options: OwnerOption) =>
      run(adopt, async (context) =>
        (await load()).adoptWorktree(context, { name, ownerIsGone: options.ownerGone === true }),
      ),
    );
  const remove = worktree
    .command('remove')
    .description('remove a worktree and its branch; one that holds work is kept, and what would be lost is named');
  withExamples(remove, 'wakechart worktree remove agent_3', 'wakechart worktree remove agent_3 --discard')
    .argument('<name>', NAME)
    .option('--discard', 'remove it with the work in it, and say what was lost')
    .option('--owner-gone', OWNER_GONE)
    .action((name: string, { discard = false, ownerGone = false }: OwnerOption & { readonly discard?: boolean }) =>
      run(remove, async (context) => (await load()).removeWorktree(context, { name, discard, ownerIsGone: ownerGone })),
    );
}
