/**
 * The classifier says of every shape of failure in the corpus what it is, and by which rule; no rule is without a
 * shape.
 */
import { describe, expect, it } from 'vitest';
import { classifyRunFailure, explainRunFailure } from '../../../src/machines/run/classify-failure.ts';
import { FAILURE_TABLES } from '../../../src/machines/run/failure-codes.ts';
import { FAILURE_PATTERNS } from '../../../src/machines/run/failure-patterns.ts';
import { runFailure } from '../../../src/machines/run/run-failure.ts';
import { FAILURE_CORPUS } from './failure-corpus/all-cases.ts';
import { NOW } from './failure-corpus/failure-case.ts';
import { PROVIDER_FAILURES, formsOf } from './failure-corpus/provider-failures.ts';
import { networkFailures } from './failure-corpus/network-failures.ts';

const network = await networkFailures();
const everything = [...FAILURE_CORPUS, ...network.map((one) => ({ ...one, source: 'real sockets' }))];

describe('the corpus of failures', () => {
  it.each(everything)('$source: $name is $kind by $rule', ({ error, kind, rule, retryAfterMs }) => {
    const { failure, rule: decidedBy } = explainRunFailure(error, { now: NOW });
    expect({ kind: failure.kind, rule: decidedBy, retryAfterMs: failure.retryAfterMs }).toEqual({
      kind,
      rule,
      retryAfterMs,
    });
    expect(runFailure.parse(failure)).toEqual(failure);
    expect(failure.message).toMatch(/^\S.*\S$|^\S$/);
    expect(failure.message.length).toBeLessThanOrEqual(2_000);
  });

  it('is as large as it is said to be', () => {
    expect(FAILURE_CORPUS.length).toBeGreaterThan(400);
    expect(new Set(everything.map(({ source, name }) => `${source}: ${name}`)).size).toBe(everything.length);
  });

  it('has a shape for every row of the tables and every pattern, so that none can be removed unnoticed', () => {
    const told = PROVIDER_FAILURES.flatMap((row) => formsOf(row).map((error) => explainRunFailure(error).rule));
    const inUse = new Set([...everything.map(({ rule }) => rule), ...told]);
    const rowRules = FAILURE_TABLES.flatMap(({ called, rows }) =>
      [...rows.keys()].map((value) => `${called} ${value}`),
    );
    const patternRules = FAILURE_PATTERNS.map(({ id }) => `text "${id}"`);
    expect([...rowRules, ...patternRules].filter((rule) => !inUse.has(rule))).toEqual([]);
  });

  it('is answered the same without a clock, but for waits that are told as a moment', () => {
    for (const { error, kind } of everything) expect(classifyRunFailure(error).kind).toBe(kind);
  });
});

describe('the tables', () => {
  it('name each rule once: a second row of the same name could never decide', () => {
    const rules = FAILURE_TABLES.flatMap(({ called, source, rows }) =>
      [...rows.keys()].map((value) => `${called} ${source} ${value}`),
    );
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([]);
    const ids = FAILURE_PATTERNS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('write codes as they are looked up', () => {
    const codes = FAILURE_TABLES.filter(({ source }) => source === 'code').flatMap(({ rows }) => [...rows.keys()]);
    expect(codes.filter((code) => !/^[a-z0-9_]+$/.test(code))).toEqual([]);
  });
});
