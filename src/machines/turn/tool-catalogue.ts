/**
 * The catalogue of managed tools: what each is, takes, gives and can do, read off its definition. Pages, lists and
 * artifacts are made from it.
 */
import * as z from 'zod';
import type { ToolDefinition, ToolEffect } from './tool-definition.ts';
import { TOOL_FAMILIES } from './tool-family.ts';
import type { ToolFamily } from './tool-family.ts';

/** A field of an input or an output. */
export interface CatalogueField {
  readonly name: string;
  readonly required: boolean;
}

/**
 * `kind`: what it is where it is no object with known fields. `fields`: of an object, or of any of the objects that it
 * may be.
 */
export interface CatalogueShape {
  readonly kind: 'object' | 'text' | 'list' | 'number' | 'yes or no' | 'nothing' | 'one of several' | 'any';
  readonly fields: readonly CatalogueField[];
}

export interface CatalogueEntry {
  readonly name: string;
  readonly family?: ToolFamily | undefined;
  readonly description: string;
  readonly input: CatalogueShape;
  /** Absent where the tool does not say. */
  readonly output?: CatalogueShape | undefined;
  readonly effects: readonly ToolEffect[];
  readonly permissionPolicy: ToolDefinition['permissionPolicy'];
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly interruptBehavior: ToolDefinition['interruptBehavior'];
}

/** The managed ones among these, by family and then as they were given. */
export function managedToolCatalogue(tools: readonly ToolDefinition[]): readonly CatalogueEntry[] {
  const rankOf = ({ family }: CatalogueEntry): number =>
    family === undefined ? TOOL_FAMILIES.length : TOOL_FAMILIES.indexOf(family);
  return tools
    .filter(({ ownership }) => ownership === 'managed')
    .map(catalogueEntry)
    .toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** One tool, of any owner. */
export function catalogueEntry(definition: ToolDefinition): CatalogueEntry {
  const {
    name,
    family,
    description,
    inputSchema,
    inputJsonSchema,
    outputSchema,
    effects = [],
    permissionPolicy,
    readOnly,
    destructive,
    idempotent = false,
    interruptBehavior,
  } = definition;
  return {
    name,
    ...(family === undefined ? {} : { family }),
    description,
    input: shapeOf(inputJsonSchema ?? z.toJSONSchema(inputSchema, { io: 'input', unrepresentable: 'any' })),
    ...(outputSchema === undefined
      ? {}
      : { output: shapeOf(z.toJSONSchema(outputSchema, { io: 'output', unrepresentable: 'any' })) }),
    effects,
    permissionPolicy,
    readOnly,
    destructive,
    idempotent,
    interruptBehavior,
  };
}

interface JsonSchema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

const KINDS: Readonly<Record<string, CatalogueShape['kind']>> = {
  object: 'object',
  string: 'text',
  array: 'list',
  number: 'number',
  integer: 'number',
  boolean: 'yes or no',
  null: 'nothing',
};

function shapeOf(schema: JsonSchema): CatalogueShape {
  const choices = schema.anyOf ?? schema.oneOf ?? [];
  const parts = [...choices, ...(schema.allOf ?? [])].map(shapeOf);
  const own = Object.keys(schema.properties ?? {}).map((name): CatalogueField => ({
    name,
    required: schema.required?.includes(name) === true,
  }));
  if (parts.length === 0)
    return { kind: typeof schema.type === 'string' ? (KINDS[schema.type] ?? 'any') : 'any', fields: own };
  const kinds = new Set(parts.map(({ kind }) => kind));
  const [only] = kinds;
  return {
    kind: kinds.size === 1 && only !== undefined ? only : 'one of several',
    fields: joined([...parts, { kind: 'object', fields: own }], choices.length > 0),
  };
}

/** Of several objects, a field is required when all of them require it. */
function joined(shapes: readonly CatalogueShape[], isChoice: boolean): readonly CatalogueField[] {
  const objects = shapes.filter(({ fields }) => fields.length > 0);
  const names = [...new Set(objects.flatMap(({ fields }) => fields.map(({ name }) => name)))];
  const requires =
    (name: string) =>
    (shape: CatalogueShape): boolean =>
      shape.fields.some((field) => field.name === name && field.required);
  return names.map((name) => ({
    name,
    required: isChoice ? objects.every(requires(name)) : objects.some(requires(name)),
  }));
}

/** What a shape has, on one line: `path offset? limit?`, or what it is. */
export function shapeText({ kind, fields }: CatalogueShape, quote: (name: string) => string = (name) => name): string {
  const names = fields.map(({ name, required }) => quote(`${name}${required ? '' : '?'}`)).join(' ');
  if (kind === 'object') return names === '' ? '' : names;
  return names === '' ? kind : `${kind}, such as ${names}`;
}
