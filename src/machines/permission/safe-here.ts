/** Whether a command is safe in the folder where it runs and under the rules that are in force, as far as its words tell. */
import { workspacePath } from './path-glob.ts';
import type { PermissionRule } from './permission-rule.ts';
import { restrictionOf } from './rule-match.ts';
import { isAboutReading } from './rule-reach.ts';
import { safetyOf } from './safe-commands.ts';
import type { Safety } from './safe-commands.ts';
import { hasSecretName } from './sensitive-path.ts';
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
  const folder = workspacePath(situation.cwd, situation.workspaceDirectory);
  if (folder === undefined) return { safe: false, because: 'it would run outside the workspace' };
  if (hasSecretName(folder)) return { safe: false, because: `the folder "${folder}" may hold secrets` };
  const because = forbiddenReading(safety, situation);
  return because === undefined ? safety : { safe: false, because };
}

type SafeWords = Extract<Safety, { readonly safe: true }>;

function forbiddenReading(safety: SafeWords, situation: CommandSituation): string | undefined {
  const { workspaceDirectory, restricting } = situation;
  const { readsUnnamed } = safety;
  const places = placesOf(safety, situation);
  for (const rule of restricting.filter(isAboutReading)) {
    // Even what reads nothing at all is not worth a mistake.
    if (rule.pathGlob === undefined) return `a rule is against ${rule.tool}, and it may read`;
    for (const path of places) {
      const call = { subject: { kind: 'path', path, access: 'read', reachesBelow: readsUnnamed }, reading: { kind: 'not_understood', because: '' }, workspaceDirectory } as const;
      const { matches } = restrictionOf(rule, call, { isOwn: true });
      if (matches === 'yes' || (readsUnnamed && matches === 'perhaps')) return `a rule is against ${rule.tool} for "${rule.pathGlob}", which it may show`;
    }
  }
  return undefined;
}

/** Where it reads. What git knows of files is not bound to the folder it runs in. */
function placesOf({ paths, usesGit, readsUnnamed }: SafeWords, { cwd, workspaceDirectory }: CommandSituation): readonly string[] {
  if (readsUnnamed && usesGit) return [workspaceDirectory];
  return readsUnnamed && paths.length === 0 ? [cwd] : paths.map((path) => `${cwd}/${path}`);
}
