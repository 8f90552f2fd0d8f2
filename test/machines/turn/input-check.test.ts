import { describe, expect, it } from 'vitest';
import { inputCheckOf } from '../../../src/machines/turn/input-check.ts';

describe('a check made of a JSON schema', () => {
  const accepts = (schema: object, input: object): boolean =>
    inputCheckOf(schema as Record<string, unknown>).safeParse(input).success;
  const objectOf = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });

  it.each([
    ['types', objectOf({ a: { type: 'integer' } }), { a: 1 }, { a: 1.5 }],
    ['required keys', objectOf({ a: {} }, { required: ['a'] }), { a: null }, {}],
    [
      'required keys, but for those that have a default',
      objectOf({ a: {}, b: { default: 1 } }, { required: ['a', 'b'] }),
      { a: 1 },
      { b: 1 },
    ],
    ['closed objects', objectOf({ a: {} }, { additionalProperties: false }), { a: 1 }, { b: 1 }],
    ['choices', objectOf({ a: { enum: ['x', 1] } }), { a: 1 }, { a: 2 }],
    ['lists', objectOf({ a: { type: 'array', items: { type: 'string' }, maxItems: 1 } }), { a: ['x'] }, { a: [1] }],
    ['alternatives', objectOf({ a: { anyOf: [{ type: 'string' }, { type: 'null' }] } }), { a: null }, { a: 1 }],
    ['references', objectOf({ a: { $ref: '#/$defs/n' } }, { $defs: { n: { type: 'number' } } }), { a: 1 }, { a: 'x' }],
    ['properties named like keywords', objectOf({ pattern: { type: 'string' } }), { pattern: '(' }, { pattern: 1 }],
  ])('holds for %s', (_what, schema, right, wrong) => {
    expect([accepts(schema, right), accepts(schema, wrong)]).toEqual([true, false]);
  });

  it.each([
    [
      'a pattern that would take for ever',
      objectOf({ a: { type: 'string', pattern: '^(a+)+$' } }),
      { a: `${'a'.repeat(40)}!` },
    ],
    [
      'a recursive reference',
      objectOf({ a: { $ref: '#/$defs/x' } }, { $defs: { x: { $ref: '#/$defs/x' } } }),
      { a: 1 },
    ],
    ['a reference to elsewhere', objectOf({ a: { $ref: 'https://example.com/x' } }), { a: 1 }],
    ['a constant object', objectOf({ a: { const: { b: 1 } } }), { a: { b: 1 } }],
    ['a format', objectOf({ a: { type: 'string', format: 'uri' } }), { a: 'no uri' }],
    ['an unknown type', objectOf({ a: { type: 'bogus' } }), { a: 1 }],
    ['nonsense', { type: 'object', properties: 7, required: 'x' }, { a: 1 }],
    [
      'references that multiply',
      objectOf(
        { a: { $ref: '#/$defs/d0' } },
        {
          $defs: Object.fromEntries(
            Array.from({ length: 40 }, (_, n) => [
              `d${n}`,
              { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
            ]),
          ),
        },
      ),
      { a: 1 },
    ],
    [
      'a property that every object has',
      objectOf({ constructor: { type: 'string' }, toString: { type: 'string' } }),
      {},
    ],
    [
      'a property of another pattern',
      objectOf({ a: {} }, { patternProperties: { '^x': {} }, additionalProperties: false }),
      { x1: 1 },
    ],
    [
      'what comes after the first items',
      objectOf({ a: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } } }),
      { a: ['x'] },
    ],
  ])('leaves %s to whoever carries out the call', (_what, schema, input) => {
    expect(accepts(schema, input)).toBe(true);
  });

  it('changes nothing about the input, and takes nothing but objects', () => {
    const check = inputCheckOf(objectOf({ a: { type: 'integer', default: 3 } }) as Record<string, unknown>);
    expect(check.parse({ b: 1 })).toEqual({ b: 1 });
    expect([null, 'x', [1], undefined].map((input) => check.safeParse(input).success)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ['pattern', { type: 'string', pattern: '^(a+)+$' }],
    ['a choice of exactly one', { type: 'string', oneOf: [{ minLength: 1 }, { maxLength: 5 }] }],
    ['a negation', { type: 'string', not: { type: 'string' } }],
    ['a condition', { type: 'string', if: {}, else: {} }],
    ['a form of names', { type: 'string', propertyNames: { pattern: '^(a+)+$' } }],
  ])('leaves out %s, and still checks what stands beside it', (_what, schema) => {
    expect([
      accepts(objectOf({ a: schema }), { a: `${'a'.repeat(40)}!` }),
      accepts(objectOf({ a: schema }), { a: 1 }),
    ]).toEqual([true, false]);
  });
});
