/** Takes the secret of an account out of what comes back: out of whole texts, and out of texts that come in pieces. */

import { formsOf } from '../../machines/run/redaction.ts';

/** What is shorter is a stand-in for servers that want no key, such as "ollama" or "not-needed", and would tear every text to pieces. */
const MIN_STREAMED_CHARACTERS = 12;
const MIN_REDACTED_CHARACTERS = 4;
/** JSON that is nested more deeply is cut. */
const MAX_DEPTH = 200;

const MARK = '[redacted]';

export class Secret {
  readonly #value: string;
  /** Its forms in a message, the longest first: one may hold another. */
  readonly #forms: readonly string[];

  constructor(value = '') {
    this.#value = value.length >= MIN_STREAMED_CHARACTERS ? value : '';
    this.#forms = value.length < MIN_REDACTED_CHARACTERS ? [] : [...new Set([value, JSON.stringify(value).slice(1, -1), encodedOrSame(value), ...formsOf(value)])].toSorted((one, other) => other.length - one.length);
  }

  /** For messages of errors. */
  redact(text: string): string {
    return this.#forms.reduce((left, form) => left.replaceAll(form, () => MARK), text);
  }

  /** For what a model said as data. */
  redactJson(value: unknown, depth = 0): unknown {
    if (this.#value === '') return value;
    if (typeof value === 'string') return value.replaceAll(this.#value, () => MARK);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return '[nested too deeply]';
    if (Array.isArray(value)) return value.map((item) => this.redactJson(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.replaceAll(this.#value, () => MARK), this.redactJson(item, depth + 1)]));
  }

  /** For one text that comes in pieces. */
  filter(): SecretFilter {
    return new SecretFilter(this.#value);
  }
}

/** Holds back only what may be the beginning of the secret: nearly always nothing. */
export class SecretFilter {
  readonly #secret: string;
  #held = '';

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** What can be told now. */
  push(piece: string): string {
    if (this.#secret === '') return piece;
    const text = (this.#held + piece).replaceAll(this.#secret, () => MARK);
    const held = this.#beginningAtEnd(text);
    this.#held = text.slice(text.length - held);
    return text.slice(0, text.length - held);
  }

  /** The rest, when nothing comes any more. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #beginningAtEnd(text: string): number {
    const longest = Math.min(text.length, this.#secret.length - 1);
    for (let length = longest; length > 0; length -= 1) if (text.endsWith(this.#secret.slice(0, length))) return length;
    return 0;
  }
}

/** Half of a surrogate pair cannot be encoded. */
function encodedOrSame(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}
