/** For an unknown key: the one that was probably meant, or all that there are. */
import { z } from 'zod';
import { closestName } from '../closest-name.ts';

/** What follows the complaint about the key at the end of `path`; empty where the schema tells nothing. */
export function meantKey(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const { keys, isOneForm } = keysAt(schema, path.slice(0, -1));
  const meant = closestName(String(path.at(-1)), keys);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return isOneForm && keys.length > 0 ? `; expected one of ${keys.join(', ')}` : '';
}

interface Keys {
  readonly keys: readonly string[];
  /** Whether all of them may stand side by side. */
  readonly isOneForm: boolean;
}

const NO_KEYS: Keys = { keys: [], isOneForm: true };

function keysAt(schema: unknown, path: readonly PropertyKey[]): Keys {
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodUnion) return together(plain.options.map((option) => keysAt(option, path)));
  const [next, ...rest] = path;
  if (plain instanceof z.ZodArray) return keysAt(plain.element, rest);
  if (plain instanceof z.ZodRecord) return next === undefined ? NO_KEYS : keysAt(plain.valueType, rest);
  if (!(plain instanceof z.ZodObject)) return NO_KEYS;
  const shape = plain.shape as Readonly<Record<string, unknown>>;
  if (next === undefined) return { keys: Object.keys(shape), isOneForm: true };
  return Object.hasOwn(shape, String(next)) ? keysAt(shape[String(next)], rest) : NO_KEYS;
}

function together(forms: readonly Keys[]): Keys {
  const withKeys = forms.filter(({ keys }) => keys.length > 0);
  return {
    keys: [...new Set(withKeys.flatMap(({ keys }) => keys))],
    isOneForm: withKeys.length < 2 && withKeys.every(({ isOneForm }) => isOneForm),
  };
}

function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return unwrapped(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}
