/**
 * The accounts of a home, in `<directory>/profiles.json`: where their secrets are, never what they are. Damage is an
 * error, and nothing is written.
 */
import { resolve } from 'node:path';
import * as z from 'zod';
import type { RunCredential } from '../../actors/run/agent-runtime.ts';
import type { AuthProfiles } from '../../actors/run/auth-profiles.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { SecretReader } from '../../actors/run/secret-reader.ts';
import type { SecretReaderOptions } from '../../actors/run/secret-reader.ts';
import { authProfile, profileExists, profileNotFound, tooManyProfiles } from '../../machines/run/auth-profile.ts';
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import { checkedAuthProfile } from '../../machines/run/auth-profile-check.ts';
import { PROFILES } from './auth-errors.ts';
import { KeptValue } from './kept-value.ts';

/** The folder of accounts, and of the experience with candidates, in a home. */
export const AUTH_FOLDER = 'auth';

const MAX_PROFILES = 1_000;

const content = z.strictObject({
  profiles: z
    .array(authProfile)
    .max(MAX_PROFILES)
    .refine((profiles) => new Set(profiles.map(({ id }) => id)).size === profiles.length, 'expected each id once'),
});

type Profiles = readonly AuthProfile[];

export interface FileAuthProfilesOptions extends SecretReaderOptions {
  /** The folder of accounts in a home; made with the first profile. No agent may reach it. */
  readonly directory: string;
  readonly exclusively: ExclusiveWork;
}

export function createFileAuthProfiles(options: FileAuthProfilesOptions): AuthProfiles {
  return new FileAuthProfiles(options);
}

class FileAuthProfiles implements AuthProfiles {
  readonly #secrets: SecretReader;
  readonly #file: KeptValue<z.output<typeof content>, Profiles>;

  constructor({ directory, exclusively, ...secrets }: FileAuthProfilesOptions) {
    this.#secrets = new SecretReader(secrets);
    this.#file = new KeptValue<z.output<typeof content>, Profiles>({
      directory: resolve(directory),
      fileName: 'profiles.json',
      subject: PROFILES,
      format: 'wakechart-auth/1',
      schema: content,
      fromContent: ({ profiles }) => profiles,
      toContent: (profiles) => ({ profiles: [...profiles] }),
      empty: [],
      exclusively,
    });
  }

  async list(provider?: string): Promise<readonly AuthProfile[]> {
    return (await this.#file.read()).filter((profile) => provider === undefined || profile.provider === provider);
  }

  async credential(profileId: string, signal?: AbortSignal): Promise<RunCredential> {
    const profiles = await this.#file.read();
    const profile = profiles.find(({ id }) => id === profileId);
    if (profile === undefined)
      throw profileNotFound(
        profileId,
        profiles.map(({ id }) => id),
      );
    return this.#secrets.credential(profile, signal);
  }

  forget(profileId: string): void {
    this.#secrets.forget(profileId);
  }

  async add(profile: AuthProfile): Promise<void> {
    const checked = checkedAuthProfile(profile);
    await this.#file.change((profiles) => {
      if (profiles.some(({ id }) => id === checked.id)) throw profileExists(checked.id);
      if (profiles.length >= MAX_PROFILES) throw tooManyProfiles(MAX_PROFILES);
      return { answer: undefined, value: [...profiles, checked] };
    });
  }

  async remove(profileId: string): Promise<boolean> {
    this.#secrets.forget(profileId);
    return this.#file.change((profiles) => {
      const kept = profiles.filter(({ id }) => id !== profileId);
      const isRemoved = kept.length < profiles.length;
      return { answer: isRemoved, value: isRemoved ? kept : profiles };
    });
  }
}
