/** What a tool gave as JSON, and where something stands that JSON would lose without a word. */
import { pathOf } from '../validate.ts';

export type ResultJson =
  | { readonly text: string | undefined; readonly lost?: never }
  /** What a model can be told: `result.n: expected a JSON value, received a bigint`. */
  | { readonly text?: undefined; readonly lost: string };

/** Objects of these kinds have their contents elsewhere than in keys. */
const KEPT_ELSEWHERE = /^(?:Error|DOMException|(?:Weak)?(?:Map|Set)|Promise|RegExp|.*(?:Iterator|Generator))$/;

interface Above {
  readonly object: unknown;
  readonly key: PropertyKey;
}

/** @throws what the values throw, and TypeError for one that contains itself */
export function resultJson(result: unknown): ResultJson {
  const above: Above[] = [];
  let lost: string | undefined;
  const text = JSON.stringify(result, function (this: unknown, key: string, value: unknown) {
    // Once something is lost, nothing else of it counts.
    if (lost !== undefined) return undefined;
    while (above.length > 0 && above.at(-1)?.object !== this) above.pop();
    const step = Array.isArray(this) ? Number(key) : key;
    const kind = lostKind(value);
    if (kind !== undefined) {
      const path = [...above.map((each) => each.key), step].slice(1);
      lost = `${pathOf(['result', ...path])}: expected a JSON value, received ${kind}`;
      return undefined;
    }
    if (typeof value === 'object') above.push({ object: value, key: step });
    return value;
  }) as string | undefined;
  return lost === undefined ? { text } : { lost };
}

function lostKind(value: unknown): string | undefined {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`;
  if (typeof value !== 'object' || value === null) return undefined;
  const kind = value instanceof Error ? 'Error' : Object.prototype.toString.call(value).slice(8, -1);
  if (!KEPT_ELSEWHERE.test(kind)) return undefined;
  return value instanceof Error ? `the error "${value.message}"` : `an object of the kind ${kind}`;
}
