/** What a command line means, as far as every POSIX shell agrees about it. */

/** What a shell puts in the place of a word. */
export type OpenWord =
  /** The names of the files that these patterns find, or the word as it is written when they find none. */
  | { readonly kind: 'paths'; readonly patterns: readonly string[] }
  /** The word with the exit status of an earlier command in it. */
  | { readonly kind: 'number' };

export interface ShellCommand {
  /**
   * The name and the arguments, as the program gets them, without what only bounds it (`timeout 5`, `nice`). Never
   * empty.
   */
  readonly argv: readonly string[];
  /** Words that are not what the program gets, by their places in `argv`. */
  readonly open?: Readonly<Record<number, OpenWord>> | undefined;
  /** The file that it is given as its input. */
  readonly input?: string | undefined;
  /** Every folder in which it may run, from where the line runs. Absent: only there. */
  readonly folders?: readonly string[] | undefined;
  /** Whether it is the `cd` that leads to those of the commands after it. */
  readonly entersFolder?: true | undefined;
}

export type ShellReading =
  /** These commands in this order, each of them, some of them (`&&`, `||`) or all at once (`|`), and nothing else. */
  | { readonly kind: 'commands'; readonly commands: readonly ShellCommand[] }
  /** It may do anything. `because` is for people. */
  | { readonly kind: 'not_understood'; readonly because: string };

/** Characters of a command line beyond which it is not read. */
export const MAX_READ_CHARACTERS = 10_000;

/** Commands of a line beyond which it is not read. */
export const MAX_READ_COMMANDS = 50;

const IN_PLACE: readonly string[] = [''];

/** The folders in which a command may run, from where its line runs. */
export function foldersOf({ folders = IN_PLACE }: Pick<ShellCommand, 'folders'>): readonly string[] {
  return folders;
}

/** Each command once for each folder in which it may run: a rule speaks of one of them. */
export function inEachFolder(commands: readonly ShellCommand[]): readonly ShellCommand[] {
  return commands.flatMap((command) =>
    command.folders === undefined ? [command] : command.folders.map((folder) => ({ ...command, folders: [folder] })),
  );
}

/** Whether the program gets the words as they are read and nothing besides: only then can a rule speak of them. */
export function isSpelledOut({ open, input }: ShellCommand): boolean {
  return open === undefined && input === undefined;
}
