/**
 * How a case of the contract of backends is written, and what becomes of it for one backend: run, or skipped for a
 * reason that was given.
 */
import type { ContractCase } from './contract-case.ts';
import { expectThat } from './expectations.ts';
import type {
  AgentRuntimeCase,
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
  RunSituation,
  RunSituations,
} from './agent-runtime-contract-subject.ts';
import { RunsOfCase } from './agent-runtime-contract-runs.ts';

/** The situations that a case needs are there. */
export type RunsIn<Needed extends RunSituation> = RunsOfCase & {
  readonly given: Required<Pick<RunSituations, Needed>>;
};

export interface RunCase extends ContractCase<AgentRuntimeUnderTest> {
  readonly needs: readonly RunSituation[];
}

export function runCase<Needed extends RunSituation>(
  name: string,
  needs: readonly Needed[],
  check: (runs: RunsIn<Needed>) => Promise<void>,
): RunCase {
  return {
    name,
    needs,
    async run(subject) {
      const { situations } = subject;
      const missing = needs.filter((need) => situations[need] === undefined);
      expectThat(missing.length === 0, 'the situations that this case needs', {
        expected: 'each to be offered, or named in `cannot` with the reason',
        received: { missing },
      });
      const runs = new RunsOfCase(subject);
      try {
        // Checked right above, which the compiler cannot follow through the names.
        await check(Object.assign(runs, { given: situations as Required<Pick<RunSituations, Needed>> }));
      } finally {
        await runs.end();
      }
    },
  };
}

/** The case for one backend. */
export function caseFor(
  { name, needs, run }: RunCase,
  open: () => Promise<AgentRuntimeUnderTest>,
  { cannot = {} }: AgentRuntimeContractOptions,
): AgentRuntimeCase {
  const reasons = needs.flatMap((need) => (cannot[need] === undefined ? [] : [`${need}: ${cannot[need]}`]));
  if (reasons.length > 0) return { name, skipped: reasons.join('; '), run: () => Promise.resolve() };
  return {
    name,
    skipped: undefined,
    async run() {
      const subject = await open();
      try {
        await run(subject);
      } catch (error) {
        // What was found is worth more than what closing would say about it.
        await subject.close().catch(() => undefined);
        throw error;
      }
      await subject.close();
    },
  };
}
