import { MemoryAuthProfiles } from '../../../src/adapters/memory/memory-auth-profiles.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import { describeAuthProfiles } from '../../contracts/auth-profiles.contract.ts';
import { describeCandidateHealthStore } from '../../contracts/candidate-health.contract.ts';

describeCandidateHealthStore('in memory', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const candidateHealth = new MemoryCandidateHealthStore({ clock: { now: () => nowMs } });
  const advance = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return { candidateHealth, beside: candidateHealth, now: () => nowMs, advance, dispose: async () => undefined };
});

describeAuthProfiles('in memory', async (options) => {
  const profiles = new MemoryAuthProfiles(options);
  return { profiles, beside: profiles, dispose: async () => undefined };
});
