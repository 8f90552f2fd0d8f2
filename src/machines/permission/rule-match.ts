/**
 * Whether a rule is about a call. What allows is read narrowly, what denies widely: where a rule that denies cannot be
 * held against a call for sure, the answer is `perhaps`, and a person is asked.
 */
import { plainArgv } from './command-name.ts';
import { hidesWhatItRuns } from './command-power.ts';
import { areCovered } from './further-words.ts';
import { allowedPath, restrictedPaths } from './mounted-path.ts';
import { isKnownFolderOf, matchesAllBelow, matchesGlob, mayMatchBelow, workspacePath } from './path-glob.ts';
import type { PermissionRule } from './permission-rule.ts';
import type { PermissionSubject } from './permission-subject.ts';
import { safetyOf } from './safe-commands.ts';
import { foldersOf, isSpelledOut } from './shell-reading.ts';
import type { ShellCommand, ShellReading } from './shell-reading.ts';

/** What a rule that denies or asks has to say. `because` is for people. */
export type Restriction =
  | { readonly matches: 'yes' | 'no' }
  | { readonly matches: 'perhaps'; readonly because: string };

type PathSubject = Extract<PermissionSubject, { readonly kind: 'path' }>;

const NO: Restriction = { matches: 'no' };
const YES: Restriction = { matches: 'yes' };

export interface JudgedCall {
  readonly subject: PermissionSubject;
  readonly reading: ShellReading;
  readonly workspaceDirectory: string;
}

/** For a rule that denies or asks, and restricts the tool (see `restricts`). */
export function restrictionOf(
  rule: PermissionRule,
  { subject, reading, workspaceDirectory }: JudgedCall,
  { isOwn }: { readonly isOwn: boolean },
): Restriction {
  const { commandPrefix, pathGlob } = rule;
  if (commandPrefix === undefined && pathGlob === undefined) return YES;
  if (subject.kind === 'shell' && commandPrefix !== undefined) return restrictionOnLine(rule, subject, reading);
  if (subject.kind === 'path' && pathGlob !== undefined)
    return restrictionOnPath(pathGlob, subject, workspaceDirectory);
  // A rule about the commands of another tool says nothing about a call that is none.
  if (!isOwn && commandPrefix !== undefined) return NO;
  return { matches: 'perhaps', because: 'there is a rule against some of its calls, which cannot be told apart here' };
}

function restrictionOnLine(
  rule: PermissionRule,
  { isolated }: Extract<PermissionSubject, { kind: 'shell' }>,
  reading: ShellReading,
): Restriction {
  if (reading.kind === 'not_understood')
    return {
      matches: 'perhaps',
      because: `there are rules about commands, and this line is not understood: ${reading.because}`,
    };
  const all = reading.commands.map((command) => restrictionOnCommand(rule, command));
  if (all.some(({ matches }) => matches === 'yes')) return YES;
  if (isolated === false)
    return {
      matches: 'perhaps',
      because: 'there are rules about commands, and this shell may have been told what its commands mean',
    };
  return all.find(({ matches }) => matches === 'perhaps') ?? NO;
}

function restrictionOnCommand({ commandPrefix = [], exact }: PermissionRule, command: ShellCommand): Restriction {
  const [name = '', ...words] = plainArgv(command.argv);
  if (hidesWhatItRuns(command.argv) && !safetyOf(command).safe)
    return { matches: 'perhaps', because: `there are rules about commands, and what ${name} runs cannot be told` };
  const [ruledName, ...wanted] = plainArgv(commandPrefix);
  if (ruledName !== name) return NO;
  if (wanted.every((word, index) => word === words[index]) && (exact !== true || words.length === wanted.length))
    return YES;
  if (command.open !== undefined)
    return {
      matches: 'perhaps',
      because: `there is a rule about ${commandPrefix.join(' ')}, and the shell decides what ${name} is given`,
    };
  if (exact === true) return NO;
  return mayBeWrittenOtherwise(wanted, words)
    ? { matches: 'perhaps', because: `there is a rule about ${commandPrefix.join(' ')}, which this may be` }
    : NO;
}

/**
 * The same can be said with other options before it, with more words in between, and with its own options written in
 * another way.
 */
function mayBeWrittenOtherwise(wanted: readonly string[], words: readonly string[]): boolean {
  if (wanted.length > 0 && words[0]?.startsWith('-') === true) return true;
  const plain = wanted.filter((word) => !word.startsWith('-'));
  const hasOptions = plain.length < wanted.length;
  return isSubsequence(plain, words) && (!hasOptions || words.some((word) => word.startsWith('-')));
}

function isSubsequence(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at += 1;
  return at === wanted.length;
}

function restrictionOnPath(pattern: string, subject: PathSubject, workspaceDirectory: string): Restriction {
  const ways = restrictedPaths(pattern, subject, workspaceDirectory);
  if (ways === undefined)
    return {
      matches: 'perhaps',
      because: 'there are rules about paths, and this one cannot be followed from the workspace',
    };
  if (ways.some(({ glob, path }) => matchesGlob(glob, path, { matching: 'wide' }))) return YES;
  const isAbove = ways.some(({ glob, path }) =>
    subject.reachesBelow === true ? mayMatchBelow(glob, path, { matching: 'wide' }) : isKnownFolderOf(glob, path),
  );
  return isAbove ? { matches: 'perhaps', because: 'there is a rule about something below that folder' } : NO;
}

/** Where a line would run; both absolute. */
export interface LinePlace {
  readonly cwd: string;
  readonly workspaceDirectory: string;
}

/** For a rule that allows, of the same tool: whether it allows this one command in every folder in which it may run. */
export function allowsCommand(
  { commandPrefix, exact, folder }: PermissionRule,
  command: ShellCommand,
  { cwd, workspaceDirectory }: LinePlace,
): boolean {
  const { argv } = command;
  // Without words it would allow every line, which only the mode of an agent may do.
  if (
    commandPrefix === undefined ||
    !isSpelledOut(command) ||
    !commandPrefix.every((word, index) => word === argv[index])
  )
    return false;
  const isWithin = foldersOf(command).every((each) => {
    const inside = workspacePath(`${cwd}/${each}`, workspaceDirectory);
    return (
      inside !== undefined &&
      (folder === undefined ? inside === '' : matchesGlob(folder, inside, { matching: 'strict' }))
    );
  });
  return isWithin && (exact === true ? argv.length === commandPrefix.length : areCovered(argv, commandPrefix.length));
}

/** For a rule that allows, of the same tool: whether it allows a call on this path. */
export function allowsPath(
  { pathGlob, commandPrefix }: PermissionRule,
  subject: Pick<PathSubject, 'path' | 'mount' | 'reachesBelow'>,
  workspaceDirectory: string,
): boolean {
  const way = commandPrefix === undefined ? allowedPath(pathGlob, subject, workspaceDirectory) : undefined;
  const matches = subject.reachesBelow === true ? matchesAllBelow : matchesGlob;
  return way !== undefined && matches(way.glob, way.path, { matching: 'strict' });
}

/** For a rule that allows, of the same tool: whether it allows every call of it. */
export function allowsTool({ commandPrefix, pathGlob }: PermissionRule): boolean {
  return commandPrefix === undefined && pathGlob === undefined;
}
