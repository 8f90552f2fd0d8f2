/**
 * Data as it goes out to an inspector: secrets are taken out of every text first, then it is cut. What stays has the
 * shape that it had: lists are shorter, long texts end in an ellipsis, and what is nested too deeply is empty.
 */
import type { InspectedText } from './inspected-text.ts';

export interface ShownLimits {
  /** Of all texts together; names and numbers count eight each. */
  readonly characters: number;
  /** Of one text. */
  readonly text: number;
  /** Of one list or object. */
  readonly entries: number;
  readonly depth: number;
}

/** Of one event of a session: as much as a message of a person may be long. */
export const EVENT_LIMITS: ShownLimits = { characters: 300_000, text: 256_000, entries: 1_000, depth: 30 };

export interface Shown<Value> {
  readonly value: Value;
  /** Something was left out. */
  readonly isCut: boolean;
}

/** Shorter texts are never cut: ids, kinds and states are among them. */
const SHORT_CHARACTERS = 200;
const VALUE_CHARACTERS = 8;
const MAX_KEY_CHARACTERS = 500;

const WHOLE: ShownLimits = { characters: Infinity, text: Number.MAX_SAFE_INTEGER, entries: Infinity, depth: 100 };

/** @param value JSON */
export function shownData<Value>(value: Value, text: InspectedText, limits: ShownLimits): Shown<Value> {
  const view = new View(text, limits);
  // What is left out of it is left out of lists and texts only.
  const shown = view.of(value, 0) as Value;
  return { value: shown, isCut: view.isCut };
}

/** The same data without secrets, and nothing else left out unless it is nested absurdly. @param value JSON */
export function wholeData<Value>(value: Value, text: InspectedText): Value {
  return shownData(value, text, WHOLE).value;
}

class View {
  isCut = false;
  readonly #text: InspectedText;
  readonly #limits: ShownLimits;
  #left: number;

  constructor(text: InspectedText, limits: ShownLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#left = limits.characters;
  }

  of(value: unknown, depth: number): unknown {
    this.#left -= VALUE_CHARACTERS;
    if (typeof value === 'string') return this.#string(value);
    if (typeof value === 'number') return this.#text.number(value);
    if (typeof value !== 'object' || value === null) return value;
    const isTooMuch = this.#left <= 0 || depth >= this.#limits.depth;
    if (Array.isArray(value)) return isTooMuch ? this.#emptied(value, []) : this.#list(value, depth + 1);
    return isTooMuch
      ? this.#emptied(Object.keys(value), {})
      : this.#object(value as Readonly<Record<string, unknown>>, depth + 1);
  }

  #string(text: string): string {
    const most = Math.max(SHORT_CHARACTERS, Math.min(this.#limits.text, this.#left));
    const shown = this.#text.cut(text, most);
    if (text.length > most) this.isCut = true;
    this.#left -= shown.length;
    return shown;
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = [];
    for (const each of list) {
      if (this.#left <= 0 || kept.length >= this.#limits.entries) {
        this.isCut = true;
        break;
      }
      kept.push(this.of(each, depth));
    }
    return kept;
  }

  #object(object: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
    const kept: [string, unknown][] = [];
    for (const key of Object.keys(object)) {
      if (object[key] === undefined) continue;
      if (kept.length >= this.#limits.entries) {
        this.isCut = true;
        break;
      }
      kept.push([this.#text.cut(key, MAX_KEY_CHARACTERS), this.of(object[key], depth)]);
    }
    return Object.fromEntries(kept);
  }

  #emptied<Empty>(entries: readonly unknown[], empty: Empty): Empty {
    if (entries.length > 0) this.isCut = true;
    return empty;
  }
}
