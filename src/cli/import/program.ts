/** The words of `wakechart import` and `wakechart tools`: arguments, options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import type { SourceRuntime } from '../../machines/import/source-fact.ts';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

interface ImportWords {
  readonly from: SourceRuntime;
  readonly agent?: string;
  readonly dryRun?: boolean;
}

export function addImportCommand(program: Command, run: RunWork): void {
  const importing = program
    .command('import')
    .description("bring sessions over from other runtimes' logs; what they hold is not changed");
  withExamples(
    importing,
    'wakechart import --from openboa .openboa --dry-run',
    'wakechart import --from rowboat ~/.rowboat/runs/RUN.jsonl --agent helper',
  )
    .argument('<path>', 'the home of the other runtime, an agent, a session or one log of it')
    .addOption(
      new Option('--from <runtime>', 'whose logs they are').choices(['openboa', 'rowboat']).makeOptionMandatory(),
    )
    .option('--agent <name>', 'whose sessions they become (default: the agent of the same name)', nonEmpty)
    .option('--dry-run', 'say what would be imported, and make nothing')
    .action((path: string, { from, agent, dryRun }: ImportWords) =>
      run(importing, async (context) =>
        (await import('./import.ts')).importLogs(context, {
          path: nonEmpty(path),
          from,
          agent,
          dryRun: dryRun === true,
        }),
      ),
    );
}

export function addToolsCommand(program: Command, run: RunWork): void {
  const tools = program
    .command('tools')
    .description('list the tools that come with Wakechart, or those of an agent, with what is skipped and why');
  withExamples(tools, 'wakechart tools', 'wakechart tools --agent reviewer')
    .option('--agent <name>', 'the tools that this agent gets', nonEmpty)
    .action(({ agent }: { readonly agent?: string }) =>
      run(tools, async (context) => (await import('./tools.ts')).listTools(context, { agent })),
    );
}
