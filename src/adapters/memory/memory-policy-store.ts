/** Rules remembered for as long as the process lives. */
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { KeptRule, PolicyStore } from '../../actors/permission/permission-ports.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import { checkRule, formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import { parseOrThrow } from '../../machines/validate.ts';

export interface MemoryPolicyStoreOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Rules for every agent. */
  readonly forEveryAgent?: readonly PermissionRule[] | undefined;
}

export class MemoryPolicyStore implements PolicyStore {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #forEveryAgent: readonly KeptRule[];
  /** By agent, then by the text of the rule. */
  readonly #kept = new Map<string, Map<string, KeptRule>>();

  constructor({ clock, forEveryAgent = [] }: MemoryPolicyStoreOptions) {
    this.#clock = clock;
    this.#forEveryAgent = forEveryAgent.map((rule) => Object.freeze({ rule: checkRule(rule), isForEveryAgent: true }));
  }

  async rules(agentId: string): Promise<readonly KeptRule[]> {
    return [...this.#forEveryAgent, ...(this.#kept.get(checkedAgent(agentId))?.values() ?? [])];
  }

  async keep(agentId: string, rule: PermissionRule, { by }: Parameters<PolicyStore['keep']>[2]): Promise<void> {
    const checked = checkRule(rule);
    const ofAgent = this.#kept.get(checkedAgent(agentId)) ?? new Map<string, KeptRule>();
    const text = formatRule(checked);
    if (!ofAgent.has(text))
      ofAgent.set(
        text,
        Object.freeze({ rule: checked, since: isoTimeOf(this.#clock.now()), by: { ...by }, isForEveryAgent: false }),
      );
    this.#kept.set(agentId, ofAgent);
  }

  async remove(agentId: string, ruleText: string): Promise<boolean> {
    const text = formatRule(parseRule(ruleText));
    return this.#kept.get(checkedAgent(agentId))?.delete(text) ?? false;
  }
}

function checkedAgent(agentId: string): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_INVALID' });
}
