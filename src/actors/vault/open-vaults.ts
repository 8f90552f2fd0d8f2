/**
 * Opens vaults for sessions: every secret of them is read when a wake begins, since what is not known cannot be taken
 * out of anything. What a session may use is what it was given; what is taken out of it is every secret that was opened
 * here for any session.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { matchesHost } from '../../machines/vault/host-pattern.ts';
import type { StreamOptions } from '../../machines/vault/secret-redaction.ts';
import type { TextRedaction } from '../../machines/vault/text-redaction.ts';
import type { SecretDefinition, VaultDefinition } from '../../machines/vault/vault-definition.ts';
import type { ByteRedaction, SecretReference, SessionSecrets } from '../environment/session-secrets.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { OpenVaultsOptions, Vaults } from '../environment/session-environments.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { KnownSecrets } from './known-secrets.ts';
import { SecretValues } from './secret-values.ts';
import type { SecretReading, SecretValuesOptions } from './secret-values.ts';
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

interface OpenedSecret {
  readonly reference: SecretReference;
  readonly definition: SecretDefinition;
  readonly reading: SecretReading;
}

/** The secrets of opened vaults: given out at the edge, taken out of everything else. */
class OpenedSecrets implements SessionSecrets {
  readonly names: readonly SessionSecrets['names'][number][];
  readonly #secrets: ReadonlyMap<SecretReference, OpenedSecret>;
  readonly #known: KnownSecrets;

  /** @param secrets those that may be used @param known those that are taken out, these among them */
  constructor(secrets: readonly OpenedSecret[], known: KnownSecrets) {
    this.#secrets = new Map(secrets.map((secret) => [secret.reference, secret]));
    this.names = secrets.map(nameOf);
    this.#known = known;
  }

  forCommand(reference: SecretReference): string {
    const secret = this.#find(reference);
    if (secret.definition.commands) return valueOf(secret);
    throw new RuntimeError('SECRET_NOT_FOR_COMMANDS', `the secret "${reference}" is not for commands`, {
      category: 'permission',
      hint: 'A person would have to say "commands: true" for it in its vault file.',
      details: { reference },
    });
  }

  forHost(reference: SecretReference, host: string): string {
    const secret = this.#find(reference);
    const { hosts } = secret.definition;
    if (hosts.some((pattern) => matchesHost(pattern, host.toLowerCase()))) return valueOf(secret);
    throw new RuntimeError('SECRET_NOT_FOR_HOST', `the secret "${reference}" is not for the host ${host}`, {
      category: 'permission',
      hint:
        hosts.length === 0
          ? 'Its vault file names no hosts, so it is sent to none.'
          : `It may be sent to: ${hosts.join(', ')}.`,
      details: { reference, host },
    });
  }

  // Functions that can be handed on by themselves, as those of NO_SECRETS can.
  readonly text = (text: string): string => this.#known.redaction?.text(text) ?? text;

  readonly json = <Value>(value: Value): Value => this.#known.redaction?.json(value) ?? value;

  readonly drafts = (drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[] => this.#known.drafts(drafts);

  readonly bytes = (options?: StreamOptions): ByteRedaction | undefined => this.#known.bytes(options);

  #find(reference: SecretReference): OpenedSecret {
    const secret = this.#secrets.get(reference);
    if (secret !== undefined) return secret;
    if (this.#secrets.size === 0) NO_SECRETS.forCommand(this.text(reference).slice(0, 200));
    const known = [...this.#secrets.keys()];
    throw new RuntimeError(
      'SECRET_UNKNOWN',
      `expected a secret of a vault that the environment names, received ${JSON.stringify(this.text(reference).slice(0, 200))}`,
      {
        category: 'permission',
        hint: `There is: ${known.slice(0, 20).join(', ')}. vault_list says what they are for.`,
      },
    );
  }
}

function nameOf({
  reference,
  definition: { description, hosts, commands },
  reading,
}: OpenedSecret): SessionSecrets['names'][number] {
  const problem = 'problem' in reading ? { problem: reading.problem } : {};
  return {
    reference,
    hosts,
    isForCommands: commands,
    ...(description === undefined ? {} : { description }),
    ...problem,
  };
}

function valueOf({ reference, reading }: OpenedSecret): string {
  if ('value' in reading) return reading.value;
  throw new RuntimeError('SECRET_UNAVAILABLE', `the secret "${reference}" cannot be had: ${reading.problem}`, {
    category: 'not_found',
    hint: 'Put it right and wake the session again; see which can be had: wakechart vault check',
    details: { reference },
  });
}
