/** The words of `wakechart serve`: its protocols, their options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';

export function addServeCommands(program: Command, run: RunWork): void {
  const serve = program.command('serve').description('serve sessions to programs that speak other protocols: mcp');
  addMcp(serve, run);
}

function addMcp(serve: Command, run: RunWork): void {
  const mcp = serve
    .command('mcp')
    .description('an MCP server on standard input and output: tools that start, watch, answer and stop sessions');
  withExamples(mcp, 'wakechart serve mcp', 'wakechart serve mcp --no-worker', 'wakechart serve mcp --allow-commands')
    .option('--no-worker', 'wake no sessions: another process does, such as "wakechart worker"')
    .option(
      '--allow-answers',
      'let calls of tools allow what sessions ask permission for: the model of the client then decides, and no person',
    )
    .option('--allow-commands', 'let calls of tools run commands on this machine, with your rights')
    .action((words: { readonly worker: boolean; readonly allowAnswers?: boolean; readonly allowCommands?: boolean }) =>
      run(mcp, async (context) =>
        (await import('./mcp.ts')).serveMcpCommand(context, {
          worker: words.worker,
          allowAnswers: words.allowAnswers === true,
          allowCommands: words.allowCommands === true,
        }),
      ),
    );
}
