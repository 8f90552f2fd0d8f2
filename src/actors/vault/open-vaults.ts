/**
 * Opens vaults for sessions: every secret of them is read when a wake begins, since what is not known cannot be taken
 * out of anything. What a session may use is what it was given; what is taken out of it is every secret that was opened
 * here for any session.
 */
import type { TextRedaction } from '../../machines/vault/text-redaction.ts';
import type { VaultDefinition } from '../../machines/vault/vault-definition.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';
import type { OpenVaultsOptions, Vaults } from '../environment/vaults-port.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { KnownSecrets } from './known-secrets.ts';
import { OpenedSecrets } from './opened-secrets.ts';
import type { OpenedSecret } from './opened-secrets.ts';
import { SecretValues } from './secret-values.ts';
import type { SecretValuesOptions } from './secret-values.ts';
import type { VaultCatalog } from './vault-catalog.ts';

export interface VaultsOptions extends SecretValuesOptions {
  readonly catalog: VaultCatalog;
  /**
   * Secrets of this process itself, by what they are called: never given out, and taken out everywhere from the start.
   */
  readonly ours?: ReadonlyMap<string, readonly string[]> | undefined;
}

export interface SessionVaults extends Vaults {
  /** Gives out nothing, and takes out every secret that was opened in this process: for what runs on beside wakes. */
  readonly known: SessionSecrets;
  /** The same of texts, for those who cut or keep them. */
  readonly redactText: TextRedaction;
  /**
   * Makes `known` take out every secret of every vault that can be had without running a program. @returns the others,
   * by reference, and vaults that cannot be read, by name
   */
  learn(): Promise<readonly string[]>;
}

export function createVaults(options: VaultsOptions): SessionVaults {
  return new OpenVaults(options);
}

class OpenVaults implements SessionVaults {
  readonly #catalog: VaultCatalog;
  readonly #values: SecretValues;
  readonly #known = new KnownSecrets();
  readonly known: SessionSecrets = new OpenedSecrets([], this.#known);
  readonly redactText: TextRedaction = Object.assign((text: string) => this.known.text(text), {
    longest: () => this.#known.redaction?.scan.longest ?? 0,
    pieces: () => this.#known.pieces(),
    version: () => this.#known.version,
  });

  constructor({ catalog, ours, ...options }: VaultsOptions) {
    this.#catalog = catalog;
    for (const [reference, values] of ours ?? []) for (const value of values) this.#known.learn(reference, value);
    this.#values = new SecretValues(options);
  }

  async open(
    _session: SessionIdentity,
    vaults: readonly string[],
    { takenOut = [] }: OpenVaultsOptions = {},
  ): Promise<SessionSecrets> {
    const names = [...new Set([...vaults, ...takenOut])];
    if (names.length === 0) return this.known;
    const definitions = await Promise.all(names.map((name) => this.#catalog.get(name)));
    const secrets = await Promise.all(definitions.map((definition) => this.#secretsIn(definition)));
    for (const { reference, reading } of secrets.flat())
      if ('value' in reading) this.#known.learn(reference, reading.value);
    return new OpenedSecrets(secrets.filter((_, index) => vaults.includes(names[index] ?? '')).flat(), this.#known);
  }

  async learn(): Promise<readonly string[]> {
    const unknown = await Promise.all(
      (await this.#catalog.list()).map(async (listing) =>
        'error' in listing ? [listing.name] : this.#learnQuietly(listing.definition),
      ),
    );
    return unknown.flat();
  }

  async #learnQuietly({ name, secrets, ...vault }: VaultDefinition): Promise<readonly string[]> {
    const all = Object.entries(secrets);
    const quiet = all.filter(([, { command }]) => command === undefined);
    const read = await this.#secretsIn({ ...vault, name, secrets: Object.fromEntries(quiet) });
    const known = read.flatMap(({ reference, reading }) => {
      if ('problem' in reading) return [];
      this.#known.learn(reference, reading.value);
      return [reference];
    });
    return all.map(([secret]) => `${name}/${secret}`).filter((reference) => !known.includes(reference));
  }

  #secretsIn({ name, secrets }: VaultDefinition): Promise<readonly OpenedSecret[]> {
    return Promise.all(
      Object.entries(secrets).map(async ([secret, definition]) => ({
        reference: `${name}/${secret}`,
        definition,
        reading: await this.#values.read(definition),
      })),
    );
  }
}
