/**
 * Whether a call would reach into folders of the runtime's own, as far as its paths and the words of its command line
 * tell.
 */
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { foldersOf } from '../../machines/permission/shell-reading.ts';
import type { ShellCommand, ShellReading } from '../../machines/permission/shell-reading.ts';
import type { PlaceGuard } from '../permission/permission-ports.ts';

export interface GuardedCall {
  readonly subject: PermissionSubject;
  readonly reading: ShellReading | undefined;
  readonly workspaceDirectory: string;
  /** Paths besides the subject at which it may change something. */
  readonly changes?: readonly string[] | undefined;
}

/** Why it would, for people; undefined when nothing tells that it would. */
export async function guardedPlace(
  guard: PlaceGuard | undefined,
  { subject, reading, workspaceDirectory, changes = [] }: GuardedCall,
): Promise<string | undefined> {
  if (guard === undefined) return undefined;
  // What a mount gives the environment has given, also where it lies in the home.
  if (subject.kind === 'path' && subject.mount !== undefined) return undefined;
  for (const path of [...changes, ...placesOf(subject, reading)]) {
    if (await guard.protects(path, workspaceDirectory))
      return `"${path}" lies in the home of the runtime, where no rule and no mode allows anything`;
  }
  return undefined;
}

/**
 * A line that is not understood is allowed by no rule anyway. What a pattern of the shell finds is checked on the
 * disk.
 */
function placesOf(subject: PermissionSubject, reading: ShellReading | undefined): readonly string[] {
  if (subject.kind === 'tool') return [];
  if (subject.kind === 'path') return [subject.path];
  const { cwd } = subject;
  return [
    cwd,
    ...new Set(reading?.kind === 'commands' ? reading.commands.flatMap((command) => placesIn(command, cwd)) : []),
  ];
}

/** In each folder that the line may have entered before, with the file that is the input. */
function placesIn(command: ShellCommand, cwd: string): readonly string[] {
  const { argv, input } = command;
  const words = [...argv.slice(1), ...(input === undefined ? [] : [input])].flatMap(pathsIn);
  return foldersOf(command).flatMap((folder) =>
    words.map((word) => (word.startsWith('/') ? word : `${cwd}/${folder}/${word}`)),
  );
}

/** A word that is an option may hold a path after its sign. */
function pathsIn(word: string): readonly string[] {
  const sign = word.indexOf('=');
  return [word, ...(sign === -1 ? [] : [word.slice(sign + 1)])].filter((each) => each !== '' && !each.includes('\0'));
}
