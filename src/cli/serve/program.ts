/** The words of `wakechart serve`: its protocols, their options, help and examples. */
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';
import { BASE_PATH } from '../../adapters/http-handler/base-path.ts';
import { listenAddress } from '../worker/listening.ts';
import type { ListenAddress } from '../worker/listening.ts';

interface HttpWords {
  readonly listen?: ListenAddress;
  readonly basePath?: string;
  readonly tokenFile?: string;
}

export function addServeCommands(program: Command, run: RunWork): void {
  const serve = program
    .command('serve')
    .description('let other programs use the sessions of the home: http, mcp, acp, a2a');
  addHttp(serve, run);
  addMcp(serve, run);
  addAcp(serve, run);
  addA2a(serve, run);
}

function addHttp(serve: Command, run: RunWork): void {
  const http = serve
    .command('http')
    .description(
      'sessions as JSON and server-sent events over HTTP, for clients that have the token, with /metrics for scrapers that have it, and /healthz and /readyz for all; a worker wakes them',
    );
  withExamples(http, 'wakechart serve http --token-file token', 'wakechart serve http --listen 8080 --token-file token')
    .option(
      '--token-file <file>',
      'a file for you alone (mode 600) whose first line is the token that clients, and scrapers of /metrics, send as "Authorization: Bearer …" (default: $WAKECHART_HTTP_TOKEN)',
      nonEmpty,
    )
    .option(
      '--listen <address>',
      'PORT, or ADDRESS:PORT; other machines reach 0.0.0.0 (default: a free port of 127.0.0.1)',
      listenAddress,
    )
    .option('--base-path <path>', 'what stands before every path, such as /agent', basePath)
    .action(({ tokenFile, listen = { host: '127.0.0.1', port: 0 }, basePath: path }: HttpWords) =>
      run(http, async (context) =>
        (await import('./http.ts')).serveHttp(context, { tokenFile, listen, basePath: path }),
      ),
    );
}

/** Reads the value of an option as a path under which a server answers. */
function basePath(value: string): string {
  if (value !== '' && BASE_PATH.test(value)) return value;
  throw new InvalidArgumentError('Expected a path that begins with "/" and does not end with it, such as /agent.');
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

function addA2a(serve: Command, run: RunWork): void {
  const a2a = serve
    .command('a2a')
    .description(
      'an agent for other agents over A2A, on this machine, with a token that is told or in WAKECHART_A2A_TOKEN',
    );
  withExamples(a2a, 'wakechart serve a2a --agent helper', 'wakechart serve a2a --agent helper --port 41241')
    .requiredOption('--agent <name>', 'the agent that is served', nonEmpty)
    .option('--port <n>', 'the port on 127.0.0.1 (default: a free one)', wholeNumber({ min: 0, max: 65_535 }))
    .option('--allow-answers', 'let messages allow what sessions ask permission for: the other agent then decides')
    .option('--no-worker', 'wake no sessions: another process does, such as "wakechart worker"')
    .action(
      (words: {
        readonly worker: boolean;
        readonly agent: string;
        readonly port?: number;
        readonly allowAnswers?: boolean;
      }) =>
        run(a2a, async (context) =>
          (await import('./a2a.ts')).serveA2aCommand(context, {
            worker: words.worker,
            agent: words.agent,
            port: words.port ?? 0,
            allowAnswers: words.allowAnswers === true,
          }),
        ),
    );
}
