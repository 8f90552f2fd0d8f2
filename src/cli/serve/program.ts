/** The words of `wakechart serve`: options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { addressPort } from '../inspect/words.ts';
import { nonEmpty } from '../usage.ts';

interface HttpWords {
  readonly port?: number;
  readonly host: string;
  readonly basePath?: string;
  readonly tokenFile: string;
}

export function addServeCommands(program: Command, run: RunWork): void {
  const serve = program.command('serve').description('let other programs use the sessions of the home: http');
  const http = serve
    .command('http')
    .description(
      'sessions as JSON and server-sent events over HTTP, for clients that have the token; a worker wakes them',
    );
  withExamples(http, 'wakechart serve http --token-file token', 'wakechart serve http --token-file token --port 8080')
    .addOption(
      new Option(
        '--token-file <file>',
        'a file for you alone (mode 600) whose first line is the token that clients send as "Authorization: Bearer …"',
      )
        .argParser(nonEmpty)
        .makeOptionMandatory(),
    )
    .option('--port <n>', 'the port (default: a free one)', addressPort)
    .option('--host <address>', 'the address to listen on; other machines reach 0.0.0.0', nonEmpty, '127.0.0.1')
    .option('--base-path <path>', 'what stands before every path, such as /agent', nonEmpty)
    .action(({ tokenFile, port, host, basePath }: HttpWords) =>
      run(http, async (context) =>
        (await import('./http.ts')).serveHttp(context, { tokenFile, port: port ?? 0, host, basePath }),
      ),
    );
}
