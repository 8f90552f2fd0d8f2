/**
 * Under which other paths a folder can be reached: a part of a file system may be mounted at several, each process
 * seeing those of its namespace.
 */

export interface Mount {
  /** Of the file system. */
  readonly device: string;
  /** The part of the file system that is mounted, as a path in it. */
  readonly root: string;
  /** Where. */
  readonly point: string;
}

/** Reads `/proc/<pid>/mountinfo`. Later ones cover earlier ones. */
export function parseMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [, , device, root, point] = line.split(' ');
    return device === undefined || root === undefined || point === undefined
      ? []
      : [{ device, root: unescaped(root), point: unescaped(point) }];
  });
}

/**
 * The paths under which `there`, the mounts of a process, lead to `folder` or into it, besides `folder` itself.
 *
 * @param here the mounts by which `folder` is the path that is meant
 */
export function aliasesOf(folder: string, here: readonly Mount[], there: readonly Mount[]): readonly string[] {
  const own = here
    .filter(({ point }) => isAtOrIn(folder, point))
    .reduce<Mount | undefined>(
      (best, mount) => (best === undefined || mount.point.length >= best.point.length ? mount : best),
      undefined,
    );
  if (own === undefined) return [];
  const path = joined(own.root, below(folder, own.point));
  const aliases = there.flatMap(({ device, root, point }) => {
    if (device !== own.device) return [];
    if (isAtOrIn(path, root)) return [joined(point, below(path, root))];
    return isAtOrIn(root, path) ? [point] : [];
  });
  return [...new Set(aliases)].filter((alias) => alias !== folder);
}

export function isAtOrIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** What follows `folder` in `path`, beginning with a slash; empty for the folder itself. */
function below(path: string, folder: string): string {
  return folder === '/' ? (path === '/' ? '' : path) : path.slice(folder.length);
}

function joined(folder: string, rest: string): string {
  return folder === '/' && rest !== '' ? rest : `${folder}${rest}`;
}

/** The table writes blanks and line ends of paths as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
