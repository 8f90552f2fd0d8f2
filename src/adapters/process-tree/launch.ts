/**
 * How the root of a tree is started: with the tag in its environment, and on Linux with the resource limit by which
 * its members are known besides.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { isShellCommand, limitWords } from '../../machines/task/resident-limit.ts';
import type { ProcessLaunch } from '../../actors/task/process-tree.ts';
import { TAG_VARIABLE, nestedTag } from './tags.ts';

const SHELL = '/bin/sh';

export function launchIn(tag: string, launch: ProcessLaunch): ProcessLaunch {
  const environment = { ...launch.environment, [TAG_VARIABLE]: nestedTag(process.env[TAG_VARIABLE], tag) };
  const words = process.platform === 'linux' ? limitWords(tag) : '';
  if (words === '') return { ...launch, environment };
  const { program, args } = launch;
  const [option = '', command = '', ...rest] = args;
  const marked = [option, `${words}${command}`, ...rest];
  if (isShellCommand(program, args)) return { ...launch, args: marked, environment };
  // One that is not there is started as it is: only the system says rightly why it cannot be.
  if (!isThere(launch)) return { ...launch, environment };
  return { ...launch, program: SHELL, args: ['-c', `${words}exec "$@"`, 'sh', program, ...args], environment };
}

/** As the system searches for it, in the search path that the program gets itself. */
function isThere({ program, cwd, environment }: ProcessLaunch): boolean {
  if (program.includes('/')) return isExecutable(resolve(cwd, program));
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => isExecutable(resolve(cwd, folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
