/** Every text of another program on its way into a record: secrets are taken out of it first, then it is cut. */
import { cutText } from '../cut-text.ts';
import { boundedData } from './bounded-data.ts';
import type { BoundedData } from './bounded-data.ts';
import { MAX_MESSAGE_CHARACTERS, MAX_NAME_CHARACTERS } from './inspection-record.ts';
import { marginOf } from '../vault/text-redaction.ts';
import type { TextRedaction } from '../vault/text-redaction.ts';

/**
 * Takes secrets out of a text: whatever it gives back may be shown. One that throws, or gives no text, costs the text.
 */
export type RedactText = TextRedaction;

/** Nothing is known of it, so nothing is shown. */
const NOT_REDACTED = '[left out: it could not be redacted]';
/**
 * So much of one text is kept, and a margin beyond it is redacted with it: there a secret that was torn is not known as
 * one.
 */
const MAX_KEPT_CHARACTERS = 12_000;
/** More is cut away afterwards in any case. */
const MAX_VALUES = 2_000;
const MAX_CHARACTERS = 200_000;
const MAX_DEPTH = 16;
const MARK = '…';

interface Budget {
  values: number;
  characters: number;
  hasCut: boolean;
}

export class StatelyText {
  readonly #redact: RedactText | undefined;

  constructor(redact?: RedactText) {
    this.#redact = redact;
  }

  get #mostRead(): number {
    return MAX_KEPT_CHARACTERS + marginOf(this.#redact);
  }

  name(text: string): string {
    return cutText(this.#redacted(text), MAX_NAME_CHARACTERS);
  }

  message(text: string): string {
    return cutText(this.#redacted(text), MAX_MESSAGE_CHARACTERS);
  }

  /** @param value JSON @returns a copy, redacted and bounded */
  payload(value: unknown): BoundedData {
    if (this.#redact === undefined) return boundedData(value);
    const budget: Budget = { values: MAX_VALUES, characters: MAX_CHARACTERS, hasCut: false };
    const { data, cut: isCut } = boundedData(this.#copied(value, 0, budget));
    return isCut === true || budget.hasCut ? { data, cut: true } : { data };
  }

  #copied(value: unknown, depth: number, budget: Budget): unknown {
    budget.values -= 1;
    if (typeof value === 'string') return this.#text(value, budget);
    if (typeof value === 'number') return this.#number(value, budget);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH || budget.values < 0 || budget.characters < 0) return left(budget);
    if (Array.isArray(value)) return this.#list(value, depth + 1, budget);
    return this.#object(value as Readonly<Record<string, unknown>>, depth + 1, budget);
  }

  #list(list: readonly unknown[], depth: number, budget: Budget): readonly unknown[] {
    const kept: unknown[] = [];
    for (const each of list) {
      if (budget.values < 0 || budget.characters < 0) return [...kept, left(budget)];
      kept.push(this.#copied(each, depth, budget));
    }
    return kept;
  }

  #object(object: Readonly<Record<string, unknown>>, depth: number, budget: Budget): Readonly<Record<string, unknown>> {
    const kept: [string, unknown][] = [];
    for (const key of Object.keys(object)) {
      if (budget.values < 0 || budget.characters < 0) {
        kept.push([MARK, left(budget)]);
        break;
      }
      kept.push([this.#text(key, budget), this.#copied(object[key], depth, budget)]);
    }
    // Defines `__proto__` as a key like any other.
    return Object.fromEntries(kept);
  }

  /** A secret of digits may have been taken for a number. */
  #number(value: number, budget: Budget): number | string {
    const text = String(value);
    const redacted = this.#text(text, budget);
    return redacted === text ? value : redacted;
  }

  #text(text: string, budget: Budget): string {
    budget.characters -= text.length;
    if (text.length > this.#mostRead) budget.hasCut = true;
    return this.#redacted(text);
  }

  #redacted(text: string): string {
    if (this.#redact === undefined) return text;
    try {
      const isLong = text.length > this.#mostRead;
      const redacted: unknown = this.#redact(isLong ? text.slice(0, this.#mostRead) : text);
      if (typeof redacted !== 'string') return NOT_REDACTED;
      return isLong ? `${redacted.slice(0, Math.max(0, redacted.length - marginOf(this.#redact)))}${MARK}` : redacted;
    } catch {
      return NOT_REDACTED;
    }
  }
}

function left(budget: Budget): string {
  budget.hasCut = true;
  return MARK;
}
