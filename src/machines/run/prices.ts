/**
 * What models cost, as data. Providers that tell the cost of a step are believed; this is for those that tell tokens
 * only, and for what a step may cost before it is taken.
 */
import * as z from 'zod';

const perMillion = z.number().nonnegative();

/** US dollars per million tokens. `cachedInput`: for input that the provider has cached; as `input` when absent. */
const modelPrice = z.strictObject({ input: perMillion, output: perMillion, cachedInput: perMillion.optional() });

/** By `provider/model`, `model`, or the beginning of either followed by "*". The longest that fits counts. */
export const priceTable = z.record(z.string().min(1), modelPrice);

export type ModelPrice = Readonly<z.output<typeof modelPrice>>;
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/**
 * When the prices below were taken from the public price lists of the providers. They change: give your own for what
 * matters to you.
 */
export const PRICES_AS_OF = '2025-11';

/** Source: the price lists of Anthropic and OpenAI for their own interfaces, in US dollars, as of PRICES_AS_OF. */
export const KNOWN_PRICES: PriceTable = {
  'claude-opus-4-5*': { input: 5, output: 25, cachedInput: 0.5 },
  'claude-opus-4*': { input: 15, output: 75, cachedInput: 1.5 },
  'claude-sonnet-4*': { input: 3, output: 15, cachedInput: 0.3 },
  'claude-haiku-4-5*': { input: 1, output: 5, cachedInput: 0.1 },
  'gpt-5-mini*': { input: 0.25, output: 2, cachedInput: 0.025 },
  'gpt-5-nano*': { input: 0.05, output: 0.4, cachedInput: 0.005 },
  'gpt-5': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-5-2025*': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-4.1-mini*': { input: 0.4, output: 1.6, cachedInput: 0.1 },
  'gpt-4.1-nano*': { input: 0.1, output: 0.4, cachedInput: 0.025 },
  'gpt-4.1': { input: 2, output: 8, cachedInput: 0.5 },
  'gpt-4o-mini*': { input: 0.15, output: 0.6, cachedInput: 0.075 },
  'gpt-4o': { input: 2.5, output: 10, cachedInput: 1.25 },
  /** A script is played and costs nothing. */
  'script/*': { input: 0, output: 0 },
};

/** The price of a model, or undefined when it is unknown. Prices of one's own go before the known ones. */
export function priceOf(
  { provider, model }: { readonly provider: string; readonly model: string },
  own: PriceTable = {},
): ModelPrice | undefined {
  return find(own, provider, model) ?? find(KNOWN_PRICES, provider, model);
}

/** The most that a step may cost which reads and writes this many tokens; Infinity when the price is not known. */
export function costAtMost(
  tokens: { readonly input: number; readonly output: number },
  price: ModelPrice | undefined,
): number {
  return price === undefined ? Infinity : (tokens.input * price.input + tokens.output * price.output) / 1e6;
}

/**
 * Tokens that may be written for what is left after reading `input` tokens; undefined where that is not bounded by
 * money.
 */
export function affordableOutput(cost: number, input: number, price: ModelPrice | undefined): number | undefined {
  if (price === undefined || price.output === 0) return undefined;
  return Math.max(0, Math.floor((cost * 1e6 - input * price.input) / price.output));
}

function find(table: PriceTable, provider: string, model: string): ModelPrice | undefined {
  const names = [`${provider}/${model}`, model];
  const fits = (pattern: string): boolean =>
    pattern.endsWith('*') ? names.some((name) => name.startsWith(pattern.slice(0, -1))) : names.includes(pattern);
  const [best] = Object.keys(table)
    .filter(fits)
    .toSorted((one, other) => other.length - one.length);
  return best === undefined ? undefined : table[best];
}
