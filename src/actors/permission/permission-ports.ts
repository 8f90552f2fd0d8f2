/**
 * The ports of what decides whether a call runs: the folders that are the runtime's own, a check of the disk, a shell
 * parser, and the rules that outlast a session.
 */
import type { CommandCheck } from '../../machines/permission/command-check.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import type { ShellReading } from '../../machines/permission/shell-reading.ts';

/**
 * The port that knows which folders are the runtime's own: what lies in them decides what agents may do, so none
 * changes it unasked.
 */
export interface PlaceGuard {
  /**
   * Whether a path lies in such a folder once every link is followed. What belongs to the session does not.
   * @param path absolute, or from the workspace @param workspaceDirectory absolute: where the session works
   */
  protects(path: string, workspaceDirectory: string): Promise<boolean>;
  /** Whether an absolute path leads to a folder. */
  isFolder(path: string): Promise<boolean>;
}

/** The port to a check of the disk: whether commands whose words are known to be safe are so where they run. */
export interface CommandPlaces {
  /**
   * Why the commands are not safe after all, for people: a place that they name, or their folder, leads out of the
   * workspace or to a secret, or the repository names programs that git would run. Undefined when nothing speaks
   * against them. Never rejects: what cannot be checked is not safe. It is true for the moment of the check; the
   * commands must run at once.
   */
  problem(check: CommandCheck): Promise<string | undefined>;
}

// The port to a shell parser.

/** Reads a command line as `/bin/sh` would. Never throws: what it cannot be sure of is not understood. */
export type ReadShell = (command: string) => ShellReading;

// The port to the rules that outlast a session: where they are kept, nothing that an agent runs can write.

/** The question that was answered with a rule. */
interface RuleProvenance {
  readonly sessionId: string;
  readonly requestId: string;
}

export interface KeptRule {
  readonly rule: PermissionRule;
  /** ISO-8601; absent for what people wrote without it. */
  readonly since?: string | undefined;
  /** Absent for what people wrote. */
  readonly by?: RuleProvenance | undefined;
  /** Whether it is for every agent. Only people write those. */
  readonly isForEveryAgent: boolean;
}

export interface PolicyStore {
  /**
   * The rules for every agent, then those of this one, in the order in which they were kept. None for an agent without
   * rules.
   * @throws RuntimeError POLICY_INVALID when they cannot be read for sure: nothing may then be allowed by itself, for a
   * rule that is not read may be the one that forbids it
   */
  rules(agentId: string): Promise<readonly KeptRule[]>;
  /**
   * Keeps a rule for an agent, durably, beside all that others keep at the same time. One that is kept already stays as
   * it is.
   * @throws RuntimeError RULE_INVALID, POLICY_INVALID, POLICY_BUSY or STORAGE_FAILED; nothing is kept then
   */
  keep(agentId: string, rule: PermissionRule, options: { readonly by: RuleProvenance }): Promise<void>;
  /**
   * Takes a rule of this agent back, however its text is written. @returns false when it has none like it; rules for
   * every agent stay
   * @throws RuntimeError as `keep`
   */
  remove(agentId: string, ruleText: string): Promise<boolean>;
}
