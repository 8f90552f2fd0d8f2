/**
 * Whether a command is safe in the folder where it runs and under the rules that are in force, as far as its words
 * tell.
 */
import { workspacePath } from './path-glob.ts';
import type { PermissionRule } from './permission-rule.ts';
import { restrictionOf } from './rule-match.ts';
import { isAboutReading } from './rule-reach.ts';
import { safetyOf } from './safe-commands.ts';
import type { Safety } from './safe-commands.ts';
import { hasSecretName } from './sensitive-path.ts';
import { foldersOf } from './shell-reading.ts';
import type { ShellCommand } from './shell-reading.ts';

export interface CommandSituation {
  /** Absolute: where the command runs. */
  readonly cwd: string;
  readonly workspaceDirectory: string;
  /** All rules that deny or ask. */
  readonly restricting: readonly PermissionRule[];
}

export function safetyHere(command: ShellCommand, situation: CommandSituation): Safety {
  const safety = safetyOf(command);
  if (!safety.safe) return safety;
  for (const folder of foldersOf(command)) {
    const because = problemIn(safety, { ...situation, cwd: `${situation.cwd}/${folder}` });
    if (because !== undefined) return { safe: false, because };
  }
  return safety;
}

function problemIn(safety: SafeWords, situation: CommandSituation): string | undefined {
  const folder = workspacePath(situation.cwd, situation.workspaceDirectory);
  if (folder === undefined) return 'it would run outside the workspace';
  return hasSecretName(folder) ? `the folder "${folder}" may hold secrets` : forbiddenReading(safety, situation);
}

type SafeWords = Extract<Safety, { readonly safe: true }>;

function forbiddenReading(safety: SafeWords, situation: CommandSituation): string | undefined {
  const { workspaceDirectory, restricting } = situation;
  const readsUnnamed = safety.readsUnnamed || safety.patterns.length > 0;
  const places = placesOf({ ...safety, readsUnnamed }, situation);
  for (const rule of restricting.filter(isAboutReading)) {
    // Even what reads nothing at all is not worth a mistake.
    if (rule.pathGlob === undefined) return `a rule is against ${rule.tool}, and it may read`;
    for (const path of places) {
      const call = {
        subject: { kind: 'path', path, access: 'read', reachesBelow: readsUnnamed },
        reading: { kind: 'not_understood', because: '' },
        workspaceDirectory,
      } as const;
      const { matches } = restrictionOf(rule, call, { isOwn: true });
      if (matches === 'yes' || (readsUnnamed && matches === 'perhaps'))
        return `a rule is against ${rule.tool} for "${rule.pathGlob}", which it may show`;
    }
  }
  return undefined;
}

/** Where it reads. What git knows of files is not bound to the folder it runs in. */
function placesOf(
  { paths, patterns, usesGit, readsUnnamed }: SafeWords,
  { cwd, workspaceDirectory }: CommandSituation,
): readonly string[] {
  if (readsUnnamed && usesGit) return [workspaceDirectory];
  const all = [...paths, ...patterns.map(folderAbove)];
  return readsUnnamed && all.length === 0 ? [cwd] : all.map((path) => `${cwd}/${path}`);
}

/** What a pattern finds lies below it. */
function folderAbove(pattern: string): string {
  const segments = pattern.split('/');
  const wild = segments.findIndex((segment) => /[*?[{]/.test(segment));
  return segments.slice(0, wild === -1 ? segments.length : wild).join('/');
}
