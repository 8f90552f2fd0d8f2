/** What a command line means, as far as every POSIX shell agrees about it. */

export interface ShellCommand {
  /** The name and the arguments, as the program gets them. Never empty. */
  readonly argv: readonly string[];
}

export type ShellReading =
  /** These commands in this order, each of them, some of them (`&&`, `||`) or all at once (`|`), and nothing else. */
  | { readonly kind: 'commands'; readonly commands: readonly ShellCommand[] }
  /** It may do anything. `because` is for people. */
  | { readonly kind: 'not_understood'; readonly because: string };

/** Characters of a command line beyond which nobody reads it. */
export const MAX_READ_CHARACTERS = 10_000;

/** Commands of a line beyond which nobody reads it. */
export const MAX_READ_COMMANDS = 50;
