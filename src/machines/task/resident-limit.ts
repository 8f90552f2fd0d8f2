/**
 * The resource limit by which members of a tree are recognized once they have shed their environment, their session and
 * their parents: the soft limit of the resident set. Linux has not enforced it since 2.6, hands it on to every child,
 * and shows it to every process in /proc/<pid>/stat. One that is a number of its own tree, greater than any memory,
 * changes nothing else: programs that check it take the smaller of it and the memory.
 */

/** In bytes: the numbers from here to twice as many are exact, and no system has as much memory. */
const SMALLEST = 2 ** 52;
/** In which shells take it. */
const UNIT = 1024;
/** How many digits of a tag count: random ones, all before the digit that names its kind. */
const DIGITS = 11;
const TAG = /^(?<head>[0-9a-f]{8})-(?<middle>[0-9a-f]{4})-[0-9a-f]{4}-/;

/** Which run what follows `-c` as a POSIX shell does, and set this limit by a command of their own. */
const SHELLS = new Set(['sh', 'ash', 'bash', 'dash', 'ksh', 'mksh', 'zsh']);

/** Of the tree under this tag, in bytes; undefined for a tag that names no tree. */
export function residentLimitOf(tag: string): number | undefined {
  const { head, middle } = TAG.exec(tag)?.groups ?? {};
  if (head === undefined || middle === undefined) return undefined;
  return SMALLEST + (Number.parseInt(`${head}${middle}`.slice(0, DIGITS), 16) % (SMALLEST / UNIT)) * UNIT;
}

/** Whether a limit can be that of a tree. */
export function isOfTree(limit: number): boolean {
  return limit >= SMALLEST && limit < 2 * SMALLEST;
}

/** Shell words that set the limit of the shell, and of all that it starts. Where it cannot be set nothing is said. */
export function limitWords(tag: string): string {
  const limit = residentLimitOf(tag);
  return limit === undefined ? '' : `ulimit -S -m ${limit / UNIT} 2>/dev/null || :; `;
}

/** Whether a program with these arguments is a shell that is given a command, and knows how to set the limit. */
export function isShellCommand(program: string, args: readonly string[]): boolean {
  return args.length > 1 && args[0] === '-c' && SHELLS.has(program.slice(program.lastIndexOf('/') + 1));
}
