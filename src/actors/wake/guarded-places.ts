/** Whether a call would reach into folders of the runtime's own, as far as its paths and the words of its command line tell. */
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import type { ShellReading } from '../../machines/permission/shell-reading.ts';
import type { PlaceGuard } from '../permission/place-guard.ts';

export interface GuardedCall {
  readonly subject: PermissionSubject;
  readonly reading: ShellReading | undefined;
  readonly workspaceDirectory: string;
}

/** Why it would, for people; undefined when nothing tells that it would. */
export async function guardedPlace(guard: PlaceGuard | undefined, { subject, reading, workspaceDirectory }: GuardedCall): Promise<string | undefined> {
  if (guard === undefined || subject.kind === 'tool') return undefined;
  // What a mount gives the environment has given, also where it lies in the home.
  if (subject.kind === 'path' && subject.mount !== undefined) return undefined;
  for (const path of placesOf(subject, reading)) {
    if (await guard.protects(path, workspaceDirectory)) return `"${path}" lies in the home of the runtime, where no rule and no mode allows anything`;
  }
  return undefined;
}

/** A line that is not understood is allowed by no rule anyway. */
function placesOf(subject: Exclude<PermissionSubject, { kind: 'tool' }>, reading: ShellReading | undefined): readonly string[] {
  if (subject.kind === 'path') return [subject.path];
  const { cwd } = subject;
  const words = reading?.kind === 'commands' ? reading.commands.flatMap(({ argv }) => argv.slice(1).flatMap(pathsIn)) : [];
  return [cwd, ...new Set(words.map((word) => (word.startsWith('/') ? word : `${cwd}/${word}`)))];
}

/** A word that is an option may hold a path after its sign. */
function pathsIn(word: string): readonly string[] {
  const sign = word.indexOf('=');
  return [word, ...(sign === -1 ? [] : [word.slice(sign + 1)])].filter((each) => each !== '' && !each.includes('\0'));
}
