/**
 * Plain copies of whatever programs send and keep: bounded, redacted, and made without running anything of theirs.
 * Getters are not called, `toJSON` and iterators are not asked; of instances of classes only the name of the class is
 * told. Only a proxy runs code of its own; what it throws is caught.
 */
import type { InspectedText } from './inspected-text.ts';
import type { RecorderLimits } from '../../machines/inspection-log/recorder-limits.ts';

/** What one value takes up besides its characters. */
const VALUE_CHARACTERS = 8;
const UNREADABLE = '«unreadable»';
/**
 * The language lists all keys of an object or none, which takes as long as there are many: one with more than this is
 * listed once, and told by its class from then on.
 */
const MANY_KEYS = 10_000;

type Plain = Record<string, unknown>;

export class BoundedCopy {
  readonly #text: InspectedText;
  readonly #limits: RecorderLimits;
  /** The objects on the way down to here. */
  #path: object[] = [];
  /** Objects with many keys that were listed. */
  readonly #wide = new WeakSet<object>();
  #left = 0;
  /** Of the last copy: whether something was left out. */
  isCut = false;

  constructor(text: InspectedText, limits: RecorderLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  /** How many characters the last copy took up. */
  get characters(): number {
    return this.#limits.payload - Math.max(0, this.#left);
  }

  /** @param without keys of `value` itself that are left out without a word */
  of(value: unknown, without: ReadonlySet<string> = NONE): unknown {
    this.isCut = false;
    this.#left = this.#limits.payload;
    this.#path = [];
    return this.#copy(value, without);
  }

  #copy(value: unknown, without = NONE): unknown {
    this.#left -= VALUE_CHARACTERS;
    if (this.#left <= 0) return this.#cut('…');
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'number':
        return this.#text.number(value);
      case 'boolean':
      case 'undefined':
        return value;
      case 'bigint':
        return this.#bigint(value);
      case 'symbol':
        return this.#note(value.description ?? 'symbol');
      case 'function':
        return this.#note('function');
      case 'object':
        return value === null ? null : this.#guarded(value, without);
    }
  }

  #guarded(value: object, without: ReadonlySet<string>): unknown {
    if (this.#path.includes(value)) return this.#note('circular');
    if (this.#path.length >= this.#limits.depth) return this.#cut('…');
    this.#path.push(value);
    try {
      return this.#object(value, without);
    } catch {
      return this.#cut(UNREADABLE);
    } finally {
      this.#path.pop();
    }
  }

  #object(value: object, without: ReadonlySet<string>): unknown {
    if (Array.isArray(value)) return this.#list(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.#entries(value, without);
    if (value instanceof Error) return this.#error(value);
    if (value instanceof Map) return this.#collected('Map', Map.prototype.entries.call(value));
    if (value instanceof Set) return this.#collected('Set', Set.prototype.values.call(value));
    if (value instanceof Date) return this.#date(value);
    if (ArrayBuffer.isView(value)) return this.#note(`${classOf(prototype)} of ${value.byteLength} bytes`);
    return this.#note(classOf(prototype));
  }

  #list(list: readonly unknown[]): unknown[] {
    const copy: unknown[] = [];
    const length = Math.min(list.length, this.#limits.breadth);
    for (let index = 0; index < length && this.#left > 0; index += 1)
      copy.push(this.#property(list, String(index)) ?? null);
    if (copy.length < list.length) copy.push(this.#cut(`… ${list.length - copy.length} more`));
    return copy;
  }

  #entries(object: object, without: ReadonlySet<string>): Plain | string {
    if (this.#wide.has(object)) return this.#note(`object of more than ${MANY_KEYS} keys`);
    const copy: Plain = {};
    const keys = Object.keys(object);
    if (keys.length > MANY_KEYS) this.#wide.add(object);
    let count = 0;
    for (const key of keys) {
      if (without.has(key)) continue;
      if (count === this.#limits.breadth || this.#left <= 0) {
        put(copy, '…', this.#cut(`${keys.length - count} keys, of which ${count} are told`));
        break;
      }
      count += 1;
      const value = this.#property(object, key);
      if (value !== undefined) put(copy, this.#string(key), value);
    }
    return copy;
  }

  #property(object: object, key: string): unknown {
    const property = Object.getOwnPropertyDescriptor(object, key);
    if (property === undefined) return undefined;
    return 'value' in property ? this.#copy(property.value) : this.#note('getter');
  }

  #error(error: Error): Plain {
    const copy: Plain = { error: this.#note(classOf(Object.getPrototypeOf(error))) };
    for (const key of ['name', 'message', 'code', 'cause']) {
      const value = this.#property(error, key);
      if (value !== undefined) copy[key] = value;
    }
    return copy;
  }

  /** @param values the language's own, whatever the object says of itself */
  #collected(name: string, values: Iterable<unknown>): Plain {
    const items: unknown[] = [];
    for (const value of values) {
      if (items.length === this.#limits.breadth || this.#left <= 0) {
        items.push(this.#cut('… more'));
        break;
      }
      items.push(this.#copy(value) ?? null);
    }
    return { [`«${name}»`]: items };
  }

  #date(date: Date): string {
    const ms = Date.prototype.getTime.call(date);
    return Number.isNaN(ms) ? this.#note('invalid date') : Date.prototype.toISOString.call(date);
  }

  /** One of a million digits would take seconds to write. */
  #bigint(value: bigint): string {
    const isHuge = BigInt.asIntN(256, value) !== value;
    return isHuge ? this.#note('a huge bigint') : this.#string(`${value}n`);
  }

  #string(text: string): string {
    const most = Math.max(1, Math.min(this.#limits.text, this.#left));
    const copy = this.#text.cut(text, most);
    if (text.length > most) this.isCut = true;
    this.#left -= copy.length;
    return copy;
  }

  /** What cannot be told, by what it is. */
  #note(what: string): string {
    return this.#cut(this.#text.note(what));
  }

  #cut(text: string): string {
    this.isCut = true;
    this.#left -= text.length;
    return text;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** A key named `__proto__` must not become the prototype of the copy. */
function put(copy: Plain, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  else copy[key] = value;
}

/** Of prototypes that were met. */
const classes = new WeakMap<object, string>();

/** The name that the prototype gives, without asking anything of the object. */
function classOf(prototype: unknown): string {
  if (typeof prototype !== 'object' || prototype === null) return 'object';
  const known = classes.get(prototype);
  if (known !== undefined) return known;
  const own: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  const name: unknown = typeof own === 'function' ? Object.getOwnPropertyDescriptor(own, 'name')?.value : undefined;
  const found = typeof name === 'string' && name !== '' ? name : 'object';
  classes.set(prototype, found);
  return found;
}
