/**
 * Which processes are at work in a folder, as far as the system shows it: on Linux, those of the same user. Elsewhere
 * it says nothing.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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

function isAtOrIn(path: string, folder: string): boolean {
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

const SLICE_MS = 3;

/**
 * Says who is inside, in words: a process whose folder, program or open file lies in `folder`, or a file system mounted
 * there.
 */
export async function usersOf(folder: string): Promise<readonly string[]> {
  const here = mountsOf('self');
  const users: string[] = mountsIn(folder, here);
  const places = placesByNamespace(folder, here);
  let sliceEnd = performance.now() + SLICE_MS;
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const place = placeInside(name, places(name));
    if (place !== undefined) users.push(`process ${name} (${programOf(name)}) has ${place}`);
    if (performance.now() < sliceEnd) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceEnd = performance.now() + SLICE_MS;
  }
  return users;
}

/** Whether a process was given `text` as a part of its command line. Finds a git that outlived its parent. */
export function commandNaming(text: string): string | undefined {
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (words.includes(text)) return `process ${name} (${programOf(name)}) was told of it`;
    } catch {
      // It has ended, or is not ours to see.
    }
  }
  return undefined;
}

function placeInside(pid: string, folders: readonly string[]): string | undefined {
  if (isInside(linkOf(`/proc/${pid}/cwd`), folders)) return 'its working folder in it';
  if (isInside(linkOf(`/proc/${pid}/root`), folders)) return 'its root in it';
  if (isInside(linkOf(`/proc/${pid}/exe`), folders)) return 'its program in it';
  const descriptors = namesIn(`/proc/${pid}/fd`);
  return descriptors.some((descriptor) => isInside(linkOf(`/proc/${pid}/fd/${descriptor}`), folders))
    ? 'a file of it open'
    : undefined;
}

/**
 * The system marks what has been unlinked; a process whose folder was deleted writes into nothing that could be kept.
 */
function isInside(target: string | undefined, folders: readonly string[]): boolean {
  return target !== undefined && folders.some((folder) => isAtOrIn(target, folder));
}

/** The paths of `folder` as a process sees them, by its pid. */
function placesByNamespace(folder: string, here: readonly Mount[]): (pid: string) => readonly string[] {
  const known = new Map<string, readonly string[]>([
    [linkOf('/proc/self/ns/mnt') ?? '', [folder, ...aliasesOf(folder, here, here)]],
  ]);
  return (pid) => {
    const namespace = linkOf(`/proc/${pid}/ns/mnt`) ?? '';
    const places = known.get(namespace) ?? [folder, ...aliasesOf(folder, here, mountsOf(pid))];
    known.set(namespace, places);
    return places;
  };
}

function mountsIn(folder: string, here: readonly Mount[]): string[] {
  return here.filter(({ point }) => isAtOrIn(point, folder)).map(({ point }) => `a file system is mounted at ${point}`);
}

/** None where they cannot be seen. */
function mountsOf(pid: string): readonly Mount[] {
  try {
    return parseMounts(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
  } catch {
    return [];
  }
}

function programOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'ended';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
