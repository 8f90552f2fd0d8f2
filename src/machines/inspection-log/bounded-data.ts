/** Cuts data down to what an inspector shows: a stored event may hold megabytes. */
import { beginningOf } from '../cut-text.ts';

const MAX_CHARACTERS = 8_192;
const MAX_TEXT = 2_000;
const MAX_DEPTH = 12;
const MARK = '…';

export interface BoundedData {
  readonly data: unknown;
  /** Something was left out. */
  readonly cut?: true;
}

/** @param value JSON */
export function boundedData(value: unknown): BoundedData {
  const cutter = new Cutter();
  const data = cutter.cut(value, 0);
  return cutter.hasCut ? { data, cut: true } : { data };
}

class Cutter {
  hasCut = false;
  #left = MAX_CHARACTERS;

  cut(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    this.#left -= 8;
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return this.#mark();
    return Array.isArray(value)
      ? this.#list(value, depth + 1)
      : this.#object(value as Readonly<Record<string, unknown>>, depth + 1);
  }

  #text(text: string): string {
    const most = Math.max(0, Math.min(MAX_TEXT, this.#left));
    this.#left -= Math.min(most, text.length) + 8;
    if (text.length <= most) return text;
    this.hasCut = true;
    return beginningOf(text, most) + MARK;
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = [];
    for (const each of list) {
      if (this.#left <= 0) return [...kept, this.#mark()];
      kept.push(this.cut(each, depth));
    }
    return kept;
  }

  #object(object: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
    const kept: [string, unknown][] = [];
    for (const key in object) {
      if (this.#left <= 0) {
        kept.push([MARK, this.#mark()]);
        break;
      }
      kept.push([this.#text(key), this.cut(object[key], depth)]);
    }
    return Object.fromEntries(kept);
  }

  #mark(): string {
    this.hasCut = true;
    return MARK;
  }
}
