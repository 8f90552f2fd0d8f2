/** Whatever is thrown, the classifier answers: always, the same each time, soon, and without what must not be told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { ErrorCategory } from '../../../src/machines/errors.ts';
import { classifyRunFailure, explainRunFailure } from '../../../src/machines/run/classify-failure.ts';
import { readFailureFacts } from '../../../src/machines/run/failure-facts.ts';
import { FAILURE_PATTERNS } from '../../../src/machines/run/failure-patterns.ts';
import { runFailure } from '../../../src/machines/run/run-failure.ts';
import { FAILURE_CORPUS } from './failure-corpus/all-cases.ts';

const MEGABYTE = 1_048_576;

/** A limit for what hangs: thousands of times what it takes. */
const SOON_MS = 5_000;

function hostile(trap: () => unknown): object {
  const handler = Object.fromEntries(
    ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'].map((name) => [name, trap]),
  );
  return new Proxy({}, handler);
}

function throws(): never {
  throw new Error('a trap');
}

/** Each property of it is another such object. */
function bottomless(): object {
  return new Proxy(
    {},
    { get: (_target, key) => (typeof key === 'symbol' ? undefined : bottomless()), has: () => false },
  );
}

function nested(depth: number): Error {
  let error = new Error('rate limit');
  for (let level = 0; level < depth; level += 1) error = new Error(`level ${level}`, { cause: error });
  return error;
}

function cyclic(): Error {
  const error = Object.assign(new Error('overloaded'), { errors: [] as unknown[], response: {} });
  error.cause = error;
  error.errors.push(error, { error });
  error.response = { data: error, error: { error } };
  return error;
}

const GETTERS = {
  get message(): string {
    return throws();
  },
  get cause(): unknown {
    return throws();
  },
  get kind(): string {
    return throws();
  },
  status: 429,
};

describe('whatever is thrown', () => {
  it.each<[string, unknown, string]>([
    ['a proxy whose traps all throw', hostile(throws), 'unknown'],
    ['a proxy that answers with itself', hostile(() => undefined), 'unknown'],
    ['an object without a bottom', bottomless(), 'unknown'],
    ['a revoked proxy', revoked(), 'unknown'],
    ['an object with getters that throw, and a status', GETTERS, 'rate_limit'],
    ['a cycle of causes, lists and answers', cyclic(), 'overloaded'],
    ['causes that are a thousand deep', nested(1_000), 'unknown'],
    ['causes that are ten deep', nested(10), 'rate_limit'],
    ['an endless bag of headers', { status: 503, headers: endless() }, 'overloaded'],
    ['headers that throw', { status: 503, headers: hostile(throws) }, 'overloaded'],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { status: 401 }), 'auth'],
    ['a list of lists', [[[[{ error: { code: 'insufficient_quota' } }]]]], 'billing'],
    ['a date', new Date(Number.NaN), 'unknown'],
    ['a number beyond numbers', Number.NaN, 'unknown'],
    ['a large integer', 429n, 'unknown'],
    ['a code that is a name of Object', { code: '__proto__', type: 'constructor', status: 'toString' }, 'unknown'],
    ['a status that is no status', { status: Number.NaN, statusCode: Infinity, code: -1e9 }, 'unknown'],
  ])('%s is answered', (_name, error, kind) => {
    const failure = classifyRunFailure(error);
    expect(failure.kind).toBe(kind);
    expect(runFailure.parse(failure)).toEqual(failure);
    expect(failure.message).not.toBe('');
  });

  it('is answered with a failure that can be stored, the same each time', () => {
    const keys = fc.constantFrom(
      'message',
      'code',
      'status',
      'statusCode',
      'error',
      'cause',
      'body',
      'responseBody',
      'stderr',
      'exitCode',
      'signal',
      'headers',
      'errors',
      'data',
      'type',
      'name',
      'kind',
      'retryAfterMs',
    );
    const words = fc.constantFrom(
      ...FAILURE_CORPUS.map(({ name }) => name),
      'rate limit',
      'try again in 5m',
      '<html>',
      '{"error":{"code":"insufficient_quota"}}',
      'AbortError',
      '429',
      'sk-abcdefghijklmnop',
      '\uD800',
    );
    const thing = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.anything(),
        words,
        fc.integer({ min: -33_000, max: 700 }),
        fc.dictionary(keys, tie('any'), { maxKeys: 6 }),
      ),
    })).any;
    fc.assert(
      fc.property(thing, fc.option(fc.double(), { nil: undefined }), (error, now) => {
        const first = explainRunFailure(error, { now });
        expect(explainRunFailure(error, { now })).toEqual(first);
        expect(runFailure.parse(JSON.parse(JSON.stringify(first.failure)))).toEqual(first.failure);
        expect(first.rule).not.toBe('unreadable');
        expect(first.failure.message.length).toBeLessThanOrEqual(2_000);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is answered the same for the same words anywhere among others that say nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('Credit balance is too low', 'Prompt is too long', 'Too many requests'),
        fc.stringMatching(/^[ghjkqw ]{0,200}$/),
        (words, filling) => {
          expect(classifyRunFailure(`${filling}. ${words}. ${filling}`).kind).toBe(classifyRunFailure(words).kind);
        },
      ),
    );
  });
});

