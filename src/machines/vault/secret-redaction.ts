/**
 * Takes secrets out of texts, JSON values and streams: in their place stands what they are called. The only one: for
 * vaults and runs, for servers of tools, errors, logs and the inspector alike.
 */
import { SecretScan } from './secret-scan.ts';
import type { FoundSecret } from './secret-scan.ts';
import { shortened } from './shortened.ts';

/** JSON that is nested more deeply is cut. */
const MAX_DEPTH = 200;
/**
 * Bytes that were told already, with which a secret may begin whose rest comes later: three characters and what shows
 * nothing between them.
 */
const CONTEXT_BYTES = 512;

export type Mark = (name: string) => string;

const named: Mark = (name) => `[redacted ${name}]`;

/** Not longer than any secret: where there is room for no more. */
export const shortMark: Mark = () => '***';

export interface JsonRedactionOptions {
  readonly mark?: Mark | undefined;
  /** Keys whose values stay as they are, wherever they stand. Where there are any, keys stay as they are too. */
  readonly keeps?: ((key: string) => boolean) | undefined;
  /** Of each text, once no secret is in it. */
  readonly maxCharacters?: number | undefined;
}

export interface StreamOptions {
  /** As many lines come out as went in: for those who number them. */
  readonly keepsLines?: boolean | undefined;
  /** The first three characters of a secret as it is are kept back too: for texts in which a moment does not matter. */
  readonly holdsAll?: boolean | undefined;
}

const LINE_END = 0x0a;

/** Takes secrets out of a text that comes in pieces. */
export interface PieceRedaction<Piece> {
  /** What can be told of it so far. May be empty. */
  add(piece: Piece): Piece;
  /** What was kept back: no more pieces come. */
  end(): Piece;
}

export interface RedactionOptions {
  readonly mark?: Mark | undefined;
  /** What else is taken out, and before: what stands in place of a secret of ours could cut one of theirs in two. */
  readonly beside?: { text(text: string): string; bytes(): PieceRedaction<Uint8Array> | undefined } | undefined;
}

/** In front of a cut so much is read of what may be another secret. */
const LONGEST_BESIDE = 4_096;

export class SecretRedaction {
  readonly #scan: SecretScan;
  readonly #mark: Mark;
  readonly #beside: RedactionOptions['beside'];

  /** @param secrets values by what the secrets are called: that of now, and those that it had before */
  constructor(
    secrets: ReadonlyMap<string, string | readonly string[]>,
    { mark = named, beside }: RedactionOptions = {},
  ) {
    this.#scan = new SecretScan(secrets);
    this.#mark = mark;
    this.#beside = beside?.bytes() === undefined ? undefined : beside;
  }

  text(given: string, mark: Mark = this.#mark): string {
    const text = this.#beside?.text(given) ?? given;
    if (this.#scan.longest === 0) return text;
    const bytes = new TextEncoder().encode(text);
    const { found } = this.#scan.check(bytes, { isStart: true, isWhole: true });
    return found.length === 0
      ? text
      : new TextDecoder('utf-8', { ignoreBOM: true }).decode(
          replaced(bytes, found, { from: 0, until: bytes.length, mark }),
        );
  }

  /** Keys included. Gives the same value when nothing is in it. */
  json<Value>(value: Value, options: JsonRedactionOptions = {}): Value {
    return this.#json(value, options, 0) as Value;
  }

  /** Of one stream. */
  bytes(): PieceRedaction<Uint8Array> {
    const own = new StreamRedaction(() => this.#scan, { mark: this.#mark, holdsAll: true });
    const beside = this.#beside?.bytes();
    return beside === undefined
      ? own
      : { add: (piece) => own.add(beside.add(piece)), end: () => joined([own.add(beside.end()), own.end()]) };
  }

  /** Of one text that comes in pieces. */
  pieces(): PieceRedaction<string> {
    return new TextPieces(this.bytes());
  }

  get scan(): SecretScan {
    return this.#scan;
  }

  /** Characters of the longest text that is searched for, without white space; 0 when there is none. */
  get longest(): number {
    return Math.max(this.#scan.longest, this.#beside === undefined ? 0 : LONGEST_BESIDE);
  }

  #json(value: unknown, options: JsonRedactionOptions, depth: number): unknown {
    if (typeof value === 'string') return shortened(this.text(value, options.mark), options.maxCharacters);
    if (typeof value === 'number') return this.#number(value, options);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return '[nested too deeply]';
    return Array.isArray(value) ? this.#list(value, options, depth + 1) : this.#object(value, options, depth + 1);
  }

  /** A secret of digits may have been taken for a number. */
  #number(value: number, { mark }: JsonRedactionOptions): number | string {
    const text = String(value);
    const redacted = this.text(text, mark);
    return redacted === text ? value : redacted;
  }

  #list(list: readonly unknown[], options: JsonRedactionOptions, depth: number): readonly unknown[] {
    const items = list.map((item) => this.#json(item, options, depth));
    return items.some((item, index) => !Object.is(item, list[index])) ? items : list;
  }

  #object(object: object, options: JsonRedactionOptions, depth: number): object {
    const { keeps, mark } = options;
    const entries = Object.entries(object);
    const taken = new Set<string>();
    const redacted = entries.map(([key, item]) => {
      const isKept = keeps?.(key) === true;
      return [
        keeps === undefined ? ownKey(this.text(key, mark), taken) : key,
        isKept ? item : this.#json(item, options, depth),
      ] as const;
    });
    const isSame = redacted.every(
      ([key, item], index) => key === entries[index]?.[0] && Object.is(item, entries[index]?.[1]),
    );
    return isSame ? object : Object.fromEntries(redacted);
  }
}

