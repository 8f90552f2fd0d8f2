/** Takes the values of secrets out of what a server says, before anybody reads or stores it. */

/** What is shorter is no secret, and would tear every text to pieces. */
const MIN_SECRET_CHARACTERS = 4;
/** Lines of a secret that has several, such as a key, count on their own from this length on. */
const MIN_LINE_CHARACTERS = 8;
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

  /** @param secrets values by the names of the variables that hold them */
  constructor(secrets: ReadonlyMap<string, string>) {
    const patterns = [...secrets].flatMap(([name, value]) => formsOf(value).map((text) => ({ text, mark: `[redacted ${name}]` })));
    // The longest first: one secret may hold another.
    this.#patterns = patterns.toSorted((one, other) => other.text.length - one.text.length);
    this.longest = this.#patterns[0]?.text.length ?? 0;
  }

  text(text: string): string {
    return this.#patterns.reduce((left, { text: secret, mark }) => left.replaceAll(secret, () => mark), text);
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
