/** Takes the values of secrets out of what a program says, before anybody reads or stores it; also where a value comes in pieces. */

/** What is shorter is no secret, and would tear every text to pieces. */
const MIN_SECRET_CHARACTERS = 8;
/** JSON that is nested more deeply is cut. */
const MAX_DEPTH = 100;

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

  /** A JSON value with every text in it redacted and cut to `maxCharacters`, keys included. */
  json(value: unknown, maxCharacters: number, depth = 0): unknown {
    if (typeof value === 'string') return shortened(this.text(value), maxCharacters);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return '[nested too deeply]';
    if (Array.isArray(value)) return value.map((item) => this.json(item, maxCharacters, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.json(item, maxCharacters, depth + 1)]));
  }

  /** How many characters at the end of `text` may be the beginning of a secret. */
  unsureCharacters(text: string): number {
    let unsure = 0;
    for (const { text: secret } of this.#patterns) {
      for (let count = Math.min(secret.length - 1, text.length); count > unsure; count -= 1) {
        if (text.endsWith(secret.slice(0, count))) unsure = count;
      }
    }
    return unsure;
  }
}

/** Redacts a text that comes in pieces: what may be the beginning of a secret is kept back until it is known. */
export class PieceRedaction {
  readonly #redaction: Redaction;
  #keptBack = '';

  constructor(redaction: Redaction) {
    this.#redaction = redaction;
  }

  /** What can be told of the text so far. May be empty. */
  add(piece: string): string {
    // A secret may hold the beginning of itself: whole ones go before the end is looked at.
    const text = this.#redaction.text(this.#keptBack + piece);
    const unsure = this.#redaction.unsureCharacters(text);
    this.#keptBack = text.slice(text.length - unsure);
    return text.slice(0, text.length - unsure);
  }

  /** What was kept back: no more pieces come. */
  end(): string {
    const rest = this.#keptBack;
    this.#keptBack = '';
    return rest;
  }
}

/** A long text by its two ends. */
export function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor(maxCharacters / 2);
  const head = withoutHalfPair(text.slice(0, half));
  const tail = text.slice(-half).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

function withoutHalfPair(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

/** A secret as it may show in text: as it is, trimmed, in JSON, in a URL, in base64. */
function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  if (trimmed.length < MIN_SECRET_CHARACTERS) return [];
  const forms = [value, trimmed, JSON.stringify(trimmed).slice(1, -1), encodedOrNothing(trimmed), Buffer.from(trimmed).toString('base64')];
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET_CHARACTERS);
}

/** Half of a surrogate pair cannot be encoded. */
function encodedOrNothing(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '';
  }
}
