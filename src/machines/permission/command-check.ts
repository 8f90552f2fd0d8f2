/** What has to be checked on the disk before a command runs only because it is known to be safe. */
import { patternsInWorkspace } from './mounted-path.ts';
import type { PermissionDecision, PermissionQuestion } from './permission-decision.ts';
import { allowsCommand } from './rule-match.ts';
import { isAboutReading } from './rule-reach.ts';
import { safetyOf } from './safe-commands.ts';
import { inEachFolder } from './shell-reading.ts';

interface CheckedCommand {
  /** Never empty. */
  readonly argv: readonly string[];
  /** Its words that name places, from `cwd`. For git they may be revisions. */
  readonly paths: readonly string[];
  /** Patterns of a shell that find places, likewise. Absent: none. */
  readonly patterns?: readonly string[] | undefined;
  readonly usesGit: boolean;
  /** Every folder in which it may run, from `cwd`. Absent: only there. */
  readonly folders?: readonly string[] | undefined;
}

export interface CommandCheck {
  /** Those that are not allowed by a rule. Never empty. */
  readonly commands: readonly CheckedCommand[];
  /** Absolute: where they run. */
  readonly cwd: string;
  /** Absolute. */
  readonly workspaceDirectory: string;
  /** Patterns of paths, from the workspace, that may not be read unasked. */
  readonly forbidden: readonly string[];
}

/**
 * What to check before the decision can be trusted; undefined when it is no `allow`, or rules or the mode alone allow
 * it.
 */
export function checkOf(question: PermissionQuestion, decision: PermissionDecision): CommandCheck | undefined {
  const { subject, reading, policy, sessionRules, workspaceDirectory, definition } = question;
  if (decision.decision !== 'allow' || decision.by === 'preapproved' || decision.by === 'read_only') return undefined;
  if (subject.kind !== 'shell' || reading?.kind !== 'commands') return undefined;
  const rules = [...policy, ...sessionRules];
  const allowing = rules.filter(({ effect, tool }) => effect === 'allow' && tool === definition.name);
  const commands = inEachFolder(reading.commands).flatMap((command): CheckedCommand[] => {
    const safety = safetyOf(command);
    if (!safety.safe || allowing.some((rule) => allowsCommand(rule, command, { cwd: subject.cwd, workspaceDirectory })))
      return [];
    const { paths, patterns, usesGit } = safety;
    const { argv, folders } = command;
    return [
      {
        argv,
        paths,
        usesGit,
        ...(patterns.length === 0 ? {} : { patterns }),
        ...(folders === undefined ? {} : { folders }),
      },
    ];
  });
  if (commands.length === 0) return undefined;
  const forbidden = rules
    .filter((rule) => rule.effect !== 'allow' && isAboutReading(rule))
    .flatMap(({ pathGlob }) => (pathGlob === undefined ? [] : patternsInWorkspace(pathGlob, workspaceDirectory)));
  return { commands, cwd: subject.cwd, workspaceDirectory, forbidden };
}
