/**
 * The port to the accounts with which runs are paid: which there are, and what opens them. Where they are kept, no
 * agent can read or write.
 */
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import type { RunCredential } from './agent-runtime.ts';

export interface AuthProfiles {
  /**
   * Those of a provider, in the order in which they were added. Empty where none was.
   * @throws RuntimeError AUTH_PROFILES_INVALID when they cannot be read for sure, or lie open to others
   */
  list(provider?: string): Promise<readonly AuthProfile[]>;
  /**
   * Reads the value that a profile refers to, anew each time it may have changed. It is never stored, logged or put
   * into an error.
   * @throws RuntimeError AUTH_PROFILE_NOT_FOUND, AUTH_VALUE_MISSING (an unset variable, a command that fails, says
   * nothing or hangs)
   */
  credential(profileId: string, signal?: AbortSignal): Promise<RunCredential>;
  /** The provider refused the value: what was remembered of it is dropped, so that it is read anew the next time. */
  forget?(profileId: string): void;
  /** @throws RuntimeError AUTH_PROFILE_EXISTS, AUTH_PROFILE_INVALID, STORAGE_FAILED, or as `list` */
  add(profile: AuthProfile): Promise<void>;
  /** @returns false when there is none */
  remove(profileId: string): Promise<boolean>;
}
