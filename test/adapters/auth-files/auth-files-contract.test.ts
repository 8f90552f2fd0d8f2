import { join } from 'node:path';
import { createFileAuthProfiles } from '../../../src/adapters/auth-files/file-auth-profiles.ts';
import { createFileCandidateHealthStore } from '../../../src/adapters/auth-files/file-candidate-health-store.ts';
import { underLock } from '../../../src/adapters/system/process-lock.ts';
import { describeAuthProfiles } from '../../contracts/auth-profiles.contract.ts';
import { describeCandidateHealthStore } from '../../contracts/candidate-health.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

describeCandidateHealthStore('in files', async () => {
  const home = await temporaryHome();
  let nowMs = Date.UTC(2026, 0, 1);
  const advance = (durationMs: number): void => {
    nowMs += durationMs;
  };
  const open = () =>
    createFileCandidateHealthStore({
      directory: join(home.path, 'auth'),
      clock: { now: () => nowMs },
      exclusively: underLock,
    });
  return { candidateHealth: open(), beside: open(), now: () => nowMs, advance, dispose: () => home.remove() };
});

describeAuthProfiles('in files', async (options) => {
  const home = await temporaryHome();
  const open = () => createFileAuthProfiles({ ...options, directory: join(home.path, 'auth'), exclusively: underLock });
  return { profiles: open(), beside: open(), dispose: () => home.remove() };
});
