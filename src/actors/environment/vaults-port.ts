/** The port to vaults: the secrets that people have put there, opened for one session. */
import type { SessionIdentity } from '../session/event-store.ts';
import type { SessionSecrets } from './session-secrets.ts';

export interface OpenVaultsOptions {
  /**
   * Vaults whose secrets the session may not use, and which are taken out of what it says all the same: those of the
   * sessions that it works for.
   */
  readonly takenOut?: readonly string[] | undefined;
}

export interface Vaults {
  /**
   * The secrets of these vaults. One that cannot be had now is known by name and refused when it is used.
   * @throws RuntimeError VAULT_NOT_FOUND, VAULT_INVALID naming the file, never a value
   */
  open(session: SessionIdentity, vaults: readonly string[], options?: OpenVaultsOptions): Promise<SessionSecrets>;
}
