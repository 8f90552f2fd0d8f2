/**
 * One text for each JSON value, whatever the order of its keys: what is hashed to tell whether two values are the same.
 */
import { RuntimeError, messageOf } from './errors.ts';

type Frame = {
  readonly close: string;
  readonly parts: IterableIterator<readonly [label: string, value: unknown]>;
  isFirst: boolean;
  readonly value: object;
};

/**
 * The value as JSON without white space, the keys of every object in the order of their UTF-16 code units. A key whose
 * value is undefined is left out, as JSON leaves it out. However deep it is nested: nothing here recurses.
 * @throws RuntimeError NOT_JSON for whatever JSON would lose or change: NaN, functions, dates, undefined in a list,
 * cycles
 */
export function canonicalJson(value: unknown): string {
  const written: string[] = [];
  const open: Frame[] = [];
  const above = new Set<object>();
  const write = (each: unknown): void => {
    const frame = frameOf(each);
    if (frame === undefined) {
      written.push(scalarText(each));
      return;
    }
    if (above.has(frame.value)) throw notJson('an object that contains itself');
    above.add(frame.value);
    open.push(frame);
    written.push(frame.close === ']' ? '[' : '{');
  };
  write(value);
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const next = frame.parts.next();
    if (next.done === true) {
      written.push(frame.close);
      above.delete(frame.value);
      open.pop();
      continue;
    }
    const [label, part] = next.value;
    written.push(frame.isFirst ? label : `,${label}`);
    frame.isFirst = false;
    write(part);
  }
  return written.join('');
}

function frameOf(value: unknown): Frame | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return { close: ']', parts: itemsOf(value), isFirst: true, value };
  const prototype: unknown = Object.getPrototypeOf(value);
  // Plain objects of another realm have a prototype of their own, whose prototype is none.
  const isPlain =
    prototype === null ||
    (typeof prototype === 'object' &&
      Object.getPrototypeOf(prototype) === null &&
      Object.hasOwn(prototype, 'hasOwnProperty'));
  if (!isPlain) throw notJson(`an object that is not plain: ${messageOf(value)}`);
  return { close: '}', parts: membersOf(value), isFirst: true, value };
}

function* itemsOf(list: readonly unknown[]): IterableIterator<readonly [string, unknown]> {
  for (const item of list) yield ['', item];
}

function* membersOf(value: object): IterableIterator<readonly [string, unknown]> {
  for (const key of Object.keys(value).toSorted(byCodeUnits)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) yield [`${JSON.stringify(key)}:`, member];
  }
}

function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function scalarText(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  throw notJson(typeof value === 'number' ? String(value) : typeof value);
}

function notJson(what: string): RuntimeError {
  return new RuntimeError('NOT_JSON', `expected a value that JSON can hold, received ${what}`, {
    category: 'validation',
    hint: 'Pass plain objects, lists, texts, finite numbers, booleans and null.',
  });
}
