/** What every store of the health of candidates does. Each case wants a store of its own that is fresh and empty. */
import type { CandidateHealthStore } from '../actors/run/candidate-health-store.ts';
import type { Candidate } from '../machines/run/candidate.ts';
import type { HealthReport } from '../machines/run/health-table.ts';
import type { RunFailureKind } from '../machines/run/run-failure.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectRefusal, expectSame } from './expectations.ts';

export interface CandidateHealthStoreUnderTest {
  readonly candidateHealth: CandidateHealthStore;
  /** Another one over the same, as another process would have; the same one where there is no other. */
  readonly beside: CandidateHealthStore;
  /** Milliseconds since the epoch, by the clock of both. */
  readonly now: () => number;
  /** Moves that clock. */
  readonly advance: (durationMs: number) => void;
}

type Case = ContractCase<CandidateHealthStoreUnderTest>;

const ONE: Candidate = { provider: 'anthropic', model: 'large', profile: 'work' };
const SAME_ACCOUNT: Candidate = { ...ONE, model: 'small' };
const SAME_MODEL: Candidate = { ...ONE, profile: 'home' };
const NO_ACCOUNT: Candidate = { provider: 'ollama', model: 'large' };

const MINUTE_MS = 60_000;
/** A probe that has not reported for this long is forgotten. */
const PROBE_LIMIT_MS = 10 * MINUTE_MS;
const SUCCEEDED: HealthReport = { kind: 'succeeded' };

const failedBy = (kind: RunFailureKind): HealthReport => ({
  kind: 'failed',
  failure: { kind, message: `it was ${kind}` },
});
const iso = (epochMs: number): string => new Date(epochMs).toISOString();

async function stateOf(candidateHealth: CandidateHealthStore, candidate: Candidate): Promise<string | undefined> {
  return (await candidateHealth.read([candidate]))[0]?.state;
}

const keeping: readonly Case[] = [
  {
    name: 'know nothing of a candidate that was never tried, and let it be tried',
    async run({ candidateHealth }) {
      expectSame(
        await candidateHealth.read([ONE, NO_ACCOUNT]),
        [ONE, NO_ACCOUNT].map((candidate) => ({ candidate, state: 'closed', failures: 0, billingFailures: 0 })),
        'the health',
      );
      expectSame(await candidateHealth.admit(ONE), { kind: 'admitted', isProbe: false }, 'the admission');
      expectSame(await candidateHealth.list(), [], 'all that is known');
    },
  },
  {
    name: 'tell every process what one has learned',
    async run({ candidateHealth, beside, now }) {
      const nowMs = now();
      const reported = await candidateHealth.report(ONE, failedBy('overloaded'));
      const expected = {
        candidate: ONE,
        state: 'cooling',
        until: iso(nowMs + MINUTE_MS),
        because: { kind: 'overloaded', message: 'it was overloaded' },
        failures: 1,
        billingFailures: 0,
        lastFailureAt: iso(nowMs),
        lastUsedAt: iso(nowMs),
      };
      expectSame(reported, expected, 'the answer to the report');
      expectSame(await beside.read([ONE]), [expected], 'what another one reads');
      expectSame(await beside.list(), [expected], 'what another one lists');
      expectSame(await beside.admit(ONE), { kind: 'refused', health: expected }, 'what another one is told');
    },
  },
  {
    name: 'hold a failure of one model with one account against no other',
    async run({ candidateHealth }) {
      await candidateHealth.report(ONE, failedBy('rate_limit'));
      const states = (await candidateHealth.read([ONE, SAME_ACCOUNT, SAME_MODEL, NO_ACCOUNT])).map(
        ({ state }) => state,
      );
      expectSame(states, ['cooling', 'closed', 'closed', 'closed'], 'the states');
    },
  },
  {
    name: 'remember when a candidate was used, whatever became of it',
    async run({ candidateHealth, beside, now, advance }) {
      await candidateHealth.report(ONE, SUCCEEDED);
      const first = now();
      advance(1_000);
      await beside.report(SAME_MODEL, failedBy('unknown'));
      expectSame(
        (await candidateHealth.read([ONE, SAME_MODEL])).map(({ state, lastUsedAt }) => ({ state, lastUsedAt })),
        [first, now()].map((at) => ({ state: 'closed', lastUsedAt: iso(at) })),
        'the health',
      );
    },
  },
  {
    name: 'lose no report of many that come at once',
    async run({ candidateHealth, beside }) {
      const candidates = Array.from({ length: 20 }, (_, index): Candidate => ({ ...ONE, model: `model-${index}` }));
      await Promise.all(
        candidates.map((candidate, index) =>
          (index % 2 === 0 ? candidateHealth : beside).report(candidate, failedBy('timeout')),
        ),
      );
      expectSame(
        (await candidateHealth.read(candidates)).map(({ failures }) => failures),
        candidates.map(() => 1),
        'the failures of each',
      );
    },
  },
  {
    name: 'refuse what cannot be a candidate, and keep nothing of it',
    async run({ candidateHealth }) {
      await expectRefusal(
        candidateHealth.report({ provider: '', model: 'large' }, SUCCEEDED),
        'CANDIDATE_INVALID',
        'a report on it',
      );
      expectSame(await candidateHealth.list(), [], 'all that is known');
    },
  },
];

