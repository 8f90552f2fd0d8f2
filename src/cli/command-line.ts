/**
 * Runs one command line from its arguments to its exit code. Nothing it does ends in a stack trace, unless
 * WAKECHART_DEBUG=1 asks for it.
 */
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { chosenConfig, storeOfConfig } from './open/chosen-config.ts';
import { FILES, chosenStore } from './open/chosen-store.ts';
import type { CommandContext } from './context.ts';
import {
  EXIT_FAILURE,
  EXIT_SUCCESS,
  EXIT_USAGE,
  exitCodeOf,
  failureText,
  hintText,
  isEndOfInterrupted,
} from './failure.ts';
import { chosenHome } from './home.ts';
import { Interruption } from './interruption.ts';
import { Output } from './terminal/output.ts';
import { adviceFor } from './command-words.ts';
import { createProgram } from './program.ts';

/** @param words what was typed after the name of the program */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  const out = new Output(process.stdout, process.env);
  const err = new Output(process.stderr, process.env);
  const interruption = new Interruption(() => void err.push(`${err.styles.yellow('note:')} killing what still runs\n`));
  const fail = (error: unknown): void => void err.push(failureText(error, err));
  // A defect somewhere below must not check worse than it is.
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => {
      fail(error);
      process.exit(EXIT_FAILURE);
    });
  }
  const settled = await settle(words, { out, err, interruption });
  if ('error' in settled && !(interruption.signal.aborted && isEndOfInterrupted(settled.error))) fail(settled.error);
  try {
    await err.flush();
    await out.flush();
  } catch (error) {
    fail(error);
    return EXIT_FAILURE;
  }
  return interruption.exitCode ?? settled.code;
}

type Settled = { readonly code: number } | { readonly code: number; readonly error: unknown };

async function settle(
  words: readonly string[],
  streams: Pick<CommandContext, 'out' | 'err' | 'interruption'>,
): Promise<Settled> {
  let code = EXIT_SUCCESS;
  const program = createProgram(async (command, work) => {
    code = await work(await contextOf(command, streams));
  });
  speakThrough(program, streams);
  try {
    await program.parseAsync(words, { from: 'user' });
    return { code };
  } catch (error) {
    // It has been told already, or was no error at all: help, the version.
    if (error instanceof CommanderError) return { code: error.exitCode === EXIT_SUCCESS ? EXIT_SUCCESS : EXIT_USAGE };
    return { code: exitCodeOf(error), error };
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
const WITHOUT_CONFIG: ReadonlySet<string> = new Set(['audit', 'demo', 'explain', 'task', 'validate', 'vault']);

function needsConfig(command: Command): boolean {
  return command.parent === null || (!WITHOUT_CONFIG.has(command.name()) && needsConfig(command.parent));
}

/** Lets a command and all below it write where we write, and ends every complaint with what to do. */
function speakThrough(command: Command, { out, err }: Pick<CommandContext, 'out' | 'err'>): void {
  command.configureOutput({
    writeOut: (text) => void out.push(text),
    writeErr: (text) => void err.push(text),
    getOutHelpWidth: () => helpWidth(out),
    getErrHelpWidth: () => helpWidth(err),
    outputError: (text, write) => write(text.replace(/^error:/, err.styles.red('error:'))),
  });
  command.showHelpAfterError(hintText(`${adviceFor(command)}See: ${pathOf(command)} --help`, err.styles).join('\n'));
  for (const child of command.commands) speakThrough(child, { out, err });
}

const HELP_WIDTH = 100;

function helpWidth({ columns }: Output): number {
  return Math.min(columns, HELP_WIDTH);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
