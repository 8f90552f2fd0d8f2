/** What every store of accounts does: the published cases, run with vitest. */
import { describe, it } from 'vitest';
import type { AuthProfiles } from '../../src/actors/run/auth-profiles.ts';
import type { SecretCommandEnd, SecretReaderOptions } from '../../src/actors/run/secret-reader.ts';
import { authProfilesContract } from '../../src/testing/auth-profiles-contract.ts';

/** Opens two stores over the same accounts, where there can be two. */
export type OpenProfiles = (
  options: SecretReaderOptions,
) => Promise<{ readonly profiles: AuthProfiles; readonly beside: AuthProfiles; dispose(): Promise<void> }>;

export function describeAuthProfiles(name: string, open: OpenProfiles): void {
  describe(`${name}, as the place of accounts`, () => {
    it.each(authProfilesContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const environment: Record<string, string | undefined> = {};
      const commands: (readonly string[])[] = [];
      let steadyMs = 0;
      let ends: readonly SecretCommandEnd[] = [];
      const { profiles, beside, dispose } = await open({
        environment,
        clock: { steadyNow: () => steadyMs },
        runCommand: async (command) => {
          commands.push(command);
          const [end = { kind: 'failed', because: 'was not expected' }, ...rest] = ends;
          if (rest.length > 0) ends = rest;
          return end;
        },
      });
      try {
        await run({
          profiles,
          beside,
          environment,
          commands,
          advance: (durationMs) => {
            steadyMs += durationMs;
          },
          commandEnds: (next) => {
            ends = next;
          },
        });
      } finally {
        await dispose();
      }
    });
  });
}
