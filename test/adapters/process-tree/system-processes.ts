/** Real processes for tests, and a second opinion about them that shares no code with what is tested. */
import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ProcessLaunch, TrackedProcessTree } from '../../../src/actors/task/process-tree.ts';

export const fixturePath = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/processes/${name}`, import.meta.url));

/** The letter the kernel has for what a process does: R, S, D, T, Z and others; undefined when there is none. */
export function stateLetter(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}

/** 1 for one that has outlived its parents. */
export function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
  } catch {
    return undefined;
  }
}

/** Whether a process lives; one that only waits to be collected does not. */
export function isRunning(pid: number): boolean {
  return !['Z', 'X', undefined].includes(stateLetter(pid));
}

/** The living processes that have `entry`, such as `NAME=value`, in the environment they were started with. */
export function processesWith(entry: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isRunning(pid) && hasEntry(pid, entry));
}

function hasEntry(pid: number, entry: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry);
  } catch {
    return false;
  }
}

type StartedProcess = ChildProcess & { readonly pid: number };

/** Starts a shell command in a session of its own; `environment` is added to this process's own. */
export function startCommand(
  command: string,
  environment: Readonly<Record<string, string>>,
  options: SpawnOptions = {},
): StartedProcess {
  return started(
    { program: '/bin/sh', args: ['-c', command], cwd: process.cwd(), environment: { ...process.env, ...environment } },
    options,
  );
}

/** Starts a shell command as the root of a tree. */
export function startIn(
  tree: TrackedProcessTree,
  command: string,
  options: SpawnOptions & { readonly cwd?: string } = {},
): StartedProcess {
  return started(
    tree.launch({
      program: '/bin/sh',
      args: ['-c', command],
      cwd: options.cwd ?? process.cwd(),
      environment: process.env,
    }),
    options,
  );
}

function started({ program, args, cwd, environment }: ProcessLaunch, options: SpawnOptions): StartedProcess {
  const child = spawn(program, [...args], { detached: true, stdio: 'ignore', cwd, ...options, env: environment });
  const { pid } = child;
  if (pid === undefined) throw new Error(`could not start ${args.join(' ')}`);
  return Object.assign(child, { pid });
}

/** Resolves once `fact` gives something, which is checked every few milliseconds. */
export async function eventually<Value>(fact: () => Value | undefined | false, what: string): Promise<Value> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const value = fact();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`still not so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The number a process wrote to a file, once it has. */
export function pidFrom(path: string): Promise<number> {
  return eventually(
    () => (existsSync(path) ? Number(readFileSync(path, 'utf8')) || undefined : undefined),
    `a pid in ${path}`,
  );
}
