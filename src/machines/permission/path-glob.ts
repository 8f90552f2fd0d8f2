/**
 * Patterns of paths: `*` for any part of a name, `?` for one character, `**` for any folders. Paths are from the
 * workspace, with `/`.
 */
import { isNeverMeantByWildcard } from './sensitive-path.ts';

const MAX_GLOB_CHARACTERS = 500;

const ANY_FOLDERS = '**';

export interface GlobMatching {
  /**
   * `strict`, for what is allowed: a wildcard does not stand for names that decide what git runs. `wide`, for what is
   * denied: letter case and the way an accent is written do not count, because some file systems do not count them.
   */
  readonly matching: 'strict' | 'wide';
}

/** Folders in which nothing is mounted, or nothing that could be read. */
const NEVER_MOUNTED: ReadonlySet<string> = new Set([
  'proc',
  'dev',
  'sys',
  'tmp',
  'usr',
  'bin',
  'sbin',
  'lib',
  'lib64',
  'etc',
  'opt',
  'vaults',
]);

/** What is wrong with a pattern; undefined when it can be used. For people. */
export function globProblem(glob: string): string | undefined {
  if (glob.length > MAX_GLOB_CHARACTERS) return `a pattern of at most ${MAX_GLOB_CHARACTERS} characters`;
  if (glob.includes('\\') || /^[A-Za-z]:/.test(glob) || (glob.startsWith('/') && !isInMount(glob)))
    return 'a pattern from the workspace, with "/" between folders, or one in a mount, such as "/runtime/**"';
  const segments = (glob.startsWith('/') ? glob.slice(1) : glob).split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'a pattern without empty parts, "." and ".."';
  return segments.some((segment) => segment !== ANY_FOLDERS && segment.includes(ANY_FOLDERS))
    ? '"**" as a whole part between slashes'
    : undefined;
}

/** Whether a pattern that begins with a slash may name a mount: by a plain name, and with something below it. */
function isInMount(glob: string): boolean {
  const [, top = '', ...below] = glob.split('/');
  return below.length > 0 && /^[A-Za-z0-9._-]+$/.test(top) && !NEVER_MOUNTED.has(top.toLowerCase());
}

/**
 * The path from the workspace, without `.` and doubled slashes; `''` is the workspace itself. Undefined when it lies
 * outside, and when it has `..` in it: only the file system knows where that leads.
 */
export function workspacePath(path: string, workspaceDirectory: string): string | undefined {
  const segments = namesOf(path);
  if (segments.includes('..') || path.includes('\0')) return undefined;
  if (!path.startsWith('/')) return segments.join('/');
  const root = namesOf(workspaceDirectory);
  const isInside = root.every((name, index) => segments[index] === name);
  return isInside ? segments.slice(root.length).join('/') : undefined;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** Whether `path`, as `workspacePath` gives it, is what the pattern means. `a/**` means the folder `a` too. */
export function matchesGlob(glob: string, path: string, how: GlobMatching): boolean {
  const { reached, length } = follow(glob, path, how);
  return reached.has(length);
}

/** Whether the pattern means the folder and all that can be below it. */
export function matchesAllBelow(glob: string, path: string, how: GlobMatching): boolean {
  return matchesGlob(glob, path, how) && (glob === ANY_FOLDERS || glob.endsWith(`/${ANY_FOLDERS}`));
}

/** Whether the pattern may mean something below the folder. */
export function mayMatchBelow(glob: string, path: string, how: GlobMatching): boolean {
  const { reached, length } = follow(glob, path, how);
  return [...reached].some((index) => index < length);
}

/** How far into the pattern the path may have come; `length` is its end. */
function follow(
  glob: string,
  path: string,
  { matching }: GlobMatching,
): { readonly reached: ReadonlySet<number>; readonly length: number } {
  const fold = (text: string): string => (matching === 'wide' ? text.normalize('NFC').toLowerCase() : text);
  const patterns = fold(glob).split('/');
  const names = path === '' ? [] : fold(path).split('/');
  // Which of the first patterns may have been used up by the names so far. Every step is bounded by the number of
  // patterns.
  let reached = closure(new Set([0]), patterns);
  for (const name of names) {
    const next = new Set<number>();
    for (const index of reached) {
      const pattern = patterns[index];
      if (pattern === undefined) continue;
      if (pattern === ANY_FOLDERS && !(matching === 'strict' && isNeverMeantByWildcard(name))) next.add(index);
      if (pattern !== ANY_FOLDERS && matchesName(pattern, name, matching)) next.add(index + 1);
    }
    reached = closure(next, patterns);
  }
  return { reached, length: patterns.length };
}

/** `**` may stand for no folder at all. */
function closure(reached: ReadonlySet<number>, patterns: readonly string[]): Set<number> {
  const all = new Set(reached);
  // A set that grows while it is walked hands out what was added.
  for (const index of all) if (patterns[index] === ANY_FOLDERS) all.add(index + 1);
  return all;
}

function matchesName(pattern: string, name: string, matching: GlobMatching['matching']): boolean {
  if (pattern === name) return true;
  if (!/[*?]/.test(pattern) || (matching === 'strict' && isNeverMeantByWildcard(name))) return false;
  return matchesText(Array.from(pattern), Array.from(name));
}

/** Goes back to the last star only, so that it takes pattern times name steps at most. */
function matchesText(pattern: readonly string[], name: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let index = 0; index < name.length;) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at;
      resumeAt = index;
      at += 1;
    } else if (wanted !== undefined && (wanted === '?' || wanted === name[index])) {
      at += 1;
      index += 1;
    } else if (star !== -1) {
      at = star + 1;
      resumeAt += 1;
      index = resumeAt;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((rest) => rest === '*');
}

/**
 * Whether `path` is a folder above what the pattern means for certain: the pattern leads there by names without
 * wildcards, or it is the workspace.
 */
export function isKnownFolderOf(glob: string, path: string): boolean {
  if (path === '') return true;
  const patterns = glob.normalize('NFC').toLowerCase().split('/');
  const names = path.normalize('NFC').toLowerCase().split('/');
  return names.length < patterns.length && names.every((name, index) => patterns[index] === name);
}
