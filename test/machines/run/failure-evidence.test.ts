/**
 * A kind that is told by words alone: they may quote anybody, so a candidate rests for it a while and is never
 * disabled.
 */
import { describe, expect, it } from 'vitest';
import { failed, settled, unusedHealth } from '../../../src/machines/run/breaker.ts';
import { candidateHealthSchema } from '../../../src/machines/run/candidate-health.ts';
import { classifyRunFailure } from '../../../src/machines/run/classify-failure.ts';
import { runFailure } from '../../../src/machines/run/run-failure.ts';
import type { RunFailure } from '../../../src/machines/run/run-failure.ts';

const T0 = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const NEW = unusedHealth({ provider: 'vllm', model: 'good' });
const PHRASES = [
  'Your credit balance is too low',
  'this organization has been disabled',
  'The model gpt-5 does not exist',
  'your API key was revoked',
];
const CODES = ['insufficient_quota', 'account_deactivated', 'model_not_found'];

const stateAfter = (failure: RunFailure, before = NEW) => failed(before, failure, T0);

describe.each([400, 403, 422, 500, 503])('an answer with status %i that quotes the conversation', (status) => {
  it.each(PHRASES)('does not disable a good model: %s', (phrase) => {
    const failure = classifyRunFailure({
      status,
      body: {
        object: 'error',
        message: `[{'msg': 'Input should be a valid string', 'input': "Translate: ${phrase}."}]`,
        type: 'BadRequestError',
        code: status,
      },
    });
    expect(stateAfter(failure).state).not.toBe('disabled');
  });

  it.each(CODES)('does not where it quotes JSON with the code %s', (code) => {
    const failure = classifyRunFailure({
      status,
      body: { error: { message: `cannot read {"error":{"code":"${code}"}}` } },
    });
    expect(stateAfter(failure).state).not.toBe('disabled');
  });
});

describe('a program that prints what a tool said', () => {
  it.each([
    ...PHRASES,
    'npm ERR! API Error: 402 Payment Required',
    ...CODES.map((code) => `{"error":{"code":"${code}"}}`),
  ])('does not disable a good model: %s', (text) => {
    for (const thrown of [
      { exitCode: 1, stderr: text },
      { exitCode: 1, stderr: `[mcp-server weather] ${text}` },
      { type: 'result', is_error: true, result: text },
    ]) {
      expect(stateAfter(classifyRunFailure(thrown)).state).not.toBe('disabled');
    }
  });
});

describe('a code that is given as a fact', () => {
  it.each(CODES)('disables, also where words repeat it: %s', (code) => {
    const failure = classifyRunFailure({
      status: 400,
      message: `400 {"error":{"code":"${code}"}}`,
      body: { error: { code, message: 'no' } },
    });
    expect(failure).not.toHaveProperty('evidence');
    expect(stateAfter(failure).state).toBe('disabled');
  });

  it('disables one that cools since somebody only said so', () => {
    const cooling = stateAfter({ kind: 'billing', message: 'out of credits', evidence: 'text' });
    expect(cooling).toMatchObject({ state: 'cooling', until: new Date(T0 + MINUTE).toISOString(), billingFailures: 0 });
    expect(candidateHealthSchema.parse(cooling)).toEqual(cooling);
    expect(stateAfter({ kind: 'billing', message: 'out of credits' }, cooling)).toMatchObject({
      state: 'disabled',
      billingFailures: 1,
    });
    expect(settled(cooling, T0 + 2 * MINUTE).state).toBe('cooling');
  });
});

it('a failure keeps what is known about it when it is classified again', () => {
  const failure: RunFailure = {
    kind: 'auth',
    message: 'there is no key',
    evidence: 'text',
    isLocal: true,
    isRest: true,
  };
  expect(classifyRunFailure(failure)).toEqual(failure);
  expect(runFailure.parse(failure)).toEqual(failure);
});

it('a failure on this machine says nothing about a candidate', () => {
  expect(stateAfter({ kind: 'auth_permanent', message: 'no key', isLocal: true })).toMatchObject({
    state: 'closed',
    failures: 0,
  });
});
