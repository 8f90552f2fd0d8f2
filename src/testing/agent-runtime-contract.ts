/**
 * What every backend does, whatever runs the agent behind it. A subject brings about what its cases need by its own
 * means; what its technology does not know is named beforehand, and the cases that would need it are there to be
 * counted, each with the reason.
 */
import { caseFor } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { failingCases } from './agent-runtime-contract-failing.ts';
import { lifeCases } from './agent-runtime-contract-life.ts';
import { declaredCases, messageCases } from './agent-runtime-contract-messages.ts';
import { sessionCases } from './agent-runtime-contract-sessions.ts';
import { stepCases } from './agent-runtime-contract-steps.ts';
import { stoppingCases } from './agent-runtime-contract-stopping.ts';
import type {
  AgentRuntimeCase,
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
} from './agent-runtime-contract-subject.ts';
import { togetherCases } from './agent-runtime-contract-together.ts';
import { turnCases } from './agent-runtime-contract-turns.ts';

/** @param open a fresh subject for each case, which closes it */
export function agentRuntimeContract(
  open: () => Promise<AgentRuntimeUnderTest>,
  options: AgentRuntimeContractOptions,
): readonly AgentRuntimeCase[] {
  const ofKind: readonly RunCase[] = options.runs === 'step' ? stepCases : [...turnCases, ...sessionCases];
  const cases = [
    ...declaredCases(options),
    ...lifeCases,
    ...failingCases(options.failures),
    ...stoppingCases,
    ...togetherCases,
    ...messageCases,
    ...ofKind,
  ];
  return cases.map(({ name, needs, run }) => caseFor({ name: `a backend ${name}`, needs, run }, open, options));
}
