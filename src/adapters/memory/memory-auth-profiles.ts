/** Accounts that are known for as long as the process lives. */
import type { AuthProfiles } from '../../actors/run/auth-profiles.ts';
import type { RunCredential } from '../../actors/run/agent-runtime.ts';
import { SecretReader } from '../../actors/run/secret-reader.ts';
import type { SecretReaderOptions } from '../../actors/run/secret-reader.ts';
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import { profileExists, profileNotFound } from '../../machines/run/auth-profile.ts';
import { checkedAuthProfile } from '../../machines/run/auth-profile-check.ts';

export class MemoryAuthProfiles implements AuthProfiles {
  readonly #profiles = new Map<string, AuthProfile>();
  readonly #secrets: SecretReader;

  constructor(options: SecretReaderOptions) {
    this.#secrets = new SecretReader(options);
  }

  async list(provider?: string): Promise<readonly AuthProfile[]> {
    return [...this.#profiles.values()].filter((profile) => provider === undefined || profile.provider === provider);
  }

  async credential(profileId: string, signal?: AbortSignal): Promise<RunCredential> {
    const profile = this.#profiles.get(profileId);
    if (profile === undefined) throw profileNotFound(profileId, [...this.#profiles.keys()]);
    return this.#secrets.credential(profile, signal);
  }

  forget(profileId: string): void {
    this.#secrets.forget(profileId);
  }

  async add(profile: AuthProfile): Promise<void> {
    const checked = checkedAuthProfile(profile);
    if (this.#profiles.has(checked.id)) throw profileExists(checked.id);
    this.#profiles.set(checked.id, Object.freeze(checked));
  }

  async remove(profileId: string): Promise<boolean> {
    this.#secrets.forget(profileId);
    return this.#profiles.delete(profileId);
  }
}
