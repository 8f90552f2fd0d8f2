/**
 * Opens vaults for sessions: every secret of them is read when a wake begins, since what is not known cannot be taken out of anything. Sessions
 * with the same vaults share what is made of them.
 */
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { VaultDefinition } from '../../machines/vault/vault-definition.ts';
import type { Vaults } from '../environment/vaults-port.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { SecretReference, SessionSecrets } from '../environment/session-secrets.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { OpenedSecrets } from './opened-secrets.ts';
import type { OpenedSecret } from './opened-secrets.ts';
import { SecretValues } from './secret-values.ts';
import type { SecretValuesOptions } from './secret-values.ts';
import type { VaultCatalog } from './vault-catalog.ts';

/** Values of one secret that are still taken out after it has got another: tokens are renewed, and old ones lie in files and in shells. */
const MAX_FORMER_VALUES = 16;
/** Combinations of vaults whose patterns are kept. */
const MAX_KEPT_REDACTIONS = 64;

export interface VaultsOptions extends SecretValuesOptions {
  readonly catalog: VaultCatalog;
}

export interface SessionVaults extends Vaults {
  /** Those that were opened for the session last in this process: for what runs on beside its wakes. */
  secretsOf(sessionId: string): SessionSecrets | undefined;
  /** Nothing of the session runs here any more. */
  forget(sessionId: string): void;
}

export function createVaults(options: VaultsOptions): SessionVaults {
  return new OpenVaults(options);
}

interface KeptRedaction {
  readonly values: ReadonlyMap<SecretReference, readonly string[]>;
  readonly redaction: SecretRedaction;
}

class OpenVaults implements SessionVaults {
  readonly #catalog: VaultCatalog;
  readonly #values: SecretValues;
  /** By reference, the newest last. */
  readonly #known = new Map<SecretReference, readonly string[]>();
  /** By the names of the vaults. */
  readonly #redactions = new Map<string, KeptRedaction>();
  readonly #open = new Map<string, SessionSecrets>();

  constructor({ catalog, ...options }: VaultsOptions) {
    this.#catalog = catalog;
    this.#values = new SecretValues(options);
  }

  async open({ sessionId }: SessionIdentity, vaults: readonly string[]): Promise<SessionSecrets> {
    const names = [...new Set(vaults)];
    const secrets = names.length === 0 ? NO_SECRETS : await this.#opened(names);
    if (secrets === NO_SECRETS && !this.#open.has(sessionId)) return secrets;
    this.#open.set(sessionId, secrets);
    return secrets;
  }

  secretsOf(sessionId: string): SessionSecrets | undefined {
    return this.#open.get(sessionId);
  }

  forget(sessionId: string): void {
    this.#open.delete(sessionId);
  }

  async #opened(names: readonly string[]): Promise<SessionSecrets> {
    const definitions = await Promise.all(names.map((name) => this.#catalog.get(name)));
    const secrets = (await Promise.all(definitions.map((definition) => this.#secretsIn(definition)))).flat();
    for (const { reference, reading } of secrets) if ('value' in reading) this.#learn(reference, reading.value);
    const values = new Map(secrets.flatMap(({ reference }) => (this.#known.has(reference) ? [[reference, this.#known.get(reference) ?? []] as const] : [])));
    return new OpenedSecrets(secrets, values.size === 0 ? undefined : this.#redactionOf(JSON.stringify(names), values));
  }

  #secretsIn({ name, secrets }: VaultDefinition): Promise<readonly OpenedSecret[]> {
    return Promise.all(Object.entries(secrets).map(async ([secret, definition]) => ({ reference: `${name}/${secret}`, definition, reading: await this.#values.read(definition) })));
  }

  #learn(reference: SecretReference, value: string): void {
    const known = this.#known.get(reference) ?? [];
    if (known.at(-1) !== value) this.#known.set(reference, [...known.filter((each) => each !== value), value].slice(-MAX_FORMER_VALUES));
  }

  #redactionOf(key: string, values: KeptRedaction['values']): SecretRedaction {
    const kept = this.#redactions.get(key);
    // What is known of a secret is replaced, never changed.
    if (kept !== undefined && kept.values.size === values.size && [...values].every(([reference, known]) => kept.values.get(reference) === known)) return kept.redaction;
    const redaction = new SecretRedaction(values);
    this.#redactions.delete(key);
    this.#redactions.set(key, { values, redaction });
    const [oldest] = this.#redactions.keys();
    if (this.#redactions.size > MAX_KEPT_REDACTIONS && oldest !== undefined) this.#redactions.delete(oldest);
    return redaction;
  }
}
