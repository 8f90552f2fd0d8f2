/**
 * What the shell tools need of Node besides tasks: the environment, an interrupt, and where a path or a process really
 * is.
 */
import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { ProcessFolder, ShellHost } from '../../actors/shell/shell-host.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { isProcessOver, processFields } from '../../machines/task/process-stat.ts';

/** As many as Linux follows in one path. */
const MAX_LINKS = 40;

export function createShellHost(): ShellHost {
  return {
    environment: () => process.env,
    interrupt(processId) {
      try {
        process.kill(-processId, 'SIGINT');
      } catch {
        // It has gone by itself.
      }
    },
    resolveInside(workspace, path) {
      const root = realpathSync.native(workspace);
      const real = realOf(resolve(root, path), path);
      if (isWithin(root, real)) return real;
      throw new RuntimeError('PATH_OUTSIDE_WORKSPACE', `expected a folder in the workspace, received ${path}`, {
        category: 'permission',
        hint: 'Name a folder from the workspace, such as "src".',
      });
    },
    leadsThrough,
    programInside,
    processesBeside,
    folderOfProcess,
  };
}

function realOf(path: string, given: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new RuntimeError('FOLDER_NOT_FOUND', `there is no folder ${given} in the workspace: ${messageOf(cause)}`, {
      category: 'not_found',
      hint: 'Check what is there with glob or ls.',
      cause,
    });
  }
}

/** Link by link: one in the folder leads elsewhere tomorrow, wherever it leads now. */
function leadsThrough(folder: string, path: string): boolean {
  const names = path.split('/');
  let current = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(current, name);
    if (isWithin(folder, next)) return true;
    const target = targetOf(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    // Nothing can be found through it.
    if (links > MAX_LINKS) return false;
    if (isAbsolute(target)) current = '/';
    else current = dirname(next);
    names.unshift(...target.split('/'));
  }
  return false;
}

/** Undefined for what is no link, does not exist or cannot be checked. */
function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The process in a sandbox whose number is 1 keeps the others; the program that was asked for is the first of those.
 */
const FIRST_PROGRAM = 2;

function programInside(processId: number): { readonly processId: number; readonly group: number } | undefined {
  const keepers = childrenOf(processId);
  for (const program of keepers.flatMap(childrenOf)) {
    if (!isNumberedInside(program, FIRST_PROGRAM)) continue;
    const [, , group] = fieldsOf(program);
    if (group !== undefined) return { processId: program, group: Number(group) };
  }
  return undefined;
}

function processesBeside(processId: number, { isShutIn }: { readonly isShutIn: boolean }): number {
  if (!isShutIn) return childrenOf(processId).filter(isRunning).length;
  const program = programInside(processId)?.processId;
  const keepers = childrenOf(processId);
  // What has lost its parent in the sandbox is a child of what keeps that.
  return [...keepers.flatMap(childrenOf), ...(program === undefined ? [] : childrenOf(program))].filter(
    (each) => each !== program && isRunning(each),
  ).length;
}

function isRunning(processId: number): boolean {
  const fields = fieldsOf(processId);
  return fields.length > 0 && !isProcessOver(fields);
}

function childrenOf(processId: number): readonly number[] {
  const listed = textOf(`/proc/${processId}/task/${processId}/children`);
  if (listed !== undefined)
    return listed
      .split(' ')
      .filter((word) => word !== '')
      .map(Number);
  // A kernel without such lists.
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => Number(fieldsOf(each)[1]) === processId);
}

/** Its number in the innermost namespace. */
function isNumberedInside(processId: number, number: number): boolean {
  const numbers =
    /^NSpid:\s*(?<numbers>.*)$/m
      .exec(textOf(`/proc/${processId}/status`) ?? '')
      ?.groups?.['numbers']?.trim()
      .split(/\s+/) ?? [];
  return numbers.length > 1 && Number(numbers.at(-1)) === number;
}

/** State, parent, group and what follows; none where there is no such process. */
function fieldsOf(processId: number): readonly string[] {
  const text = textOf(`/proc/${processId}/stat`);
  return text === undefined ? [] : processFields(text);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Linux tells; a deleted folder by a name that nothing has, which is therefore not what decides. */
function folderOfProcess(processId: number): ProcessFolder {
  const link = `/proc/${processId}/cwd`;
  try {
    const path = readlinkSync(link);
    return statSync(link).nlink === 0 ? { kind: 'gone' } : { kind: 'known', path };
  } catch {
    return { kind: 'unknown' };
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
