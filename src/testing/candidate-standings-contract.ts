/** What every store of standings of candidates does. Each case wants a store of its own that is fresh and empty. */
import type { CandidateStandings } from '../actors/run/candidate-standings.ts';
import type { Candidate } from '../machines/run/candidate.ts';
import type { StandingReport } from '../machines/run/standing-table.ts';
import type { RunFailureKind } from '../machines/run/run-failure.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectRefusal, expectSame } from './expectations.ts';

export interface CandidateStandingsUnderTest {
  readonly standings: CandidateStandings;
  /** Another one over the same, as another process would have; the same one where there is no other. */
  readonly beside: CandidateStandings;
  /** Milliseconds since the epoch, by the clock of both. */
  readonly now: () => number;
  /** Moves that clock. */
  readonly advance: (durationMs: number) => void;
}

type Case = ContractCase<CandidateStandingsUnderTest>;

const ONE: Candidate = { provider: 'anthropic', model: 'large', profile: 'work' };
const SAME_ACCOUNT: Candidate = { ...ONE, model: 'small' };
const SAME_MODEL: Candidate = { ...ONE, profile: 'home' };
const NO_ACCOUNT: Candidate = { provider: 'ollama', model: 'large' };

const MINUTE_MS = 60_000;
/** A probe that has not reported for this long is forgotten. */
const PROBE_LIMIT_MS = 10 * MINUTE_MS;
const SUCCEEDED: StandingReport = { kind: 'succeeded' };

const failedBy = (kind: RunFailureKind): StandingReport => ({
  kind: 'failed',
  failure: { kind, message: `it was ${kind}` },
});
const iso = (epochMs: number): string => new Date(epochMs).toISOString();

async function stateOf(standings: CandidateStandings, candidate: Candidate): Promise<string | undefined> {
  return (await standings.read([candidate]))[0]?.state;
}

const keeping: readonly Case[] = [
  {
    name: 'know nothing of a candidate that was never tried, and let it be tried',
    async run({ standings }) {
      expectSame(
        await standings.read([ONE, NO_ACCOUNT]),
        [ONE, NO_ACCOUNT].map((candidate) => ({ candidate, state: 'closed', failures: 0, billingFailures: 0 })),
        'the standings',
      );
      expectSame(await standings.admit(ONE), { kind: 'admitted', isProbe: false }, 'the admission');
      expectSame(await standings.list(), [], 'all that is known');
    },
  },
  {
    name: 'tell every process what one has learned',
    async run({ standings, beside, now }) {
      const nowMs = now();
      const reported = await standings.report(ONE, failedBy('overloaded'));
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
      expectSame(await beside.admit(ONE), { kind: 'refused', standing: expected }, 'what another one is told');
    },
  },
  {
    name: 'hold a failure of one model with one account against no other',
    async run({ standings }) {
      await standings.report(ONE, failedBy('rate_limit'));
      const states = (await standings.read([ONE, SAME_ACCOUNT, SAME_MODEL, NO_ACCOUNT])).map(({ state }) => state);
      expectSame(states, ['cooling', 'closed', 'closed', 'closed'], 'the states');
    },
  },
  {
    name: 'remember when a candidate was used, whatever became of it',
    async run({ standings, beside, now, advance }) {
      await standings.report(ONE, SUCCEEDED);
      const first = now();
      advance(1_000);
      await beside.report(SAME_MODEL, failedBy('unknown'));
      expectSame(
        (await standings.read([ONE, SAME_MODEL])).map(({ state, lastUsedAt }) => ({ state, lastUsedAt })),
        [first, now()].map((at) => ({ state: 'closed', lastUsedAt: iso(at) })),
        'the standings',
      );
    },
  },
  {
    name: 'lose no report of many that come at once',
    async run({ standings, beside }) {
      const candidates = Array.from({ length: 20 }, (_, index): Candidate => ({ ...ONE, model: `model-${index}` }));
      await Promise.all(
        candidates.map((candidate, index) =>
          (index % 2 === 0 ? standings : beside).report(candidate, failedBy('timeout')),
        ),
      );
      expectSame(
        (await standings.read(candidates)).map(({ failures }) => failures),
        candidates.map(() => 1),
        'the failures of each',
      );
    },
  },
  {
    name: 'refuse what cannot be a candidate, and keep nothing of it',
    async run({ standings }) {
      await expectRefusal(
        standings.report({ provider: '', model: 'large' }, SUCCEEDED),
        'CANDIDATE_INVALID',
        'a report on it',
      );
      expectSame(await standings.list(), [], 'all that is known');
    },
  },
];

