import { MemoryPolicyStore } from '../../../src/adapters/memory/memory-policy-store.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { describePolicyStore } from '../../contracts/policy-store.contract.ts';

describePolicyStore('a store in memory', async ({ nowMs, forEveryAgent }) => {
  const store = new MemoryPolicyStore({
    clock: { now: () => nowMs },
    forEveryAgent: forEveryAgent.map((text) => parseRule(text)),
  });
  return { store, beside: store, dispose: async () => undefined };
});
