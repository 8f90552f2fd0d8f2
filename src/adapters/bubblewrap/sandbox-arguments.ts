/** The arguments of bubblewrap that shut a command in: the namespaces, and the tree of files that it sees. */
import { WORKSPACE_PATH } from '../../machines/environment/mount-table.ts';
import type { BoundMounts, BoundPlace } from './bound-mounts.ts';
import type { SystemView } from './system-view.ts';

/** What the installed version can do besides what every one has to. */
export interface BubblewrapAbilities {
  readonly boundsTmpfs: boolean;
  readonly forbidsUserNamespaces: boolean;
}

export interface SandboxPlan {
  readonly abilities: BubblewrapAbilities;
  readonly view: SystemView;
  readonly network: 'open' | 'disabled';
  /** Of /tmp. */
  readonly tmpBytes: number;
  readonly bound: BoundMounts;
}

/** In /tmp, so that what one command leaves in it cannot change what the next one does. */
const SANDBOX_HOME = '/tmp/home';
const HOST_NAME = 'sandbox';
const SHARED_MEMORY_BYTES = 268_435_456;
/** An empty folder in place of a secret one. */
const MASK_BYTES = 65_536;

/** What leads to sockets and folders of the host, which are not there. */
const POINTERS_OUTSIDE = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GPG_AGENT_INFO',
  'DBUS_SESSION_BUS_ADDRESS',
  'DBUS_SYSTEM_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'TMP',
  'TEMP',
];

/** Everything but the folder to begin in and the command. Later arguments lie over earlier ones. */
export function sandboxArguments(plan: SandboxPlan): readonly string[] {
  return [
    ...namespaces(plan),
    ...system(plan),
    ...ownFolders(plan),
    ...links(plan.view),
    ...mounted(plan),
    '--remount-ro',
    '/',
    ...variables(),
  ];
}

function namespaces({ abilities, network }: SandboxPlan): readonly string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network === 'disabled' ? ['--unshare-net'] : []),
    ...(abilities.forbidsUserNamespaces ? ['--disable-userns'] : []),
    // Root keeps all capabilities in it otherwise.
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', HOST_NAME],
  ];
}

function system(plan: SandboxPlan): readonly string[] {
  const { folders, proc } = plan.view;
  return [
    ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...plan.view.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...['--proc', '/proc'],
    // A process that is root outside could write the kernel's settings: /proc/sys/kernel/core_pattern names a program
    // that runs on the host.
    ...proc.readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...proc.masked.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--dev', '/dev', ...boundedTmpfs(plan, '/dev/shm', SHARED_MEMORY_BYTES), '--remount-ro', '/dev'],
  ];
}

function ownFolders(plan: SandboxPlan): readonly string[] {
  return [
    ...boundedTmpfs(plan, '/tmp', plan.tmpBytes),
    '--dir',
    SANDBOX_HOME,
    '--symlink',
    '/tmp',
    '/var/tmp',
    '--dir',
    '/run',
  ];
}

function links({ programLinks, resolver: file }: SystemView): readonly string[] {
  return [
    ...programLinks.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...(file === undefined ? [] : ['--ro-bind-try', file, file]),
  ];
}

function mounted(plan: SandboxPlan): readonly string[] {
  const { places, workspaceDirectory, linksWorkspace } = plan.bound;
  return [
    ...places.flatMap((place) =>
      place.kind === 'hidden'
        ? emptied(plan, place)
        : [place.access === 'rw' ? '--bind' : '--ro-bind', place.directory, place.path],
    ),
    // Only now: mounts may lie in what is hidden, and their places are made there.
    ...places.flatMap((place) =>
      place.kind === 'hidden' && place.what === 'folder' ? ['--remount-ro', place.path] : [],
    ),
    ...(linksWorkspace ? ['--symlink', workspaceDirectory, WORKSPACE_PATH] : []),
  ];
}

function variables(): readonly string[] {
  return [
    ...['--setenv', 'HOME', SANDBOX_HOME, '--setenv', 'TMPDIR', '/tmp'],
    ...POINTERS_OUTSIDE.flatMap((name) => ['--unsetenv', name]),
  ];
}

function emptied(
  plan: SandboxPlan,
  { path, what }: Extract<BoundPlace, { readonly kind: 'hidden' }>,
): readonly string[] {
  return what === 'file' ? ['--ro-bind', '/dev/null', path] : boundedTmpfs(plan, path, MASK_BYTES);
}

function boundedTmpfs({ abilities }: SandboxPlan, path: string, bytes: number): readonly string[] {
  return [...(abilities.boundsTmpfs ? ['--size', String(bytes)] : []), '--tmpfs', path];
}