const probing: readonly Case[] = [
  {
    name: 'let exactly one of many who ask at once see whether a candidate has recovered',
    async run({ standings, beside, advance }) {
      await standings.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      const admissions = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? standings : beside).admit(ONE)),
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
    async run({ standings, beside, advance }) {
      await standings.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      await standings.admit(ONE);
      await standings.report(ONE, SUCCEEDED);
      expectSame(await beside.admit(ONE), { kind: 'admitted', isProbe: false }, 'the admission of another one');
    },
  },
  {
    name: 'keep every caller out for longer when the probe has failed',
    async run({ standings, beside, now, advance }) {
      await standings.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      await standings.admit(ONE);
      expectSame(
        (await standings.report(ONE, failedBy('server_error'))).until,
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
    async run({ standings, beside, advance }) {
      await standings.report(ONE, failedBy('server_error'));
      advance(MINUTE_MS);
      await standings.admit(ONE);
      await standings.report(ONE, { kind: 'abandoned' });
      expectSame(
        await beside.admit(ONE),
        { kind: 'admitted', isProbe: true },
        'the admission after a probe that was given up',
      );
      advance(PROBE_LIMIT_MS - 1);
      expectSame((await standings.admit(ONE)).kind, 'refused', 'the admission while the probe is out');
      advance(1);
      expectSame(await standings.admit(ONE), { kind: 'admitted', isProbe: true }, 'the admission once it is forgotten');
    },
  },
  {
    name: 'let in a caller that insists, and count no other as the probe',
    async run({ standings, beside, advance, now }) {
      await standings.report(ONE, failedBy('server_error'));
      expectSame(
        await standings.admit(ONE, { isPinned: true }),
        { kind: 'admitted', isProbe: false },
        'the admission of one who insists',
      );
      advance(MINUTE_MS);
      await beside.admit(ONE);
      await standings.report(ONE, { kind: 'abandoned' }, { startedAt: iso(now() - 1), isProbe: false });
      expectSame(await stateOf(beside, ONE), 'half_open', 'the state after another caller has given up');
    },
  },
  {
    name: 'do not take an old success for a recovery',
    async run({ standings, beside, advance, now }) {
      const startedAt = iso(now());
      advance(1_000);
      await beside.report(ONE, failedBy('overloaded'));
      expectSame((await standings.report(ONE, SUCCEEDED, { startedAt })).state, 'cooling', 'the state');
    },
  },
];

const forgetting: readonly Case[] = [
  {
    name: 'forget what people say is put right, and nothing else',
    async run({ standings, beside }) {
      for (const candidate of [ONE, SAME_ACCOUNT, SAME_MODEL, NO_ACCOUNT])
        await standings.report(candidate, failedBy('billing'));
      expectSame(await beside.reset({ profile: 'work' }), 2, 'how many of an account were forgotten');
      expectSame(
        (await standings.list()).map(({ candidate }) => candidate),
        [SAME_MODEL, NO_ACCOUNT],
        'who is left',
      );
      expectSame(await standings.reset({ provider: 'anthropic', profile: 'work' }), 0, 'how many were forgotten twice');
      expectSame(await standings.reset({ provider: 'ollama' }), 1, 'how many of a provider were forgotten');
      expectSame(await standings.reset(), 1, 'how many were forgotten in the end');
      expectSame(await beside.list(), [], 'who is left in the end');
    },
  },
];

export const candidateStandingsContract: readonly Case[] = named('standings of candidates', [
  ...keeping,
  ...probing,
  ...forgetting,
]);
