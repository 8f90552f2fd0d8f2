/**
 * What every backend does, whatever runs the agent behind it. A subject brings about what its cases need by its own
 * means; what its technology does not know is named beforehand, and the cases that would need it are there to be
 * counted, each with the reason.
 */
import type { RunFailureKind } from '../machines/run/run-failure.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { caseFor, runCase } from './agent-runtime-contract-case.ts';
import { expectLife, expectNumbered, expectPlain, lifeCases, TEXT } from './agent-runtime-contract-life.ts';
import { declaredCases, messageCases } from './agent-runtime-contract-messages.ts';
import type { RunsOfCase } from './agent-runtime-contract-runs.ts';
import { sessionCases } from './agent-runtime-contract-sessions.ts';
import { stepCases } from './agent-runtime-contract-steps.ts';
import { stoppingCases } from './agent-runtime-contract-stopping.ts';
import type {
  AgentRuntimeCase,
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
  RunSetting,
} from './agent-runtime-contract-subject.ts';
import { togetherCases } from './agent-runtime-contract-together.ts';
import { turnCases } from './agent-runtime-contract-turns.ts';
import { expectSame, expectThat } from './expectations.ts';

// How a run fails, and what it keeps to itself then.

const SECRET = 'contract-secret-7f3a91c05d';

function failureCase(kind: RunFailureKind): RunCase {
  return runCase(
    `fails with the kind ${kind} as a result, and announces the same failure last`,
    ['fails'],
    async (runs) => {
      const run = runs.start(await runs.given.fails(kind));
      const result = await expectLife(run, 'error');
      const error = result.meta?.error;
      expectSame(error?.kind, kind, 'the kind of the failure');
      expectThat((error?.message ?? '').trim() !== '', 'what the failure says', {
        expected: 'a sentence',
        received: error?.message,
      });
      const { data } = run.events.at(-1) ?? {};
      expectSame(data, { phase: 'error', error }, 'the last event');
      expectNumbered(run);
      expectPlain(result, run.events);
    },
  );
}

/** Neither what a run tells nor what it resolves with holds the secret of its account. */
async function expectDiscretion(runs: RunsOfCase, change: Partial<RunSetting>): Promise<void> {
  const credential = {
    profileId: 'contract',
    ...runs.subject.setting.credential,
    ...change.credential,
    secret: SECRET,
  };
  const run = runs.start({ ...change, credential });
  const everything = JSON.stringify([await run.result, run.events]);
  const place = everything.indexOf(SECRET);
  expectSame(
    place === -1 ? 'nowhere' : everything.slice(Math.max(0, place - 60), place + SECRET.length),
    'nowhere',
    'where the secret is told',
  );
}

/** One case for each kind. */
function failingCases(kinds: readonly RunFailureKind[]): readonly RunCase[] {
  const [kind = 'unknown'] = kinds;
  return [
    ...[...new Set(kinds)].map(failureCase),

    runCase(
      'is not active any more when it has failed, and takes the same id again',
      ['fails', 'answers'],
      async (runs) => {
        const run = runs.start(await runs.given.fails(kind));
        await run.result;
        expectSame(runs.subject.runtime.isRunActive(run.runId), false, 'whether it is active');
        await expectLife(runs.start(await runs.given.answers(TEXT), { runId: run.runId }), 'end');
      },
    ),

    runCase('leaves nothing behind when it has failed', ['fails'], async (runs) => {
      await runs.start(await runs.given.fails(kind)).result;
      expectSame(await runs.subject.leftBehind(), [], 'what is left');
    }),

    runCase('keeps the secret of its account to itself when it answers', ['answers'], async (runs) => {
      await expectDiscretion(runs, await runs.given.answers(TEXT));
    }),

    runCase('keeps the secret of its account to itself when it fails', ['fails'], async (runs) => {
      for (const each of kinds) await expectDiscretion(runs, await runs.given.fails(each));
    }),

    runCase('keeps the secret of its account to itself when others tell it', ['tells'], async (runs) => {
      await expectDiscretion(runs, await runs.given.tells(SECRET));
    }),
  ];
}

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
