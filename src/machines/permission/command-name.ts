/** What a command is called, whichever way it is written. */

/** The name of the program, wherever it lies. */
function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1).toLowerCase();
}

/** The name without the version that some systems put behind it, as in `python3.11`. */
export function nameWithoutVersion(name: string): string {
  return name.replace(/[-.]?\d+(?:\.\d+)*$/, '');
}

/** Whether the program is one of these, in any version. */
export function isOneOf(names: ReadonlySet<string>, name: string): boolean {
  return names.has(name) || names.has(nameWithoutVersion(name));
}

/** The words as its own front end would be given them: `/usr/lib/git-core/git-push x` is `git push x`. */
export function plainArgv([word = '', ...rest]: readonly string[]): readonly string[] {
  const name = nameOf(word);
  const subcommand = /^git-(?<name>[a-z].*)$/.exec(name)?.groups?.['name'];
  return subcommand === undefined ? [name, ...rest] : ['git', subcommand, ...rest];
}
