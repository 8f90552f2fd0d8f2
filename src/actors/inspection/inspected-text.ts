/** Every text on its way into a record: secrets are taken out of it first, then it is cut. */
import { beginningOf } from '../../machines/cut-text.ts';
import { MAX_NAME_CHARACTERS } from '../../machines/inspection-log/inspection-record.ts';
import { marginOf } from '../../machines/vault/text-redaction.ts';
import type { TextRedaction } from '../../machines/vault/text-redaction.ts';

/**
 * Takes secrets out of a text: whatever it gives back may be shown. One that throws, or gives no text, costs the text.
 */
export type Redact = TextRedaction;

/** Nothing is known of it, so nothing is shown. */
const NOT_REDACTED = '[left out: it could not be redacted]';

/** Of the last word of a text that goes on. */
const MAX_WORD_CHARACTERS = 8_192;

/** Names that are kept for the length of a turn. */
const MAX_KEPT_TEXTS = 1_000;

export class InspectedText {
  readonly #redact: Redact | undefined;
  /** Names of this turn of the event loop, redacted, and notes of it. */
  readonly #names = new Map<string, string>();
  readonly #notes = new Map<string, string>();

  constructor(redact: Redact | undefined) {
    this.#redact = redact;
  }

  /** Another number when what was redacted before is not without every secret any more. */
  get version(): number {
    return this.#redact?.version?.() ?? 0;
  }

  /**
   * So many characters beyond where a text is cut are read, and taken off its end: a secret that was torn there is not
   * known as one.
   */
  get margin(): number {
    return marginOf(this.#redact);
  }

  /** A name, such as the type of an event or the id of an actor. */
  name(text: unknown): string {
    if (typeof text !== 'string') return '(no name)';
    if (this.#redact === undefined && text.length <= MAX_NAME_CHARACTERS) return text;
    return kept(this.#names, text, () => this.cut(text, MAX_NAME_CHARACTERS));
  }

  /** What stands in the place of something that cannot be told. */
  note(what: string): string {
    return kept(this.#notes, what, () => `«${this.name(what)}»`);
  }

  /**
   * Names come again and again, and redacting them costs more than recording them. Another turn may know more secrets.
   */
  nextTurn(): void {
    this.#names.clear();
    this.#notes.clear();
  }

  /**
   * At most `maxCharacters` of it, an ellipsis at the end where something was left out. @param isTorn it was cut before
   */
  cut(text: string, maxCharacters: number, isTorn = false): string {
    if (!isTorn && text.length <= maxCharacters && this.#redact === undefined) return text;
    const { margin } = this;
    const isLong = isTorn || text.length > maxCharacters + margin;
    const read = this.#redacted(text.length > maxCharacters + margin ? text.slice(0, maxCharacters + margin) : text);
    const whole = isLong ? read.slice(0, Math.max(0, read.length - margin)) : read;
    if (!isLong && whole.length <= maxCharacters) return whole;
    return `${beginningOf(whole, maxCharacters - 1)}…`;
  }

  /**
   * At most `maxCharacters` of its end. @param isTorn it was cut before at its beginning @param isOpen more of it comes:
   * it may end with the beginning of a secret
   */
  endOf(
    text: string,
    maxCharacters: number,
    { isTorn, isOpen }: { readonly isTorn: boolean; readonly isOpen: boolean },
  ): string {
    if (this.#redact === undefined) return endOf(text, maxCharacters);
    const redacted = isOpen ? this.#begun(text) : this.#redacted(text);
    return endOf(isTorn ? redacted.slice(this.margin) : redacted, maxCharacters);
  }

  /** A redaction that cannot tell where a secret may begin has the last word held back. */
  #begun(text: string): string {
    const { pieces, longest } = this.#redact ?? {};
    if (pieces !== undefined) return this.#redacted(text, (begun) => pieces().add(begun));
    const word = /\S*$/.exec(text.slice(-MAX_WORD_CHARACTERS))?.[0].length ?? 0;
    return this.#redacted(text.slice(0, text.length - Math.min(word, longest?.() ?? word)));
  }

  /** A secret of digits may have been taken for a number. */
  number(value: number): number | string {
    if (!Number.isFinite(value)) return `«${value}»`;
    if (this.#redact === undefined) return value;
    const text = String(value);
    const redacted = this.#redacted(text);
    return redacted === text ? value : redacted;
  }

  #redacted(text: string, redact: ((text: string) => string) | undefined = this.#redact): string {
    if (redact === undefined) return text;
    try {
      const redacted: unknown = redact(text);
      return typeof redacted === 'string' ? redacted : NOT_REDACTED;
    } catch {
      return NOT_REDACTED;
    }
  }
}

function endOf(text: string, maxCharacters: number): string {
  const end = text.length <= maxCharacters ? text : text.slice(-maxCharacters);
  const first = end.charCodeAt(0);
  return first >= 0xdc00 && first < 0xe000 ? end.slice(1) : end;
}

function kept(texts: Map<string, string>, text: string, make: () => string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const made = make();
  if (texts.size < MAX_KEPT_TEXTS && text.length <= MAX_NAME_CHARACTERS) texts.set(text, made);
  return made;
}
