import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/machines/canonical-json.ts';
import { RuntimeError } from '../../src/machines/errors.ts';

/** The same value with the keys of every object in another order. */
function turnedAround(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turnedAround);
  if (typeof value !== 'object' || value === null) return value;
  const turned: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value).toReversed())
    Object.defineProperty(turned, key, {
      value: turnedAround(member),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return turned;
}

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'], c: {} }, '{"a":[true,null,"x"],"b":1,"c":{}}'],
    [{ é: 1, z: 2, Z: 3, 10: 4, 9: 5, '': 6 }, '{"":6,"10":4,"9":5,"Z":3,"z":2,"é":1}'],
    [[], '[]'],
    [-0, '0'],
    [1e21, '1e+21'],
    ['\ud800"\n', '"\\ud800\\"\\n"'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [JSON.parse('{"__proto__":{"a":1},"constructor":2}'), '{"__proto__":{"a":1},"constructor":2}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('is JSON for the same value, and one text for one value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(turnedAround(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('differs for values that differ', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isSame =
          JSON.stringify(turnedAround(turnedAround(JSON.parse(canonicalJson(one))))) ===
          JSON.stringify(JSON.parse(canonicalJson(other)));
        expect(canonicalJson(one) === canonicalJson(other)).toBe(isSame);
      }),
    );
  });

  it('is made of a value of any depth', () => {
    const depth = 200_000;
    const text = '['.repeat(depth) + ']'.repeat(depth);
    let value: unknown = [];
    for (let level = 1; level < depth; level += 1) value = [value];
    expect(canonicalJson(value)).toBe(text);
  });

  it('takes the same object twice, but not within itself', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
    const cycle: Record<string, unknown> = {};
    cycle['self'] = [cycle];
    expect(() => canonicalJson(cycle)).toThrow(/contains itself/);
  });

  it.each([
    [Number.NaN],
    [Infinity],
    [undefined],
    [[undefined]],
    [Array(2)],
    [() => 1],
    [1n],
    [Symbol('a')],
    [new Date(0)],
    [new Map()],
    [Uint8Array.of(1)],
    [{ a: Number.NaN }],
    [new URL('a:b')],
  ])('refuses %s, which JSON would change or lose', (value) => {
    try {
      canonicalJson(value);
      expect.unreachable('it was accepted');
    } catch (error) {
      expect(RuntimeError.is(error) && error.code).toBe('NOT_JSON');
    }
  });
});
