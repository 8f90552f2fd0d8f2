/** What a step costs, and what it may cost at most, by a table of prices. */
import { describe, expect, it } from 'vitest';
import { KNOWN_PRICES, costAtMost, priceOf, priceTable } from '../../../src/machines/run/prices.ts';
import { costOf } from '../../../src/machines/run/step-cost.ts';

const PRICE = { input: 3, output: 15, cachedInput: 0.3 };
const ONE = { input: 1, output: 1 };
const TWO = { input: 2, output: 2 };

describe('the price of a model', () => {
  it.each<[string, { provider: string; model: string }, object | undefined]>([
    ['known by the name of the model', { provider: 'openai', model: 'gpt-4.1' }, KNOWN_PRICES['gpt-4.1']],
    [
      'known by its beginning',
      { provider: 'anthropic', model: 'claude-sonnet-4-5-20250929' },
      KNOWN_PRICES['claude-sonnet-4*'],
    ],
    [
      'the longest beginning that fits',
      { provider: 'anthropic', model: 'claude-opus-4-5-x' },
      KNOWN_PRICES['claude-opus-4-5*'],
    ],
    ['known by provider and model', { provider: 'script', model: 'play.json' }, { input: 0, output: 0 }],
    [
      'not that of a model whose name only begins like it',
      { provider: 'openai', model: 'gpt-4.1-turbo-of-tomorrow' },
      undefined,
    ],
    ['not known', { provider: 'nobody', model: 'nothing' }, undefined],
    ['not known for names that objects have by themselves', { provider: 'constructor', model: '__proto__' }, undefined],
  ])('is %s', (_what, model, price) => {
    expect(priceOf(model)).toEqual(price);
  });

  it('is the one that somebody gave before the known ones, however general', () => {
    expect(priceOf({ provider: 'openai', model: 'gpt-4.1' }, { '*': ONE })).toEqual(ONE);
    expect(priceOf({ provider: 'openai', model: 'gpt-4.1' }, { 'gpt-4.1': ONE, 'openai/gpt-4.1': TWO })).toEqual(TWO);
    expect(priceOf({ provider: 'a', model: 'b' }, { 'a/*': ONE, 'c/*': TWO })).toEqual(ONE);
  });

  it.each([
    { m: { input: -1, output: 1 } },
    { m: { input: 1 } },
    { m: { input: 1, output: 1, more: 1 } },
    { '': ONE },
    { m: { input: Number.NaN, output: 1 } },
    { m: { input: Infinity, output: 1 } },
  ])('is refused where it is none: %j', (table) => {
    expect(priceTable.safeParse(table).success).toBe(false);
  });
});

describe('the cost of a step', () => {
  it.each<[string, Parameters<typeof costOf>[0], typeof PRICE | undefined, number | undefined]>([
    ['by tokens', { inputTokens: 1_000_000, outputTokens: 100_000 }, PRICE, 4.5],
    ['with less for what is cached', { inputTokens: 1_000_000, cachedInputTokens: 900_000 }, PRICE, 0.57],
    ['with no more cached than was read', { inputTokens: 10, cachedInputTokens: 1_000_000 }, PRICE, 0.000_003],
    ['what the provider says, whatever the table says', { inputTokens: 1_000_000, cost: 0.25 }, PRICE, 0.25],
    ['what the provider says, where no price is known', { cost: 0 }, undefined, 0],
    ['not known, where nobody has said it', { inputTokens: 5 }, undefined, undefined],
    ['nothing, of nothing', {}, PRICE, 0],
  ])('is %s', (_what, usage, price, cost) => {
    if (cost === undefined) expect(costOf(usage, price)).toBeUndefined();
    else expect(costOf(usage, price)).toBeCloseTo(cost, 12);
  });

  it('is at most what all its tokens cost uncached, and without end where the price is not known', () => {
    expect(costAtMost({ input: 1_000_000, output: 1_000_000 }, PRICE)).toBe(18);
    expect(costAtMost({ input: 1, output: 1 }, undefined)).toBe(Infinity);
  });
});
