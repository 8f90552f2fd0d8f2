/** The fields of a zod schema as it is written into a file: what each takes, and its default. */
import { z } from 'zod';
import { pathBelow } from './schema-docs.ts';

export interface SchemaField {
  readonly path: string;
  readonly takes: string;
  readonly fallback: string | undefined;
  /** `in_form`: where several forms are taken, in the one that has this field. */
  readonly isNeeded: boolean | 'in_form';
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: string | number | boolean | null;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
}

/** No limit that was set, but the largest whole number. */
const LIMITLESS = Number.MAX_SAFE_INTEGER;

export function schemaFields(schema: z.ZodType): SchemaField[] {
  const fields = new Map<string, SchemaField>();
  const visit = (part: JsonSchema, prefix: string, isForm = false): void => {
    for (const [name, field] of Object.entries(part.properties ?? {})) {
      const path = pathBelow(prefix, name);
      const isNeeded = part.required?.includes(name) === true && (isForm ? 'in_form' : true);
      if (!fields.has(path))
        fields.set(path, { path, takes: takesOf(field, name), fallback: fallbackOf(field), isNeeded });
      // A JSON Schema within is the reader's own.
      if (name !== 'input') visit(field, path);
    }
    for (const choice of part.anyOf ?? []) visit(choice, prefix, true);
    if (part.items !== undefined) visit(part.items, `${prefix}[]`);
    if (typeof part.additionalProperties === 'object') visit(part.additionalProperties, `${prefix}.NAME`);
  };
  visit(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema, '');
  return [...fields.values()];
}

function fallbackOf({ default: value }: JsonSchema): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  const text = JSON.stringify(value) as string | undefined;
  return text === '{}' || text === '[]' ? undefined : text;
}

function takesOf(schema: JsonSchema, name: string): string {
  if (schema.anyOf !== undefined)
    return [...new Set(schema.anyOf.map((choice) => takesOf(choice, name)))].join(', or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(' or ');
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  switch (schema.type) {
    case 'string':
      return schema.format === 'uri'
        ? 'URL'
        : `text${schema.maxLength === undefined ? '' : ` of ${schema.maxLength} characters at most`}`;
    case 'boolean':
      return '`true` or `false`';
    case 'integer':
    case 'number':
      return numberText(schema, name);
    case 'array':
      return `list of ${takesOf(schema.items ?? {}, name)}${schema.maxItems === undefined ? '' : `; ${schema.maxItems} of them at most`}`;
    case 'object':
      return schema.properties === undefined ? 'mapping of names' : 'mapping';
    case undefined:
    default:
      return 'any value';
  }
}

function numberText({ type, minimum, exclusiveMinimum, maximum }: JsonSchema, name: string): string {
  const least = minimum === undefined || minimum === -LIMITLESS ? undefined : minimum;
  const greatest = maximum === LIMITLESS ? undefined : maximum;
  const unit = unitOf(name);
  const bounds = [
    exclusiveMinimum === undefined ? '' : `more than ${exclusiveMinimum}`,
    least === undefined ? '' : greatest === undefined ? `at least ${least}` : `${least} to ${greatest}`,
    least === undefined && greatest !== undefined ? `at most ${greatest}` : '',
  ].filter((bound) => bound !== '');
  return [type === 'integer' ? `whole number${unit}` : `number${unit}`, ...bounds].join(', ');
}

/** Names say the unit. */
export function unitOf(name: string): string {
  if (name.endsWith('Ms')) return ' of milliseconds';
  if (/Seconds/.test(name)) return ' of seconds';
  if (name.endsWith('Bytes')) return ' of bytes';
  if (/Tokens/.test(name)) return ' of tokens';
  return /Cost/.test(name) ? ' of US dollars' : '';
}
