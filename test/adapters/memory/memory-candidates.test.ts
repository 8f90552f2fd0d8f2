import { MemoryAuthProfiles } from '../../../src/adapters/memory/memory-auth-profiles.ts';
import { MemoryCandidateStandings } from '../../../src/adapters/memory/memory-candidate-standings.ts';
import { describeAuthProfiles } from '../../contracts/auth-profiles.contract.ts';
import { describeCandidateStandings } from '../../contracts/candidate-standings.contract.ts';

describeCandidateStandings('in memory', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const standings = new MemoryCandidateStandings({ clock: { now: () => nowMs } });
  const advance = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return { standings, beside: standings, now: () => nowMs, advance, dispose: async () => undefined };
});

describeAuthProfiles('in memory', async (options) => {
  const profiles = new MemoryAuthProfiles(options);
  return { profiles, beside: profiles, dispose: async () => undefined };
});
