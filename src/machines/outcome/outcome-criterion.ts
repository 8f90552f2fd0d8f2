/** Criteria that an exit code can answer, in exactly this form: `<command> exits with <n>`. */
import { isSpelledOut } from '../permission/shell-reading.ts';
import type { ShellReading } from '../permission/shell-reading.ts';

/** Reads a command line; what it cannot be sure of is not understood. */
export type ReadCommand = (command: string) => ShellReading;

/** `exit_code`: of one plain command. `words`: everything else, which no exit code can answer. */
export type Criterion =
  | { readonly kind: 'exit_code'; readonly text: string; readonly argv: readonly string[]; readonly exitCode: number }
  | { readonly kind: 'words'; readonly text: string };

const FORM = /^(?<command>\S.*\S|\S) exits with (?<code>\d{1,3})$/;

export function criterionOf(text: string, readCommand: ReadCommand): Criterion {
  const { command, code } = FORM.exec(text)?.groups ?? {};
  if (command === undefined || Number(code) > 255) return { kind: 'words', text };
  const argv = plainArgvOf(command, readCommand);
  return argv === undefined ? { kind: 'words', text } : { kind: 'exit_code', text, argv, exitCode: Number(code) };
}

/** The words of a line that is one plain command: only then is the exit code of the line its own. */
export function plainArgvOf(line: string, readCommand: ReadCommand): readonly string[] | undefined {
  const reading = readCommand(line);
  if (reading.kind !== 'commands' || reading.commands.length !== 1) return undefined;
  const [command] = reading.commands;
  return command !== undefined && isSpelledOut(command) ? command.argv : undefined;
}
