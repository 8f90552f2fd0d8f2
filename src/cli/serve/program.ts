/** The words of `wakechart serve`: its protocols, their options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

export function addServeCommands(program: Command, run: RunWork): void {
  const serve = program.command('serve').description('serve sessions to programs that speak other protocols: mcp, acp');
  addMcp(serve, run);
  addAcp(serve, run);
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

function addAcp(serve: Command, run: RunWork): void {
  const acp = serve
    .command('acp')
    .description('an agent of the Agent Client Protocol on standard input and output, for Zed and other editors');
  withExamples(acp, 'wakechart serve acp --agent helper', 'wakechart serve acp --agent helper --no-worker')
    .option('--agent <name>', 'the agent of new sessions (default: the only one that there is)', nonEmpty)
    .option('--no-worker', 'wake no sessions: another process does, such as "wakechart worker"')
    .action((words: { readonly worker: boolean; readonly agent?: string }) =>
      run(acp, async (context) => (await import('./acp.ts')).serveAcpCommand(context, words)),
    );
}
