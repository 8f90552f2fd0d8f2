/** The secrets of opened vaults: given out at the edge, taken out of everything else. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { matchesHost } from '../../machines/vault/host-pattern.ts';
import type { StreamOptions } from '../../machines/vault/secret-redaction.ts';
import type { SecretDefinition } from '../../machines/vault/vault-definition.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { ByteRedaction, SecretReference, SessionSecrets } from '../environment/session-secrets.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { SecretReading } from './secret-values.ts';

export interface OpenedSecret {
  readonly reference: SecretReference;
  readonly definition: SecretDefinition;
  readonly reading: SecretReading;
}

export class OpenedSecrets implements SessionSecrets {
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