const probing: readonly Case[] = [
  {
    name: 'let exactly one of many who ask at once see whether a candidate has recovered',
    async run({ candidateHealth, beside, advance }) {
      await candidateHealth.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      const admissions = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? candidateHealth : beside).admit(ONE)),
      );
      expectSame(
        admissions.filter(({ kind }) => kind === 'admitted'),
        [{ kind: 'admitted', isProbe: true }],
        'the admissions',
      );
      expectSame(await stateOf(beside, ONE), 'half_open', 'the state');
    },
  },
  {
    name: 'let every caller in again when the probe has succeeded',
    async run({ candidateHealth, beside, advance }) {
      await candidateHealth.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      await candidateHealth.admit(ONE);
      await candidateHealth.report(ONE, SUCCEEDED);
      expectSame(await beside.admit(ONE), { kind: 'admitted', isProbe: false }, 'the admission of another one');
    },
  },
  {
    name: 'keep every caller out for longer when the probe has failed',
    async run({ candidateHealth, beside, now, advance }) {
      await candidateHealth.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      await candidateHealth.admit(ONE);
      expectSame(
        (await candidateHealth.report(ONE, failedBy('server_error'))).until,
        iso(now() + 5 * MINUTE_MS),
        'the end of its rest',
      );
      advance(5 * MINUTE_MS - 1);
      expectSame((await beside.admit(ONE)).kind, 'refused', 'the admission a millisecond before its end');
      advance(1);
      expectSame(await beside.admit(ONE), { kind: 'admitted', isProbe: true }, 'the admission at its end');
    },
  },
  {
    name: 'let the next one go when a probe was given up, or never came back',
    async run({ candidateHealth, beside, advance }) {
      await candidateHealth.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      await candidateHealth.admit(ONE);
      await candidateHealth.report(ONE, { kind: 'abandoned' });
      expectSame(
        await beside.admit(ONE),
        { kind: 'admitted', isProbe: true },
        'the admission after a probe that was given up',
      );
      advance(PROBE_LIMIT_MS - 1);
      expectSame((await candidateHealth.admit(ONE)).kind, 'refused', 'the admission while the probe is out');
      advance(1);
      expectSame(
        await candidateHealth.admit(ONE),
        { kind: 'admitted', isProbe: true },
        'the admission once it is forgotten',
      );
    },
  },
  {
    name: 'let in a caller that insists, and count no other as the probe',
    async run({ candidateHealth, beside, advance, now }) {
      await candidateHealth.report(ONE, failedBy('server_error'));
      expectSame(
        await candidateHealth.admit(ONE, { isPinned: true }),
        { kind: 'admitted', isProbe: false },
        'the admission of one who insists',
      );
      advance(MINUTE_MS);
      await beside.admit(ONE);
      await candidateHealth.report(ONE, { kind: 'abandoned' }, { startedAt: iso(now() - 1), isProbe: false });
      expectSame(await stateOf(beside, ONE), 'half_open', 'the state after another caller has given up');
    },
  },
  {
    name: 'do not take an old success for a recovery',
    async run({ candidateHealth, beside, advance, now }) {
      const startedAt = iso(now());
      advance(1_000);
      await beside.report(ONE, failedBy('overloaded'));
      expectSame((await candidateHealth.report(ONE, SUCCEEDED, { startedAt })).state, 'cooling', 'the state');
    },
  },
];

const forgetting: readonly Case[] = [
  {
    name: 'forget what people say is put right, and nothing else',
    async run({ candidateHealth, beside }) {
      for (const candidate of [ONE, SAME_ACCOUNT, SAME_MODEL, NO_ACCOUNT])
        await candidateHealth.report(candidate, failedBy('billing'));
      expectSame(await beside.reset({ profile: 'work' }), 2, 'how many of an account were forgotten');
      expectSame(
        (await candidateHealth.list()).map(({ candidate }) => candidate),
        [SAME_MODEL, NO_ACCOUNT],
        'who is left',
      );
      expectSame(
        await candidateHealth.reset({ provider: 'anthropic', profile: 'work' }),
        0,
        'how many were forgotten twice',
      );
      expectSame(await candidateHealth.reset({ provider: 'ollama' }), 1, 'how many of a provider were forgotten');
      expectSame(await candidateHealth.reset(), 1, 'how many were forgotten in the end');
      expectSame(await beside.list(), [], 'who is left in the end');
    },
  },
];

export const candidateHealthContract: readonly Case[] = named('the health of candidates', [
  ...keeping,
  ...probing,
  ...forgetting,
]);
