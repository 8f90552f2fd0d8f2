/** Takes the values of secrets out of what a server says, before anybody reads or stores it: those that its settings refer to, and those of the session. */
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';

/** What is shorter is no secret, and would tear every text to pieces. */
const MIN_SECRET_CHARACTERS = 4;
/** Lines of a secret that has several, such as a key, count on their own from this length on. */
const MIN_LINE_CHARACTERS = 8;
/** A form of a secret of a vault is hardly longer: as many characters of a text that was cut may be the rest of one. */
const LONGEST_OF_VAULTS = 4_096;
/** JSON that is nested more deeply is cut. */
const MAX_DEPTH = 200;

interface Pattern {
  readonly text: string;
  readonly mark: string;
}

export class Redaction {
  readonly #patterns: readonly Pattern[];
  /** Characters of the longest text that is looked for; 0 when there is none. */
  readonly longest: number;
  readonly #vaults: SessionSecrets | undefined;

  /** @param secrets values by the names of the variables that hold them @param vaults the secrets of the session, wherever the server has them from */
  constructor(secrets: ReadonlyMap<string, string>, vaults?: SessionSecrets) {
    const patterns = [...secrets].flatMap(([name, value]) => formsOf(value).map((text) => ({ text, mark: `[redacted ${name}]` })));
    // The longest first: one secret may hold another.
    this.#patterns = patterns.toSorted((one, other) => other.text.length - one.text.length);
    this.#vaults = vaults?.bytes() === undefined ? undefined : vaults;
    this.longest = Math.max(this.#patterns[0]?.text.length ?? 0, this.#vaults === undefined ? 0 : LONGEST_OF_VAULTS);
  }

  text(text: string): string {
    // Theirs first: what stands in place of a secret of ours could cut one of theirs in two.
    const left = this.#vaults?.text(text) ?? text;
    return this.#patterns.reduce((kept, { text: secret, mark }) => kept.replaceAll(secret, () => mark), left);
  }

  /** A JSON value with every text in it redacted, keys included. */
  json(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return '[nested too deeply]';
    if (Array.isArray(value)) return value.map((item) => this.json(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.json(item, depth + 1)]));
  }
}

/** A secret as it may show in text: as it is, trimmed, in JSON, in a URL, in base64, and line by line. */
function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const forms = [
    value,
    trimmed,
    JSON.stringify(trimmed).slice(1, -1),
    encodedOrNothing(trimmed),
    Buffer.from(trimmed).toString('base64'),
    ...(lines.length > 1 ? lines.filter((line) => line.length >= MIN_LINE_CHARACTERS) : []),
  ];
  return trimmed.length < MIN_SECRET_CHARACTERS ? [] : [...new Set(forms)].filter((form) => form.length >= MIN_SECRET_CHARACTERS);
}

/** Half of a surrogate pair cannot be encoded. */
function encodedOrNothing(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '';
  }
}
