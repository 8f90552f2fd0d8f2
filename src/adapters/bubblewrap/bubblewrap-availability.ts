/** Whether bubblewrap can shut commands in here, found out by doing it; and if it cannot, precisely why. */
import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readlinkSync, rmSync, writeSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import { boundSystem } from './bound-mounts.ts';
import type { HiddenPlaces } from './hidden-places.ts';
import type { BubblewrapAbilities } from './sandbox-arguments.ts';
import { sandboxArguments } from './sandbox-arguments.ts';
import { programLine } from './sandbox-line.ts';
import { systemCallFilter } from './system-call-filter.ts';
import type { SystemView } from './system-view.ts';

// The filter of system calls as bubblewrap reads it: an open file. It has no name in any folder, since a folder may
// be one in which commands work, and what they wrote there would be their filter.

/** By the bytes: one file for all sandboxes of this process. It is closed when the process ends. */
const held = new Map<string, string>();

/**
 * @returns a path under /proc that leads to the bytes for as long as this process lives
 * @throws RuntimeError SANDBOX_UNAVAILABLE
 */
function heldFilter(bytes: Uint8Array): string {
  const key = Buffer.from(bytes).toString('latin1');
  const path = held.get(key) ?? hold(bytes);
  held.set(key, path);
  return path;
}

function hold(bytes: Uint8Array): string {
  let descriptor: number | undefined;
  try {
    descriptor = nameless();
    writeSync(descriptor, bytes);
    // Its number where /proc shows it, which need not be the one that the process knows itself by.
    return `/proc/${readlinkSync('/proc/self')}/fd/${descriptor}`;
  } catch (cause) {
    if (descriptor !== undefined) closeSync(descriptor);
    const reason = `the filter of system calls cannot be kept in a file: ${messageOf(cause)}`;
    throw new RuntimeError('SANDBOX_UNAVAILABLE', reason, {
      category: 'process',
      hint: 'Make the temporary folder writable (TMPDIR).',
      cause,
    });
  }
}

function nameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'wakechart-filter-'));
  try {
    return openSync(join(folder, 'filter'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const run = promisify(execFile);

export type FoundBubblewrap =
  | {
      readonly kind: 'available';
      readonly version: string;
      readonly program: string;
      readonly stat: string;
      readonly filter: string;
      readonly abilities: BubblewrapAbilities;
    }
  | Missing;

interface Missing {
  readonly kind: 'missing';
  readonly reason: string;
  readonly hint: string;
}

interface Surroundings {
  readonly view: SystemView;
  readonly hidden: HiddenPlaces;
}

export interface AvailabilityRequest {
  /** Default: searched for in PATH. */
  readonly program?: string | undefined;
  /** What is tried: the system as sandboxes will show it. */
  readonly bound: () => Promise<Surroundings>;
}

/** Without one of these nothing is shut in. */
const NEEDED_OPTIONS = [
  '--unshare-user',
  '--unshare-net',
  '--unshare-cgroup-try',
  '--die-with-parent',
  '--new-session',
  '--cap-drop',
  '--remount-ro',
  '--ro-bind-try',
  '--hostname',
  '--seccomp',
];
const TRIAL_TIMEOUT_MS = 20_000;
const TRIAL_WORD = 'shut in';

const INSTALL_HINT =
  'Install bubblewrap: "apt install bubblewrap", "dnf install bubblewrap", "apk add bubblewrap" or "pacman -S bubblewrap". Or choose "sandbox: off" in the environment file, which lets commands do what you can do yourself.';
const ELSEWHERE_HINT =
  'Run Wakechart on Linux (x64 or arm64), where bubblewrap is to be had, or choose "sandbox: off" in the environment file, which lets commands do what you can do yourself.';

export async function findBubblewrap({ program: given, bound }: AvailabilityRequest): Promise<FoundBubblewrap> {
  if (process.platform !== 'linux')
    return missing(`bubblewrap needs Linux, and this is ${process.platform}`, ELSEWHERE_HINT);
  const refused = systemCallFilter(process.arch);
  if (refused === undefined)
    return missing(
      `its filter of system calls is written for x64 and arm64, and this is ${process.arch}`,
      ELSEWHERE_HINT,
    );
  const program = given ?? (await firstProgram('bwrap'));
  if (program === undefined) return missing('bubblewrap (the program bwrap) is not installed', INSTALL_HINT);
  const stat = await firstProgram('stat', ['/usr/bin', '/bin']);
  if (stat === undefined) return missing('the program stat is not installed', 'Install it with the package coreutils.');
  try {
    const [version, help] = await Promise.all(['--version', '--help'].map((option) => answerOf(program, [option])));
    const lacking = NEEDED_OPTIONS.filter((option) => !knows(help ?? '', option));
    const named = (version ?? '').trim().replace(/^bubblewrap\s+/, '');
    if (lacking.length > 0)
      return missing(
        `${program} is too old (${named}): it does not know ${lacking.join(', ')}`,
        'Install bubblewrap 0.4 or later.',
      );
    const abilities = {
      boundsTmpfs: knows(help ?? '', '--size'),
      forbidsUserNamespaces: knows(help ?? '', '--disable-userns'),
    };
    return await tried(
      { kind: 'available', version: named, program, stat, filter: heldFilter(refused), abilities },
      await bound(),
    );
  } catch (error) {
    return missing(`${program} cannot be run: ${firstLine(messageOf(error))}`, INSTALL_HINT);
  }
}

type Available = Extract<FoundBubblewrap, { readonly kind: 'available' }>;

async function tried(found: Available, around: Surroundings): Promise<FoundBubblewrap> {
  const problem = await problemOf(found, around);
  if (problem === undefined) return found;
  // Some kernels and containers do not let one namespace lie in another; then those inside are kept from it by having
  // no capabilities.
  const without: Available = { ...found, abilities: { ...found.abilities, forbidsUserNamespaces: false } };
  if (found.abilities.forbidsUserNamespaces && (await problemOf(without, around)) === undefined) return without;
  return missing(
    `bubblewrap ${found.version} is installed and cannot shut a command in: ${problem}`,
    await hintFor(problem),
  );
}

/** @returns what it says */
async function problemOf(
  { program, filter, stat, abilities }: Available,
  { view, hidden }: Surroundings,
): Promise<string | undefined> {
  const bound = boundSystem(view, hidden);
  const shut = sandboxArguments({ abilities, view, network: 'disabled', tmpBytes: 1_048_576, bound });
  const { command, args } = programLine(
    { closer: [], program, filter, shut, stat, bound, cwd: '/' },
    { command: 'echo', args: [TRIAL_WORD] },
  );
  try {
    const said = await answerOf(command, args);
    return said.trim() === TRIAL_WORD ? undefined : `a command in it said "${firstLine(said)}"`;
  } catch (error) {
    const said = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : '';
    return firstLine(said === '' ? messageOf(error) : said);
  }
}

/** Settings that keep users from namespaces of their own, with the values that do. */
const SETTINGS = [
  { name: 'kernel.unprivileged_userns_clone', forbids: '0', allow: '1' },
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: '1', allow: '0' },
  { name: 'user.max_user_namespaces', forbids: '0', allow: '15000' },
] as const;

async function hintFor(problem: string): Promise<string> {
  for (const { name, forbids, allow } of SETTINGS) {
    const value = await readFile(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').catch(() => '');
    if (value.trim() === forbids)
      return `The system forbids user namespaces by ${name}=${forbids}. Allow them with "sysctl -w ${name}=${allow}" as root, and keep that in /etc/sysctl.d.`;
  }
  if (/mount proc|\/proc/i.test(problem))
    return 'A container around it hides parts of /proc, so that no new one can be mounted: run that container with its /proc unmasked (Docker: --security-opt systempaths=unconfined).';
  if (/namespace|uid map|permitted|permission|denied/i.test(problem))
    return 'Something around it forbids user namespaces: in a container, allow them (Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined), or choose "sandbox: off" and let the container be the bound.';
  return 'Run bwrap by hand to see more: bwrap --unshare-all --ro-bind / / true';
}

async function answerOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, [...args], {
    timeout: TRIAL_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    maxBuffer: 1_048_576,
  });
  return stdout;
}

async function firstProgram(
  name: string,
  folders = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute),
): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

function knows(help: string, option: string): boolean {
  return new RegExp(`^\\s*${option}\\b(?!-)`, 'm').test(help);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, 300) ?? '';
}

function missing(reason: string, hint: string): Missing {
  return { kind: 'missing', reason, hint };
}
