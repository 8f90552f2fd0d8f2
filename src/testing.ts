/**
 * What tests of code built on Wakechart need: time that stands still until it is moved, tests that are made from a chart,
 * and the contracts of the ports as cases for any test framework.
 */
export { createSimulatedClock } from './actors/clock/simulated-clock.ts';
export type { SimulatedClock } from './actors/clock/simulated-clock.ts';
export { chartPaths, checkChart } from './testing/check-chart.ts';
export type { ChartPaths } from './machines/inspection/chart-paths.ts';
export type { ChartStep } from './machines/inspection/chart-step.ts';
export type { ChartAdapter, ChartWorld } from './testing/chart-adapter.ts';
export { coverChart } from './testing/chart-cover.ts';
export type { ChartCover } from './testing/chart-cover.ts';
export { activationIndexContract } from './testing/activation-index-contract.ts';
export { agentRuntimeContract } from './testing/agent-runtime-contract.ts';
export type {
  AgentRuntimeCase,
  AgentRuntimeUnderTest,
  RunSetting,
  RunSituations,
} from './testing/agent-runtime-contract-subject.ts';
export { authProfilesContract } from './testing/auth-profiles-contract.ts';
export { candidateHealthContract } from './testing/candidate-health-contract.ts';
export type { ContractCase, ContractSubject } from './testing/contract-case.ts';
export { eventStoreContract } from './testing/event-store-contract.ts';
export { workspaceCopyStoreContract } from './testing/workspace-copy-store-contract.ts';
export { wakeRightContract } from './testing/wake-right-contract.ts';
export { subagentRunnerContract } from './testing/subagent-runner-contract.ts';
export { worktreeAdapterContract } from './testing/worktree-adapter-contract.ts';
export { learningStoreContract } from './testing/learning-store-contract.ts';
export { sharedFilesStoreContract } from './testing/shared-files-store-contract.ts';
