/**
 * Small files that people write and every wake asks for: read in this turn of the event loop, since to pass a page of
 * text to another thread costs more than to read it, and parsed again only when they have changed.
 */
import { closeSync, constants, openSync, readFileSync, statSync } from 'node:fs';

/**
 * For how long a file must have rested before what it says is kept, in milliseconds. File systems stamp changes with a
 * coarse clock, some only every other second: of two changes within one tick the second does not show.
 */
const RESTED_AFTER_MS = 2_000;

/** A pipe in the place of a file does not keep us waiting. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

interface Kept<Value> {
  readonly version: string;
  readonly value: Value;
}

export class ParsedFiles<Value> {
  readonly #limit: number;
  /** By path, the one used last at the end. */
  readonly #kept = new Map<string, Kept<Value>>();

  /** @param limit files that are kept at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws what the file system says, and what `parse` throws */
  load(path: string, parse: (text: string) => Value): Value {
    const kept = this.#kept.get(path);
    this.#kept.delete(path);
    const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs } = statSync(path, { bigint: true });
    const version = [dev, ino, size, mtimeNs, ctimeNs].join(':');
    if (kept?.version === version) return this.#keep(path, kept);
    const value = parse(textOf(path));
    // The stamps are the system's, so they are compared with its time and not with the runtime's.
    return Date.now() - Number(mtimeMs) < RESTED_AFTER_MS ? value : this.#keep(path, { version, value });
  }

  #keep(path: string, kept: Kept<Value>): Value {
    this.#kept.set(path, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#limit && oldest !== undefined) this.#kept.delete(oldest);
    return kept.value;
  }
}

function textOf(path: string): string {
  const descriptor = openSync(path, READING);
  try {
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
