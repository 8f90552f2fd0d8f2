/** What git prints about files, read as data. Paths are bytes (see git-command.ts). */

export interface StatusEntry {
  readonly path: string;
  /** The whole of what git said of it. */
  readonly line: string;
  /**
   * What the index has against HEAD, and the file against the index; a dot where they agree. `U` in both where they are
   * in conflict.
   */
  readonly staged: string;
  readonly changed: string;
}

/**
 * Reads `git status --porcelain=v2 -z --no-renames`. @throws Error for what it does not know: then nothing may be taken
 * for unchanged
 */
export function parseStatus(output: string): StatusEntry[] {
  return output
    .split('\0')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const ordinary = /^1 (?<staged>\S)(?<changed>\S) \S+ \d+ \d+ \d+ [\da-f]+ [\da-f]+ (?<path>[\s\S]+)$/.exec(
        line,
      )?.groups;
      if (ordinary !== undefined)
        return {
          path: ordinary['path'] ?? '',
          line,
          staged: ordinary['staged'] ?? '',
          changed: ordinary['changed'] ?? '',
        };
      const conflict = /^u \S\S \S+ \d+ \d+ \d+ \d+ [\da-f]+ [\da-f]+ [\da-f]+ (?<path>[\s\S]+)$/.exec(line)?.groups;
      if (conflict !== undefined) return { path: conflict['path'] ?? '', line, staged: 'U', changed: 'U' };
      throw new Error(`git status said ${JSON.stringify(line.slice(0, 200))}, which is no change of a file`);
    });
}

export interface IndexEntry {
  readonly path: string;
  /** Octal, as git writes it. `160000` is a submodule, `120000` a symbolic link. */
  readonly mode: string;
  readonly objectId: string;
  /** Git was told not to check the file: `assumed` unchanged, or `skipped` because it is not checked out. */
  readonly hidden: 'no' | 'assumed' | 'skipped';
}

/** Reads `git ls-files -v --stage -z`. */
export function parseIndex(output: string): IndexEntry[] {
  return output
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const end = line.indexOf('\t');
      const [tag = '', mode = '', objectId = ''] = line.slice(0, end).split(' ');
      if (end === -1 || objectId === '')
        throw new Error(`git ls-files said ${JSON.stringify(line.slice(0, 200))}, which is no entry of an index`);
      return { path: line.slice(end + 1), mode, objectId, hidden: hiddenBy(tag) };
    });
}

/** A small letter says that it is assumed unchanged, whatever else holds. */
function hiddenBy(tag: string): IndexEntry['hidden'] {
  if (tag.toUpperCase() === 'S') return 'skipped';
  return tag === tag.toLowerCase() && tag !== tag.toUpperCase() ? 'assumed' : 'no';
}
