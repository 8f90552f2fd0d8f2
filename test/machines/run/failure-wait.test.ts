/**
 * How long a provider asks to be left alone: from headers in any shape, fields and texts; never what cannot be meant.
 */
import { describe, expect, it } from 'vitest';
import { classifyRunFailure } from '../../../src/machines/run/classify-failure.ts';

const NOW = Date.parse('2025-11-22T08:00:00Z');
const DAY_MS = 86_400_000;

function wait(error: unknown, now: number | undefined = NOW): number | undefined {
  return classifyRunFailure(error, { now }).retryAfterMs;
}

describe('the wait that a header asks for', () => {
  it.each<[string, object]>([
    ['the Headers of fetch', new Headers({ 'Retry-After': '7' })],
    ['a Map', new Map([['RETRY-AFTER', '7']])],
    ['pairs', [['Retry-After', '7']]],
    ['a plain object', { 'Retry-After': '7' }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { 'retry-after': '7' })],
    ['lists of values', { 'retry-after': ['7', '9'] }],
    ['numbers', { 'retry-after': 7 }],
  ])('is found in %s', (_shape, headers) => {
    expect(wait({ status: 429, headers })).toBe(7_000);
    expect(wait(Object.assign(new Error('x'), { response: { status: 429, headers } }))).toBe(7_000);
  });

  it.each<[Readonly<Record<string, string>>, number | undefined]>([
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '1e9' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after': String((30 * DAY_MS) / 1_000) }, 30 * DAY_MS],
    [{ 'retry-after': String((30 * DAY_MS) / 1_000 + 1) }, undefined],
    [{ 'retry-after': 'Sat, 22 Nov 2025 08:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 22 Nov 2025 07:59:30 GMT' }, undefined],
    [{ 'retry-after': 'Sat, 22 Nov 2125 07:59:30 GMT' }, undefined],
    [{ 'retry-after-ms': '12.2' }, 13],
    [{ 'retry-after-ms': '-4', 'retry-after': '3' }, 3_000],
    [{ 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
    [{ 'x-ratelimit-reset': '30' }, 30_000],
    [{ 'x-ratelimit-reset': '1763798460' }, 60_000],
    [{ 'x-ratelimit-reset': '1763798460000' }, 60_000],
    [{ 'ratelimit-reset': '12' }, 12_000],
    [{ 'anthropic-ratelimit-tokens-reset': '2025-11-22T08:00:09Z' }, 9_000],
    [{ 'anthropic-ratelimit-unified-reset': '1763798460' }, 60_000],
    [
      {
        'x-ratelimit-reset-requests': '9s',
        'x-ratelimit-remaining-requests': '3',
        'x-ratelimit-reset-tokens': '2s',
        'x-ratelimit-remaining-tokens': '0',
      },
      2_000,
    ],
    [{ 'x-ratelimit-reset-requests': '9s', 'x-ratelimit-reset-tokens': '2s' }, 9_000],
    [{ 'x-ratelimit-reset-requests': '9s', 'x-ratelimit-remaining-requests': '3' }, 9_000],
  ])('%j is %s ms', (headers, expected) => {
    expect(wait({ status: 429, headers })).toBe(expected);
  });

  it('counts for failures that pass by themselves only', () => {
    const headers = { 'retry-after': '7' };
    expect([503, 500, 504, 402].map((status) => wait({ status, headers }))).toEqual([7_000, 7_000, 7_000, 7_000]);
    expect([400, 401, 404, 413, 499].map((status) => wait({ status, headers }))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is not the reset of a limit that was not hit', () => {
    expect(wait({ status: 500, headers: { 'x-ratelimit-reset-requests': '6m0s' } })).toBeUndefined();
  });

  it('needs a clock where it is a moment', () => {
    const failure = classifyRunFailure({
      status: 429,
      headers: { 'retry-after': 'Sat, 22 Nov 2025 08:00:30 GMT', 'x-ratelimit-reset': '1763798460' },
      message: 'usage limit reached|1763798460',
    });
    expect(failure.retryAfterMs).toBeUndefined();
  });
});

describe('the wait that a text or a field asks for', () => {
  it.each<[string, number | undefined]>([
    ['Please try again in 1.2s.', 1_200],
    ['Please try again in 20ms.', 20],
    ['Please try again in 6m0s.', 360_000],
    ['or try again in 3h 12m', 11_520_000],
    ['Try again in 1 day, 2 hours and 3 minutes', DAY_MS + 7_380_000],
    ['Please retry after 26 seconds.', 26_000],
    ['Please retry in 34.07s', 34_070],
    ['Please wait 57 seconds before retrying', 57_000],
    ['resets in 2 weeks', 14 * DAY_MS],
    ['try again in 5 weeks', undefined],
    ['try again in 99999999999999999999h', undefined],
    ['try again in a while', undefined],
    ['try again in 5 monkeys', undefined],
    ['try again at 4:11 PM', undefined],
    ['You will regain access on 2025-11-23 at 08:00 UTC.', DAY_MS],
    ['blocked until 2025-11-22T08:00:05.250Z', 5_000],
    ['Claude AI usage limit reached|1763798460', 60_000],
    ['Claude AI usage limit reached|1763798460000', 60_000],
    ['Claude AI usage limit reached|1263798460', undefined],
  ])('%s', (text, expected) => {
    expect(wait({ status: 429, message: text })).toBe(expected);
  });

  it.each<[object, number | undefined]>([
    [{ retry_after: 3 }, 3_000],
    [{ retryAfterMs: 250 }, 250],
    [{ retry_after_ms: '250' }, 250],
    [{ retryDelay: '0.5s' }, 500],
    [{ resets_in_seconds: 90 }, 90_000],
    [{ resets_at: 1763798460 }, 60_000],
    [{ resetsAt: '2025-11-22T08:01:00Z' }, 60_000],
    [{ retry_after: -3 }, undefined],
    [{ retry_after: Number.NaN }, undefined],
    [{ retry_after: {} }, undefined],
  ])('%j is %s ms', (fields, expected) => {
    expect(wait({ error: { code: 429, message: 'later', ...fields } })).toBe(expected);
  });

  it('gives way to what a header says', () => {
    expect(wait({ status: 429, headers: { 'retry-after': '2' }, message: 'try again in 9s' })).toBe(2_000);
  });
});
