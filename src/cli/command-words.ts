/** What every command is made with: the runner of its work, and the examples and advice that its help shows. */
import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { asTyped } from './invocation.ts';

/** Runs a command's work and answers with its exit code. */
export type RunWork = (command: Command, work: (context: CommandContext) => Promise<number>) => Promise<void>;

const examples = new WeakMap<Command, readonly string[]>();

const advice = new WeakMap<Command, string>();

/** Shows in the help of a command what to try. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  examples.set(command, lines);
  const heading = `Example${lines.length === 1 ? '' : 's'}:`;
  return command.addHelpText('after', () => ['', heading, ...lines.map((line) => `  $ ${asTyped(line)}`)].join('\n'));
}

/** The commands to try that the help of a command shows. */
export function examplesOf(command: Command): readonly string[] {
  return examples.get(command) ?? [];
}

/** Says what to do about the mistake that is easiest to make with a command. */
export function advise(command: Command, text: string): void {
  advice.set(command, text);
}

/** What to do about the mistake that is easiest to make with a command; empty when there is none. */
export function adviceFor(command: Command): string {
  return advice.get(command) ?? '';
}
