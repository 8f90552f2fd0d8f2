/**
 * What a persistent shell is told, as text for a POSIX shell that reads its script from standard input.
 *
 * Each command is one `eval` of quoted text, so that nothing in it (an open quote, a here-document, a comment, a
 * trailing backslash) can reach the line after it. It reads from /dev/null, so that it cannot eat the script. It writes
 * to copies of the output that hold for this one `eval`, so that `exec >file` or a closed descriptor is gone after it.
 * `command` takes from `eval` the power to end the shell over a mistake in the text; `exit`, `exec` and a failure under
 * `set -e` still end it, as they do in any shell.
 *
 * The line after it tells of the end: a nonce that is made for this one end, the exit code, and the folder as the
 * system knows it. It runs in a copy of the shell, where it can put functions out of the way without the shell's losing
 * them; a backslash keeps aliases out, and `unset`, `set` and `eval` cannot be functions. The nonce is no variable and
 * no argument, so a command never gets to see it.
 */

/** Begins the mark of an end. Rare in output, so that searching for it is searching for one byte. */
export const MARK_BYTE = 0x1e;

/**
 * Descriptor 3 is the way out, 4 the way for what the shell says of itself, which no command has open. What the shell
 * has to complain about its script is of no use.
 */
export const SHELL_START_COMMAND = 'exec 3>&1 4>&2 2>/dev/null; exec /bin/sh';

/**
 * Makes an interrupt end the whole command instead of the one program that runs just then: the failing expansion of an
 * unset parameter abandons whatever `eval` is at, and `command eval` gives the shell back. Without it the shell would
 * die of the signal. Outside of a command descriptor 3 is open, and the interrupt, which has come too late, does
 * nothing.
 */
const INTERRUPTIBLE = `\\trap '(\\: >&3) 2>/dev/null || \\: "\${99999?the command was interrupted}"' INT`;

/** The first lines: they answer like a command. @param nonce letters and digits, never used before */
export function openingScript(nonce: string): string {
  return `${INTERRUPTIBLE}\n${endReport(nonce)}`;
}

/** @param command without NUL characters */
export function commandScript(command: string, nonce: string): string {
  // Led by a space: some shells take text that begins with "-" for an option.
  return `${evaluated(` ${command}`)} </dev/null >&3 2>&3 3>&- 4>&-\n${endReport(nonce)}`;
}

/** @param folder an absolute path */
export function changeFolderScript(folder: string, nonce: string): string {
  return `\\unset -f command\n\\command cd ${quoted(folder)} </dev/null >/dev/null 2>&1 3>&- 4>&-\n${endReport(nonce)}`;
}

/** @param value null removes the variable */
export function setVariableScript(
  { name, value }: { readonly name: string; readonly value: string | null },
  nonce: string,
): string {
  const change = value === null ? `\\unset -v ${name}` : `\\export ${name}=${quoted(value)}`;
  // Traces (`set -x`) show values: they go nowhere.
  return `${evaluated(change)} </dev/null >/dev/null 2>&1 3>&- 4>&-\n${endReport(nonce)}`;
}

/** `text` as one word of a shell, whatever it holds. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function evaluated(text: string): string {
  // A function called `command` is the one thing of the shell's that does not outlive the command that made it.
  return `\\unset -f command\n\\command eval ${quoted(text)}`;
}

/**
 * What is exported, between marks of the same nonce, and then the end; the end says by an `r` whether all of the former
 * was said. `export` is the shell's own and can be no function; a descriptor that cannot be written is found out by
 * `printf`, since for `export` it would be the end. Said once more after an interrupt, which may have hit the first
 * one.
 */
export function endReport(nonce: string): string {
  const exported = `\\printf '\\036%s ' ${nonce} >&4 && \\export -p >&4 && \\printf '\\000' >&4 && \\set -- "$1" r`;
  const end = `\\printf '\\036%s %s%s %s\\000' ${nonce} "$1" "\${2-}" "$(\\pwd -P)"`;
  return `(\\set -- "$?"; \\unset -f printf pwd; ${exported}; ${end}) >&3 2>/dev/null </dev/null\n`;
}
