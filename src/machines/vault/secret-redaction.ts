/** Takes secrets out of texts, JSON values and streams of bytes: in their place stands what they are called. */
import { SecretScan } from './secret-scan.ts';
import type { FoundSecret } from './secret-scan.ts';

/** JSON that is nested more deeply is cut. */
const MAX_DEPTH = 1_000;
/** Bytes that were told already, with which a secret may begin whose rest comes later: three characters and the white space between them. */
const CONTEXT_BYTES = 256;
/** A text of fewer characters holds none. */
const MIN_CHARACTERS = 6;

export type Mark = (name: string) => string;

const named: Mark = (name) => `[redacted ${name}]`;

/** Not longer than any secret: where there is room for no more. */
export const shortMark: Mark = () => '***';

export interface JsonRedactionOptions {
  readonly mark?: Mark | undefined;
  /** Keys whose values stay as they are, wherever they stand. Where there are any, keys stay as they are too. */
  readonly keeps?: ((key: string) => boolean) | undefined;
}

export class SecretRedaction {
  readonly #scan: SecretScan;

  /** @param secrets values by what the secrets are called: that of now, and those that it had before */
  constructor(secrets: ReadonlyMap<string, readonly string[]>) {
    this.#scan = new SecretScan(secrets);
  }

  text(text: string, mark: Mark = named): string {
    if (text.length < MIN_CHARACTERS) return text;
    const bytes = new TextEncoder().encode(text);
    const { found } = this.#scan.look(bytes);
    return found.length === 0 ? text : new TextDecoder().decode(replaced(bytes, found, { from: 0, until: bytes.length, mark }));
  }

  /** Keys included. Gives the same value when nothing is in it. */
  json<Value>(value: Value, options: JsonRedactionOptions = {}): Value {
    return this.#json(value, options, 0) as Value;
  }

  bytes(): StreamRedaction {
    return new StreamRedaction(() => this.#scan);
  }

  get scan(): SecretScan {
    return this.#scan;
  }

  #json(value: unknown, options: JsonRedactionOptions, depth: number): unknown {
    if (typeof value === 'string') return this.text(value, options.mark);
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
      return [keeps === undefined ? ownKey(this.text(key, mark), taken) : key, isKept ? item : this.#json(item, options, depth)] as const;
    });
    const isSame = redacted.every(([key, item], index) => key === entries[index]?.[0] && Object.is(item, entries[index]?.[1]));
    return isSame ? object : Object.fromEntries(redacted);
  }
}

/** Two keys that were secrets stay two. */
function ownKey(key: string, taken: Set<string>): string {
  let name = key;
  for (let number = 2; taken.has(name); number += 1) name = `${key} (${number})`;
  taken.add(name);
  return name;
}

/** Of one stream. Four characters of a secret are kept back until it is clear whether it is one; up to three may have been told before. */
export class StreamRedaction {
  readonly #scan: () => SecretScan;
  /** What was told last, and what was not told yet. */
  #kept: Uint8Array = new Uint8Array(0);
  #told = 0;

  /** @param scan asked anew for each piece: secrets may become known while it runs */
  constructor(scan: () => SecretScan) {
    this.#scan = scan;
  }

  /** What can be told of it so far. */
  add(piece: Uint8Array): Uint8Array {
    const bytes = joined(this.#kept, piece);
    const { found, unsureFrom } = this.#scan().look(bytes, false);
    let until = Math.max(this.#told, unsureFrom);
    for (const { start, end } of found) if (start < until) until = Math.max(until, end);
    const told = replaced(bytes, found, { from: this.#told, until, mark: named });
    const keptFrom = Math.max(0, until - CONTEXT_BYTES);
    this.#kept = bytes.slice(keptFrom);
    this.#told = until - keptFrom;
    return told;
  }

  /** What was kept back: no more pieces come. */
  end(): Uint8Array {
    const { found } = this.#scan().look(this.#kept);
    const rest = replaced(this.#kept, found, { from: this.#told, until: this.#kept.length, mark: named });
    this.#kept = new Uint8Array(0);
    this.#told = 0;
    return rest;
  }
}

interface Replacement {
  readonly from: number;
  readonly until: number;
  readonly mark: Mark;
}

function replaced(bytes: Uint8Array, found: readonly FoundSecret[], { from, until, mark }: Replacement): Uint8Array {
  const inside = found.filter(({ start, end }) => end > from && start < until);
  if (inside.length === 0) return bytes.slice(from, until);
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let at = from;
  for (const { start, end, name } of inside) {
    parts.push(bytes.subarray(at, Math.max(at, start)), encoder.encode(mark(name)));
    at = end;
  }
  parts.push(bytes.subarray(at, Math.max(at, until)));
  return joined(...parts);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
