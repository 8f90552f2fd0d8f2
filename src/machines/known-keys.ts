/** The keys that a schema knows, for what is said about one that it does not. */
import * as z from 'zod';
import { closestName } from './closest-name.ts';

export interface KnownKeys {
  readonly keys: readonly string[];
  /** Whether all of them may stand side by side. */
  readonly isOneForm: boolean;
}

const NO_KEYS: KnownKeys = { keys: [], isOneForm: true };

/** What may stand at `path`. */
export function keysAt(schema: unknown, path: readonly PropertyKey[]): KnownKeys {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodUnion) return together(inner.options.map((option) => keysAt(option, path)));
  const [next, ...rest] = path;
  if (inner instanceof z.ZodArray) return keysAt(inner.element, rest);
  if (inner instanceof z.ZodRecord) return next === undefined ? NO_KEYS : keysAt(inner.valueType, rest);
  if (!(inner instanceof z.ZodObject)) return NO_KEYS;
  const shape = inner.shape as Readonly<Record<string, unknown>>;
  if (next === undefined) return { keys: Object.keys(shape), isOneForm: true };
  return Object.hasOwn(shape, String(next)) ? keysAt(shape[String(next)], rest) : NO_KEYS;
}

/** The key that was probably meant by the last one of `path`. */
export function meantKeyAt(schema: unknown, path: readonly PropertyKey[]): string | undefined {
  return closestName(String(path.at(-1)), keysAt(schema, path.slice(0, -1)).keys);
}

function together(forms: readonly KnownKeys[]): KnownKeys {
  const withKeys = forms.filter(({ keys }) => keys.length > 0);
  return {
    keys: [...new Set(withKeys.flatMap(({ keys }) => keys))],
    isOneForm: withKeys.length < 2 && withKeys.every(({ isOneForm }) => isOneForm),
  };
}

function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault)
    return unwrapped(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}
