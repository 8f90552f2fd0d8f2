/**
 * Runs one command line from its arguments to its exit code. Nothing it does ends in a stack trace, unless
 * WAKECHART_DEBUG=1 asks for it.
 */
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { chosenConfig, storeOfConfig } from './open/chosen-config.ts';
import { FILES, chosenStore } from './open/chosen-store.ts';
import { typedProgram } from './context.ts';
import type { CommandContext } from './context.ts';
import { withSuggestion } from './did-you-mean.ts';
import {
  EXIT_FAILURE,
  EXIT_SUCCESS,
  EXIT_USAGE,
  exitCodeOf,
  failureText,
  hintText,
  isEndOfInterrupted,
} from './failure.ts';
import { asTyped, invocation } from './invocation.ts';
import { shellQuoted } from './terminal/text.ts';
import { chosenHome } from './home.ts';
import { completeIds } from './open/short-ids.ts';
import { Interruption } from './interruption.ts';
import { Output } from './terminal/output.ts';
import { adviceFor } from './command-words.ts';
import { createProgram } from './program.ts';

/** @param words what was typed after the name of the program */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  const out = new Output(process.stdout, process.env);
  const err = new Output(process.stderr, process.env);
  const interruption = new Interruption(() => void err.push(`${err.styles.yellow('note:')} killing what still runs\n`));
  const fail = (error: unknown, typed?: readonly string[]): void => void err.push(failureText(error, err, typed));
  // A defect somewhere below must not check worse than it is.
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => {
      fail(error);
      process.exit(EXIT_FAILURE);
    });
  }
  const settled = await settle(words, { out, err, interruption });
  if ('error' in settled && !(interruption.signal.aborted && isEndOfInterrupted(settled.error)))
    fail(settled.error, settled.typed);
  try {
    await err.flush();
    await out.flush();
  } catch (error) {
    fail(error);
    return EXIT_FAILURE;
  }
  return interruption.exitCode ?? settled.code;
}

type Settled =
  | { readonly code: number }
  | { readonly code: number; readonly error: unknown; readonly typed: readonly string[] };

async function settle(
  words: readonly string[],
  streams: Pick<CommandContext, 'out' | 'err' | 'interruption'>,
): Promise<Settled> {
  let code = EXIT_SUCCESS;
  let run: CommandContext | undefined;
  const program = createProgram(async (command, work) => {
    run = await contextOf(command, streams);
    code = await work(run);
  });
  program.hook('preAction', (_program, command) => completeIds(command, () => contextOf(command, streams)));
  speakThrough(program, streams, words);
  try {
    await program.parseAsync(words, { from: 'user' });
    return { code };
  } catch (error) {
    // It has been told already, or was no error at all: help, the version.
    if (error instanceof CommanderError) return { code: error.exitCode === EXIT_SUCCESS ? EXIT_SUCCESS : EXIT_USAGE };
    const typed = run === undefined ? invocation() : typedProgram(run);
    return { code: exitCodeOf(error), error, typed };
  }
}

async function contextOf(
  command: Command,
  streams: Pick<CommandContext, 'out' | 'err' | 'interruption'>,
): Promise<CommandContext> {
  const {
    home: given,
    store,
    storeFile: file,
    config: code,
    json = false,
  } = command.optsWithGlobals<{
    readonly home?: string;
    readonly store?: string;
    readonly storeFile?: string;
    readonly config?: string;
    readonly json?: boolean;
  }>();
  const { env } = process;
  const config = needsConfig(command) ? await chosenConfig({ given: code, environment: env }) : undefined;
  const isStoreSaid = [store, file, env['WAKECHART_STORE'], env['WAKECHART_STORE_FILE']].some(Boolean);
  return {
    ...streams,
    json,
    home: chosenHome({ given, environment: env }),
    isHomeGiven: given !== undefined,
    isFilesGiven: store === FILES,
    config,
    store:
      isStoreSaid || config === undefined
        ? await chosenStore({ given: store, file, environment: env })
        : storeOfConfig(config),
  };
}

/** Commands that work with no agent and no session: code of the folder must not run for them. */
const WITHOUT_CONFIG: ReadonlySet<string> = new Set([
  'completion',
  'audit',
  'demo',
  'explain',
  'task',
  'validate',
  'vault',
]);

function needsConfig(command: Command): boolean {
  return command.parent === null || (!WITHOUT_CONFIG.has(command.name()) && needsConfig(command.parent));
}

/** Lets a command and all below it write where we write, and ends every complaint with what to do. */
function speakThrough(
  command: Command,
  { out, err }: Pick<CommandContext, 'out' | 'err'>,
  words: readonly string[],
): void {
  command.configureOutput({
    writeOut: (text) => void out.push(text),
    writeErr: (text) => void err.push(text),
    getOutHelpWidth: () => helpWidth(out),
    getErrHelpWidth: () => helpWidth(err),
    outputError: (text, write) =>
      write(withSuggestion(text, command, words).replace(/^error:/, err.styles.red('error:'))),
  });
  const help = shellQuoted([...invocation(), ...pathOf(command), '--help']);
  command.showHelpAfterError(hintText(`${asTyped(adviceFor(command))}See: ${help}`, err.styles).join('\n'));
  for (const child of command.commands) speakThrough(child, { out, err }, words);
}

const HELP_WIDTH = 100;

function helpWidth({ columns }: Output): number {
  return Math.min(columns, HELP_WIDTH);
}

/** Without the name of the program. */
function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}
