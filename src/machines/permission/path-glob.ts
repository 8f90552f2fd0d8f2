/**
 * Patterns of paths: `*` for any part of a name, `?` for one character, `**` for any folders. Paths are from the
 * workspace, with `/`.
 */
import { matchesName, parsePlainName } from '../glob-name.ts';
import { ANY_FOLDERS, after, startOf } from '../glob-steps.ts';
import type { GlobReading } from '../glob-steps.ts';
import { isNeverMeantByWildcard } from './sensitive-path.ts';

const MAX_GLOB_CHARACTERS = 500;

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
  const fold = matching === 'wide' ? widely : (text: string): string => text;
  const pattern = fold(glob)
    .split('/')
    .map((segment) => (segment === ANY_FOLDERS ? ANY_FOLDERS : parsePlainName(segment)));
  const names = path === '' ? [] : fold(path).split('/');
  const reading = READINGS[matching];
  let reached = startOf(pattern, reading);
  for (const name of names) reached = after(pattern, reached, name, reading);
  return { reached, length: pattern.length };
}

const READINGS = {
  strict: {
    passes: (name) => !isNeverMeantByWildcard(name),
    fits: (pattern, name) =>
      matchesName(pattern, name) && (pattern.literal !== undefined || !isNeverMeantByWildcard(name)),
    meansFolder: true,
  },
  wide: { passes: () => true, fits: matchesName, meansFolder: true },
} as const satisfies Record<GlobMatching['matching'], GlobReading>;

function widely(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/**
 * Whether `path` is a folder above what the pattern means for certain: the pattern leads there by names without
 * wildcards, or it is the workspace.
 */
export function isKnownFolderOf(glob: string, path: string): boolean {
  if (path === '') return true;
  const patterns = widely(glob).split('/');
  const names = widely(path).split('/');
  return names.length < patterns.length && names.every((name, index) => patterns[index] === name);
}
