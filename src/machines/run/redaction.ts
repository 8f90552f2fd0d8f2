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
      const first = secret.charAt(0);
      for (let at = text.indexOf(first, Math.max(0, text.length - secret.length + 1)); at !== -1 && text.length - at > unsure; at = text.indexOf(first, at + 1)) {
        if (secret.startsWith(text.slice(at))) unsure = text.length - at;
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

/** Whether `Redaction.json` would cut it: then whoever judges what is left has not seen all of it. */
export function isNestedTooDeeply(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((item) => isNestedTooDeeply(item, depth + 1));
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

/** A secret as it may show in text: as it is, trimmed, in JSON, in a URL, in base64, in hex. Empty for what is too short to be one. */
export function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  if (trimmed.length < MIN_SECRET_CHARACTERS) return [];
  const hex = hexOf(trimmed);
  const forms = [value, trimmed, JSON.stringify(trimmed).slice(1, -1), encodedOrNothing(trimmed), ...base64Of(trimmed), hex, hex.toUpperCase()];
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

/** As it is, and as it shows within something longer, such as `user:secret`: what stands before it moves it by up to two bytes. */
function base64Of(text: string): readonly string[] {
  const bytes = [...new TextEncoder().encode(text)];
  const within = [0, 1, 2].map((moved) => {
    const encoded = base64OfBytes([...new Array<number>(moved).fill(0), ...bytes]).replace(/=+$/, '');
    // The characters at its ends are made of what stands beside it too.
    return encoded.slice(Math.ceil((moved * 4) / 3), (moved + bytes.length) % 3 === 0 ? undefined : -1);
  });
  const forms = [base64OfBytes(bytes), ...within];
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

function base64OfBytes(bytes: readonly number[]): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function hexOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
