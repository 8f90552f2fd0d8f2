/** The port to the rules that outlast a session: where they are kept, nothing that an agent runs can write. */
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';

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
