/** The port to vaults as people have written them: where secrets are, not what they are. */
import type { ErrorRecord } from '../../machines/errors.ts';
import type { VaultDefinition } from '../../machines/vault/vault-definition.ts';

/** What is there under a name: a vault, or the reason why it cannot be read. */
export type VaultListing =
  | { readonly name: string; readonly definition: VaultDefinition }
  | { readonly name: string; readonly error: ErrorRecord };

export interface VaultCatalog {
  /** Every vault, by name. */
  list(): Promise<readonly VaultListing[]>;
  /**
   * @throws RuntimeError VAULT_NOT_FOUND naming those that are there; VAULT_INVALID naming the file and never what is
   * in it
   */
  get(name: string): Promise<VaultDefinition>;
}
