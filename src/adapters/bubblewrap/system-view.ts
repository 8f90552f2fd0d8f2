/**
 * What a sandbox shows of the host's system: its folders, without what is secret in them, and where its programs lie.
 */
import { access, lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { secretsIn } from './system-secrets.ts';

export interface SystemLink {
  readonly path: string;
  readonly target: string;
}

export interface SystemView {
  /** Shown as they are, to be read only. */
  readonly folders: readonly string[];
  /** Such as /bin, where that is a part of /usr. */
  readonly links: readonly SystemLink[];
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  readonly proc: { readonly readOnly: readonly string[]; readonly masked: readonly string[] };
  /** Programs that lie elsewhere: folders, or one file each. */
  readonly programs: readonly string[];
  /** Links in PATH that lead to those. */
  readonly programLinks: readonly SystemLink[];
  /** The file that names the resolvers of the network, where it lies outside of /etc. */
  readonly resolver?: string | undefined;
}

const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'];

/** What can be written, or tells of the host's memory and keys, when root runs Wakechart. */
const READ_ONLY_IN_PROC = ['/proc/sys', '/proc/acpi', '/proc/scsi', '/proc/fs', '/proc/irq', '/proc/bus'];
const MASKED_IN_PROC = [
  '/proc/mtrr',
  '/proc/kcore',
  '/proc/keys',
  '/proc/kmsg',
  '/proc/sysrq-trigger',
  '/proc/timer_list',
  '/proc/sched_debug',
  '/proc/slabinfo',
  '/proc/vmallocinfo',
  '/proc/kpagecount',
  '/proc/kpageflags',
  '/proc/kpagecgroup',
];

const PROGRAMS = ['git'];

export interface ViewRequest {
  /** Folders shown besides. */
  readonly programs: readonly string[];
  /** What no sandbox shows. */
  readonly hidden: readonly string[];
}

/** @throws RuntimeError SANDBOX_UNAVAILABLE when the system's secrets cannot be told from the rest */
export async function viewSystem(request: ViewRequest): Promise<SystemView> {
  const checked = await Promise.all(SYSTEM_FOLDERS.map(check));
  const folders = checked.flatMap((each) => (each?.target === undefined && each !== undefined ? [each.path] : []));
  const links = checked.flatMap((each) =>
    each?.target === undefined ? [] : [{ path: each.path, target: each.target }],
  );
  const [secrets, programs, readOnly, masked, resolver] = await Promise.all([
    secretsIn(folders),
    programsOutside(folders, request),
    existing(READ_ONLY_IN_PROC),
    existing(MASKED_IN_PROC),
    resolverOutside(folders),
  ]);
  return {
    folders,
    links,
    maskedFiles: secrets.files,
    maskedFolders: secrets.folders,
    proc: { readOnly, masked },
    ...programs,
    resolver,
  };
}

async function check(
  path: string,
): Promise<{ readonly path: string; readonly target?: string | undefined } | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() === true) return { path, target: await readlink(path) };
  return found?.isDirectory() === true ? { path } : undefined;
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const there = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => there[index]);
}

async function resolverOutside(folders: readonly string[]): Promise<string | undefined> {
  const real = await realpath('/etc/resolv.conf').catch(() => undefined);
  return real === undefined || isShown(real, folders) ? undefined : real;
}

async function programsOutside(
  folders: readonly string[],
  { programs: more, hidden }: ViewRequest,
): Promise<Pick<SystemView, 'programs' | 'programLinks'>> {
  const search = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const files = [process.execPath, ...(await Promise.all(PROGRAMS.map((name) => firstIn(search, name))))];
  const found = await Promise.all(
    files.flatMap((file) => (file === undefined ? [] : [realpath(file).catch(() => undefined)])),
  );
  const given = await Promise.all(more.map((folder) => realpath(folder).catch(() => undefined)));
  const kept = [...hidden, ...(await Promise.all(hidden.map((path) => realpath(path).catch(() => path))))];
  const outside = [...found.map((file) => (file === undefined ? undefined : shownFor(file, kept))), ...given].filter(
    (path): path is string => path !== undefined && !isShown(path, folders),
  );
  const programs = [...new Set(outside)];
  return {
    programs: programs.filter((path) => !programs.some((other) => other !== path && path.startsWith(`${other}/`))),
    programLinks: await linksTo(programs, search),
  };
}

async function firstIn(search: readonly string[], name: string): Promise<string | undefined> {
  return (await existing(search.map((folder) => join(folder, name))))[0];
}

/** What was installed together with a program; the program alone where that cannot be told from what people keep. */
function shownFor(file: string, hidden: readonly string[]): string {
  const prefix = dirname(dirname(file));
  const home = homedir();
  const isTheirs =
    prefix === '/' ||
    prefix === home ||
    home.startsWith(`${prefix}/`) ||
    prefix === join(home, '.local') ||
    hidden.some((path) => isShown(path, [prefix]) || isShown(prefix, [path]));
  return basename(dirname(file)) === 'bin' && !isTheirs ? prefix : file;
}

/** PATH names some folders by links, which are as good as missing unless they are there too. */
async function linksTo(programs: readonly string[], search: readonly string[]): Promise<readonly SystemLink[]> {
  const links = await Promise.all(
    search.map(async (path) => ({ path, target: await realpath(path).catch(() => path) })),
  );
  return links.filter(
    ({ path, target }) =>
      path !== target &&
      isShown(target, programs) &&
      !isShown(path, [...programs, ...SYSTEM_FOLDERS, '/tmp', '/proc', '/dev']),
  );
}

function isShown(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}
