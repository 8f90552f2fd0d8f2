/** The contracts of accounts and of the health of candidates find what is wrong with stores that have one flaw each. */
import { describe, expect, it } from 'vitest';
import type { CandidateHealthStore } from '../../src/actors/run/candidate-health-store.ts';
import type { SecretCommandEnd } from '../../src/actors/run/secret-reader.ts';
import { MemoryAuthProfiles } from '../../src/adapters/memory/memory-auth-profiles.ts';
import { MemoryCandidateHealthStore } from '../../src/adapters/memory/memory-candidate-health-store.ts';
import { authProfilesContract, candidateHealthContract } from '../../src/testing.ts';
import type { ContractCase, ContractSubject } from '../../src/testing.ts';

async function failuresOf<Subject>(contract: readonly ContractCase<Subject>[], open: () => Subject): Promise<string[]> {
  const failures: string[] = [];
  for (const { name, run } of contract) await run(open()).catch(() => failures.push(name));
  return failures;
}

const FLAWED_STATES: Readonly<Record<string, (sound: MemoryCandidateHealthStore) => Partial<CandidateHealthStore>>> = {
  'lets everybody probe': (sound) => ({
    admit: async (candidate, options) => ({
      ...(await sound.admit(candidate, options)),
      kind: 'admitted',
      isProbe: true,
    }),
  }),
  'lets nobody insist': (sound) => ({ admit: (candidate) => sound.admit(candidate) }),
  'takes every report for the newest': (sound) => ({
    report: (candidate, outcome) => sound.report(candidate, outcome),
  }),
  'does not take probes back': (sound) => ({
    report: async (candidate, outcome, attempt) =>
      outcome.kind === 'abandoned'
        ? ((await sound.read([candidate]))[0] ?? sound.report(candidate, outcome))
        : sound.report(candidate, outcome, attempt),
  }),
  'knows accounts only, not models': (sound) => ({
    report: (candidate, outcome, attempt) => sound.report({ ...candidate, model: 'large' }, outcome, attempt),
  }),
  'forgets more than it is told to': (sound) => ({ reset: () => sound.reset() }),
};

function healthWith(flaw: (sound: MemoryCandidateHealthStore) => Partial<CandidateHealthStore>) {
  let nowMs = Date.UTC(2026, 0, 1);
  const sound = new MemoryCandidateHealthStore({ clock: { now: () => nowMs } });
  const whole: CandidateHealthStore = {
    read: (candidates) => sound.read(candidates),
    admit: (candidate, options) => sound.admit(candidate, options),
    report: (candidate, outcome, attempt) => sound.report(candidate, outcome, attempt),
    reset: (filter) => sound.reset(filter),
    list: () => sound.list(),
  };
  const candidateHealth = { ...whole, ...flaw(sound) };
  const advance = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return { candidateHealth, beside: candidateHealth, now: () => nowMs, advance };
}

describe('the contract of the health of candidates', () => {
  it('is kept by those in memory', async () =>
    expect(await failuresOf(candidateHealthContract, () => healthWith(() => ({})))).toEqual([]));

  it.each(Object.entries(FLAWED_STATES))('finds a store that %s', async (_, flaw) =>
    expect(await failuresOf(candidateHealthContract, () => healthWith(flaw))).not.toEqual([]),
  );
});

function profilesWith(flaw: {
  readonly keepsForever?: boolean;
  readonly checksNothing?: boolean;
  readonly runsForEach?: boolean;
}): ContractSubject<typeof authProfilesContract> {
  const environment: Record<string, string | undefined> = {};
  const commands: (readonly string[])[] = [];
  let steadyMs = 0;
  let ends: readonly SecretCommandEnd[] = [];
  const open = () =>
    new MemoryAuthProfiles({
      environment,
      clock: { steadyNow: () => (flaw.keepsForever === true ? 0 : steadyMs) },
      runCommand: async (command) => {
        commands.push(command);
        const [end = { kind: 'failed', because: 'was not expected' }, ...rest] = ends;
        if (rest.length > 0) ends = rest;
        return end;
      },
    });
  const profiles = open();
  if (flaw.checksNothing === true) profiles.add = async () => undefined;
  const credential = profiles.credential.bind(profiles);
  if (flaw.runsForEach === true) {
    profiles.credential = (profileId, signal) => {
      profiles.forget(profileId);
      return credential(profileId, signal);
    };
  }
  const advance = (durationMs: number): void => {
    steadyMs += durationMs;
  };
  const commandEnds = (next: readonly SecretCommandEnd[]): void => {
    ends = next;
  };
  return { profiles, beside: profiles, environment, commands, advance, commandEnds };
}

describe('the contract of accounts', () => {
  it('is kept by those in memory', async () =>
    expect(await failuresOf(authProfilesContract, () => profilesWith({}))).toEqual([]));

  it.each([
    ['gives a value out for ever', { keepsForever: true }],
    ['keeps whatever it is given', { checksNothing: true }],
    ['runs a command for each who asks', { runsForEach: true }],
  ] as const)('finds a store that %s', async (_, flaw) =>
    expect(await failuresOf(authProfilesContract, () => profilesWith(flaw))).not.toEqual([]),
  );
});