describe('a failure that is huge', () => {
  const fillings = [
    'a',
    ' ',
    '\n',
    '{',
    '[',
    '{"error":',
    '<',
    'try again in 1s ',
    'model ',
    'session ',
    'quota ',
    'exceed ',
    'key ',
    'Bearer ',
    'sk-',
    '://a:',
    'API Error ',
    'context ',
    'https://',
    '"',
    'eyJa.',
    '-',
    'no ',
    '1h',
    '\u001b[',
  ];

  it.each(fillings)('is answered soon when it is a megabyte of %j', (filling) => {
    const text = filling.repeat(Math.ceil(MEGABYTE / filling.length));
    const started = performance.now();
    for (const error of [
      text,
      new Error(text),
      { status: 429, body: text },
      { exitCode: 1, stderr: text },
      { status: 200, headers: { 'retry-after': text }, body: text },
      { code: text, type: text, name: text },
    ])
      classifyRunFailure(error, { now: 0 });
    expect(performance.now() - started).toBeLessThan(SOON_MS);
  });

  it.each(FAILURE_PATTERNS.map(({ id, pattern }) => [id, pattern] as const))(
    'is tried against the pattern "%s" in linear time',
    (_id, pattern) => {
      const words = pattern.source
        .replace(/\\[a-zA-Z]|[^a-zA-Z ]+/g, ' ')
        .split(' ')
        .filter((word) => word.length > 2);
      const started = performance.now();
      for (const word of words) pattern.test(`${word} `.repeat(20_000));
      pattern.test(words.join(' ').repeat(2_000));
      expect(performance.now() - started).toBeLessThan(SOON_MS);
    },
  );

  it('keeps its beginning and its end, where what counts stands', () => {
    const long = 'x '.repeat(100_000);
    expect(classifyRunFailure(`Credit balance is too low ${long}`).kind).toBe('billing');
    expect(classifyRunFailure(`${long} Credit balance is too low`).kind).toBe('billing');
  });

  it('is checked in a bounded number of places', () => {
    const wide = { errors: Array.from({ length: 100_000 }, (_, index) => new Error(`error ${index}`)) };
    expect(readFailureFacts(wide).texts.length).toBeLessThan(100);
    expect(readFailureFacts(nested(100_000)).texts.length).toBeLessThan(200);
  });
});

describe('an error of our own', () => {
  it('is a matter of this setup whatever it wraps and says, in whatever it is wrapped', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FAILURE_CORPUS.map(({ error }) => error)),
        fc.constantFrom<ErrorCategory>('conflict', 'storage', 'capacity'),
        fc.integer({ min: 0, max: 5 }),
        (cause, category, depth) => {
          let error: Error = new RuntimeError('EPOCH_SUPERSEDED', 'epoch 3 may not write any more', {
            category,
            cause,
          });
          for (let level = 0; level < depth; level += 1)
            error = Object.assign(new Error('HTTP 429: rate limit'), { status: 429, cause: error });
          expect(classifyRunFailure(error).kind).toBe('coordination');
        },
      ),
    );
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function* endless(): Generator<readonly [string, string]> {
  for (;;) yield ['x', 'y'];
}