/** Whether `json` would cut it: then those who judge what is left have not seen all of it. */
export function isNestedTooDeeply(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((item) => isNestedTooDeeply(item, depth + 1));
}

/** Two keys that were secrets stay two. */
function ownKey(key: string, taken: Set<string>): string {
  let name = key;
  for (let number = 2; taken.has(name); number += 1) name = `${key} (${number})`;
  taken.add(name);
  return name;
}

/**
 * Of one stream. Four characters of a secret are kept back until it is clear whether it is one; up to three may have
 * been told before.
 */
export class StreamRedaction implements PieceRedaction<Uint8Array> {
  readonly #scan: () => SecretScan;
  readonly #options: StreamOptions & { readonly mark: Mark };
  /** What was told last, and what was not told yet. */
  #kept: Uint8Array = new Uint8Array(0);
  #told = 0;

  /** @param scan asked anew for each piece: secrets may become known while it runs */
  constructor(scan: () => SecretScan, options: StreamOptions & { readonly mark?: Mark } = {}) {
    this.#scan = scan;
    this.#options = { mark: named, ...options };
  }

  add(piece: Uint8Array): Uint8Array {
    const bytes = joined([this.#kept, piece]);
    const { found, unsureFrom } = this.#scan().check(bytes, { isStart: false, isWhole: false });
    const held = this.#options.holdsAll === true ? this.#scan().firstCharactersAt(bytes) : 0;
    let until = Math.max(this.#told, Math.min(unsureFrom, bytes.length - held));
    for (const { start, end } of found) if (start < until) until = Math.max(until, end);
    const told = replaced(bytes, found, { from: this.#told, until, ...this.#options });
    const keptFrom = Math.max(0, until - CONTEXT_BYTES);
    this.#kept = bytes.slice(keptFrom);
    this.#told = until - keptFrom;
    return told;
  }

  end(): Uint8Array {
    const { found } = this.#scan().check(this.#kept, { isStart: false, isWhole: true });
    const rest = replaced(this.#kept, found, { from: this.#told, until: this.#kept.length, ...this.#options });
    this.#kept = new Uint8Array(0);
    this.#told = 0;
    return rest;
  }
}

/** The same of characters. */
export class TextPieces implements PieceRedaction<string> {
  readonly #redaction: PieceRedaction<Uint8Array>;
  readonly #encoder = new TextEncoder();
  /** Pieces of bytes may end within a character. */
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Half of a character, whose other half comes with the next piece. */
  #half = '';

  constructor(redaction: PieceRedaction<Uint8Array>) {
    this.#redaction = redaction;
  }

  add(piece: string): string {
    const text = this.#half + piece;
    this.#half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    const whole = text.slice(0, text.length - this.#half.length);
    return this.#decoder.decode(this.#redaction.add(this.#encoder.encode(whole)), { stream: true });
  }

  end(): string {
    const rest = this.#decoder.decode(this.#redaction.end()) + this.#half;
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    this.#half = '';
    return rest;
  }
}

interface Replacement extends StreamOptions {
  readonly from: number;
  readonly until: number;
  readonly mark: Mark;
}

function replaced(
  bytes: Uint8Array,
  found: readonly FoundSecret[],
  { from, until, mark, keepsLines = false }: Replacement,
): Uint8Array {
  const inside = found.filter(({ start, end }) => end > from && start < until);
  if (inside.length === 0) return bytes.slice(from, until);
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let at = from;
  for (const { start, end, name } of inside) {
    const lineEnds = keepsLines
      ? bytes.subarray(Math.max(at, start), end).filter((byte) => byte === LINE_END)
      : new Uint8Array(0);
    parts.push(bytes.subarray(at, Math.max(at, start)), encoder.encode(mark(name)), lineEnds);
    at = end;
  }
  parts.push(bytes.subarray(at, Math.max(at, until)));
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
