/** How a run fails, and what it keeps to itself then. */
import type { RunFailureKind } from '../machines/run/run-failure.ts';
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { TEXT, expectLife, expectNumbered, expectPlain } from './agent-runtime-contract-life.ts';
import type { RunsOfCase } from './agent-runtime-contract-runs.ts';
import type { RunSetting } from './agent-runtime-contract-subject.ts';
import { expectSame, expectThat } from './expectations.ts';

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
export function failingCases(kinds: readonly RunFailureKind[]): readonly RunCase[] {
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
