/**
 * Every secret that was opened in this process, for any session. What may be used is a matter of each session; what is
 * taken out is taken out everywhere: a secret that one session was given may come to another one through a file, a
 * child or a message.
 */
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { redactedDrafts } from '../../machines/vault/redacted-drafts.ts';
import { SecretRedaction, StreamRedaction, TextPieces } from '../../machines/vault/secret-redaction.ts';
import type { PieceRedaction, StreamOptions } from '../../machines/vault/secret-redaction.ts';
import type { ByteRedaction, SecretReference } from '../environment/session-secrets.ts';

/**
 * Values of one secret that are still taken out after it has got another: tokens are renewed, and old ones lie in files
 * and in shells.
 */
const MAX_FORMER_VALUES = 16;

const NONE = new SecretRedaction(new Map());

export class KnownSecrets {
  /** By reference, the newest last. */
  readonly #values = new Map<SecretReference, readonly string[]>();
  #redaction: SecretRedaction | undefined;
  /** Another one whenever something was learned. */
  version = 0;
  /** Drafts in which there is none, by what they were scanned with: several who are about to store them ask. */
  readonly #checked = new WeakMap<SessionEventDraft, SecretRedaction>();

  learn(reference: SecretReference, value: string): void {
    const known = this.#values.get(reference) ?? [];
    if (known.at(-1) === value) return;
    this.#values.set(reference, [...known.filter((each) => each !== value), value].slice(-MAX_FORMER_VALUES));
    this.#redaction = undefined;
    this.version += 1;
  }

  /** Undefined as long as there are none. */
  get redaction(): SecretRedaction | undefined {
    if (this.#values.size > 0) this.#redaction ??= new SecretRedaction(this.#values);
    return this.#redaction;
  }

  /** Of one stream; also what becomes known while it runs is taken out. */
  bytes(options?: StreamOptions): ByteRedaction | undefined {
    const { redaction } = this;
    return redaction === undefined ? undefined : new StreamRedaction(() => (this.redaction ?? redaction).scan, options);
  }

  /** The same of one text, also where none is known when it begins. */
  pieces(): PieceRedaction<string> {
    return new TextPieces(new StreamRedaction(() => (this.redaction ?? NONE).scan, { holdsAll: true }));
  }

  drafts(drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[] {
    const { redaction } = this;
    if (redaction === undefined || drafts.every((draft) => this.#checked.get(draft) === redaction)) return drafts;
    const redacted = redactedDrafts(redaction, drafts);
    for (const draft of redacted) this.#checked.set(draft, redaction);
    return redacted;
  }
}
