/** The words of `wakechart inspect`: its argument, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { addressPort } from './words.ts';
import { nonEmpty } from '../usage.ts';

interface InspectWords {
  readonly session?: string;
  readonly port?: number;
  readonly open?: boolean;
  readonly statelyPort?: number;
  readonly statelyOrigin?: readonly string[];
  readonly record?: string;
  readonly sendTo?: string;
  readonly sendUnknownSecrets?: boolean;
}

export function addInspectCommand(program: Command, run: RunWork): void {
  const inspect = program
    .command('inspect')
    .description(
      'show the sessions of the home, or what was recorded, in a browser on this machine; nothing is run or woken',
    );
  withExamples(
    inspect,
    'wakechart inspect',
    'wakechart inspect --session ID --open',
    'wakechart inspect run.ndjson.gz',
    'wakechart inspect - < run.ndjson',
    'wakechart inspect --stately-port 8080',
  )
    .argument(
      '[file]',
      'an inspection log, plain or compressed, that --record has written; - for standard input (default: the sessions of the home)',
      nonEmpty,
    )
    .option('--session <id>', 'the session to show first', nonEmpty)
    .option('--port <n>', 'the port on 127.0.0.1 (default: a free one)', addressPort)
    .option('--open', 'open the page in the browser')
    .option(
      '--stately-port <n>',
      'show other XState programs, which connect to this port with createWebSocketInspector; 0 is a free one',
      addressPort,
    )
    .option(
      '--stately-origin <origin>',
      'with --stately-port: an origin whose pages may connect, such as http://localhost:5173; may be given several times',
      (origin: string, before: readonly string[] | undefined) => [...(before ?? []), nonEmpty(origin)],
    )
    .option(
      '--record <file>',
      'with --stately-port: write an inspection log of what those programs do, to be opened with "wakechart inspect FILE"; *.gz is compressed',
      nonEmpty,
    )
    .option(
      '--send-to <address>',
      'send what is shown to another inspector (wss://…); says first what leaves this machine',
      nonEmpty,
    )
    .option(
      '--send-unknown-secrets',
      'with --send-to: send although not every secret of the home is known here, so that some may leave',
    )
    .action((file: string | undefined, { open, statelyOrigin, sendUnknownSecrets, ...words }: InspectWords) =>
      run(inspect, async (context) =>
        (await import('./inspect.ts')).inspect(context, {
          ...words,
          file,
          opensBrowser: open === true,
          statelyOrigins: statelyOrigin ?? [],
          sendsUnknownSecrets: sendUnknownSecrets === true,
        }),
      ),
    );
}
