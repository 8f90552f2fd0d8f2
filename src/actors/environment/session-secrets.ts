/** The secrets that a session may use: known by name, put in only at the edge, taken out of everything else. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { PieceRedaction, StreamOptions } from '../../machines/vault/secret-redaction.ts';

/** `vault/secret`, such as `github/token`. */
export type SecretReference = string;

interface SecretName {
  readonly reference: SecretReference;
  readonly description?: string | undefined;
  /** Hosts that it may be sent to in a header, as `host` or `*.host`. None: to none. */
  readonly hosts: readonly string[];
  /** Whether a command may have it in its environment. */
  readonly isForCommands: boolean;
  /** Why it cannot be used now, such as a variable that is not set. */
  readonly problem?: string | undefined;
}

export type ByteRedaction = PieceRedaction<Uint8Array>;

export interface SessionSecrets {
  readonly names: readonly SecretName[];
  /**
   * For the environment of one command. @throws RuntimeError SECRET_UNKNOWN, SECRET_NOT_FOR_COMMANDS,
   * SECRET_UNAVAILABLE
   */
  forCommand(reference: SecretReference): string;
  /** For a header of one request. @throws RuntimeError SECRET_UNKNOWN, SECRET_NOT_FOR_HOST, SECRET_UNAVAILABLE */
  forHost(reference: SecretReference, host: string): string;
  text(text: string): string;
  /** Any JSON value, keys included. Gives the same value when nothing is in it. */
  json<Value>(value: Value): Value;
  drafts(drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[];
  /** Undefined when there is nothing to take out. */
  bytes(options?: StreamOptions): ByteRedaction | undefined;
}

/** Of a session whose environment names no vault. */
export const NO_SECRETS: SessionSecrets = {
  names: [],
  forCommand: refuse,
  forHost: refuse,
  text: (text) => text,
  json: (value) => value,
  drafts: (drafts) => drafts,
  bytes: () => undefined,
};

function refuse(reference: SecretReference): never {
  throw new RuntimeError(
    'SECRET_UNKNOWN',
    `expected a secret of a vault that the environment names, received "${reference}"`,
    {
      category: 'permission',
      hint: 'Name the vault under "vaults" in the environment file. Secrets that can be used are listed by vault_list.',
    },
  );
}
