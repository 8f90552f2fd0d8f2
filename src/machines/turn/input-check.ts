/**
 * Checks of what a model sends, made from a JSON Schema that need not be trusted: one of an MCP server, or of an agent
 * file.
 *
 * Checked is what can be checked exactly and at a cost that stays small whatever the schema says; the rest is left to
 * the tool that carries out the call. So patterns are not run here (some take for ever), references are written out
 * within bounds, and formats count as notes, as the standard has them.
 */
import * as z from 'zod';
import { isRecord } from '../validate.ts';

/** Parts of a schema after its references are written out. */
const MAX_NODES = 2_000;
const MAX_DEPTH = 40;

/**
 * What our checks do not do and what stands beside it needs not: it only makes a schema narrower, so that without it
 * nothing right is refused.
 */
const NARROWING: ReadonlySet<string> = new Set([
  'pattern',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'oneOf',
  'allOf',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'unevaluatedProperties',
  'unevaluatedItems',
  'multipleOf',
]);

/** What changes the meaning of what stands beside it or of references, or would be checked in another way elsewhere. */
const UNCHECKED: ReadonlySet<string> = new Set([
  'patternProperties',
  'prefixItems',
  'additionalItems',
  '$dynamicRef',
  '$recursiveRef',
  '$anchor',
  '$id',
  'id',
]);

/** What says nothing about which values are right. */
const NOTES: ReadonlySet<string> = new Set([
  '$schema',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'format',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

type Schema = Readonly<Record<string, unknown>>;
type Input = Record<string, unknown>;

/** A check for objects that follow `schema`, as far as it goes. What it lets through is what came, unchanged. */
export function inputCheckOf(schema: Schema): z.ZodType<Input> {
  const anyObject = z.record(z.string(), z.unknown());
  const check = checkOf(schema);
  if (check === undefined) return anyObject;
  return anyObject.superRefine((input, context) => {
    for (const { path, message } of issuesOf(check, input))
      context.addIssue({ code: 'custom', path: [...path], message });
  });
}

function issuesOf(
  check: z.ZodType,
  input: Input,
): readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  try {
    return check.safeParse(input).error?.issues ?? [];
  } catch {
    // A check that cannot be carried out refuses nothing; the tool that carries out the call will.
    return [];
  }
}

function checkOf(schema: Schema): z.ZodType | undefined {
  try {
    const plain = new Rewriting(schema).whole();
    return plain === undefined ? undefined : z.fromJSONSchema(plain);
  } catch {
    return undefined;
  }
}

/** Thrown through the whole rewriting when the schema is beyond us. */
class Beyond extends Error {}

/** One schema, rewritten into what can be checked. */
class Rewriting {
  readonly #root: Schema;
  #nodes = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** Undefined when the schema is beyond us. */
  whole(): Schema | undefined {
    try {
      const plain = this.#schema(this.#root, 0);
      return typeof plain === 'boolean' ? undefined : plain;
    } catch (error) {
      if (error instanceof Beyond) return undefined;
      throw error;
    }
  }

  #schema(given: unknown, depth: number): Schema | boolean {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || depth > MAX_DEPTH) throw new Beyond();
    if (typeof given === 'boolean') return given;
    if (!isRecord(given)) throw new Beyond();
    if ('$ref' in given) return this.#schema(this.#target(given), depth + 1);
    return Object.fromEntries(
      Object.entries(given)
        .filter(([key]) => !NOTES.has(key) && !NARROWING.has(key))
        .map(([key, value]) => [key, key === 'required' ? namesToSend(given) : this.#keyword(key, value, depth)]),
    );
  }

  #keyword(key: string, value: unknown, depth: number): unknown {
    if (UNCHECKED.has(key)) throw new Beyond();
    switch (key) {
      case 'properties':
        // What every object has would be found in it although it was not sent.
        if (!isRecord(value) || Object.keys(value).some((name) => name in Object.prototype)) throw new Beyond();
        return Object.fromEntries(
          Object.entries(value).map(([name, schema]) => [name, this.#schema(schema, depth + 1)]),
        );
      case 'items':
      case 'additionalProperties':
        return this.#schema(value, depth + 1);
      case 'anyOf':
        if (!Array.isArray(value)) throw new Beyond();
        return value.map((schema) => this.#schema(schema, depth + 1));
      case 'const':
      case 'enum':
        // Only what is compared by value.
        if ([value].flat().some((one) => typeof one === 'object' && one !== null)) throw new Beyond();
        return value;
      default:
        return value;
    }
  }

  /** What a reference within the document points to; a reference with neighbours means both, which is beyond us. */
  #target(given: Schema): unknown {
    const reference = given['$ref'];
    const neighbours = Object.keys(given).filter((key) => key !== '$ref' && !NOTES.has(key));
    const found =
      typeof reference === 'string'
        ? /^#\/(?<place>\$defs|definitions)\/(?<name>[^/~%]+)$/.exec(reference)?.groups
        : undefined;
    const place = found === undefined ? undefined : this.#root[found['place'] ?? ''];
    const name = found?.['name'] ?? '';
    if (neighbours.length > 0 || !isRecord(place) || !Object.hasOwn(place, name)) throw new Beyond();
    return place[name];
  }
}

/**
 * What has a default need not be sent: many a server lists it as required, since its schema says what an input is once
 * it was read.
 */
function namesToSend({ required, properties }: Schema): unknown {
  if (!Array.isArray(required) || !isRecord(properties)) return required;
  return required.filter((name: unknown) => {
    const property = typeof name === 'string' ? properties[name] : undefined;
    return !isRecord(property) || !('default' in property);
  });
}
