/** What a failure says: readable, on one line, bounded, and without keys and pages. */
import { describe, expect, it } from 'vitest';
import { classifyRunFailure } from '../../../src/machines/run/classify-failure.ts';

function said(error: unknown): string {
  return classifyRunFailure(error).message;
}

describe('the message of a failure', () => {
  it.each<[string, unknown, string]>([
    [
      'what the provider says',
      { status: 400, body: '{"error":{"message":"top_p must be\\n in (0, 1]"}}' },
      'top_p must be in (0, 1]',
    ],
    [
      'what lies behind a failed fetch',
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      'fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [
      'what the upstream says',
      { error: { code: 429, message: 'Provider returned error', metadata: { raw: 'too many at once' } } },
      'Provider returned error: too many at once',
    ],
    ['the status where nothing is said', { status: 503 }, 'HTTP 503'],
    ['the exit code where nothing is said', { exitCode: 3, stderr: '' }, 'exit code 3'],
    ['the signal where nothing is said', { exitCode: null, signal: 'SIGKILL', stderr: '' }, 'ended by SIGKILL'],
    ['the code where nothing is said', Object.assign(new Error(''), { code: 'ECONNRESET' }), 'code econnreset'],
    ['that nothing is known', {}, 'an object without a message was thrown'],
    ['that nothing was thrown', undefined, 'nothing was said about the reason'],
    ['that a function was thrown', () => 'x', 'a function was thrown'],
    [
      'the title of a page, not the page',
      {
        status: 502,
        body: '<!DOCTYPE html><html><head><title>api.example | 502: Bad gateway</title></head><body><h1>Oh</h1></body></html>',
      },
      'the server answered with a page instead of data: api.example | 502: Bad gateway (HTTP 502)',
    ],
    [
      'that a page came',
      { status: 520, body: '<html><body>x</body></html>' },
      'the server answered with a page instead of data (HTTP 520)',
    ],
    [
      'the last lines of a long log',
      { exitCode: 1, stderr: `${'at frame (file.js:1)\n'.repeat(20)}Error: it broke\n` },
      'at frame (file.js:1) at frame (file.js:1) Error: it broke',
    ],
    [
      'the sentence instead of the JSON that a program prints',
      { exitCode: 1, stderr: '', message: '{"type":"turn.failed","error":{"message":"it broke"}}' },
      'it broke',
    ],
  ])('tells %s', (_what, error, message) => {
    expect(said(error)).toBe(message);
  });

  it('is cut, and ends well where it is cut', () => {
    const message = said(new Error(`${'x'.repeat(1_998)}😀${'y'.repeat(5_000)}`));
    expect(message).toBe(`${'x'.repeat(1_998)}…`);
  });

  it.each([
    ['a key of Anthropic', 'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz'],
    ['a key of OpenAI', 'sk-proj-AbCdEfGh_IjKl-MnOp'],
    ['a key of OpenAI that hides its middle', 'sk-abc**********************wxyz'],
    ['a key of Google', 'AIzaSyA1234567890abcdefghij'],
    ['a key of Groq', 'gsk_AbCdEfGhIjKlMnOp'],
    ['a key of Hugging Face', 'hf_AbCdEfGhIjKlMnOp'],
    ['a key of xAI', 'xai-AbCdEfGhIjKlMnOp'],
    ['a key of AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['a token of GitHub', 'ghp_AbCdEfGhIjKlMnOpQrSt'],
    ['a token that is JSON', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef'],
  ])('hides %s', (_what, secret) => {
    expect(said(new Error(`refused: ${secret} is wrong`))).toBe('refused: [redacted] is wrong');
    expect(said({ exitCode: 1, stderr: `Authorization: Bearer ${secret}\n` })).not.toContain(secret.slice(4));
    expect(said({ kind: 'auth', message: `"${secret}"` })).toBe('"[redacted]"');
  });

  it.each([
    ['Authorization: Bearer abcdefgh.ijklmnop', 'Authorization: Bearer [redacted]'],
    ['Basic dXNlcjpwYXNzd29yZA==', 'Basic [redacted]'],
    ['{"x-api-key": "0123456789abcdef"', '{"x-api-key": "[redacted]"'],
    ['api_key=0123456789abcdef rest', 'api_key=[redacted] rest'],
    ['https://api.example/v1?key=0123456789&alt=sse', 'https://api.example/v1?key=[redacted]&alt=sse'],
    ['https://user:password@proxy.example:8080/', 'https://[redacted]@proxy.example:8080/'],
  ])('hides what stands where a secret belongs: %s', (text, hidden) => {
    expect(said(new Error(text))).toBe(hidden);
  });

  it('leaves ordinary words alone', () => {
    const text =
      'Incorrect API key provided. The secret is: nothing. Bearer of news, task-oriented risk-averse sk-1 model claude-sonnet-4-5-20250929.';
    expect(said(new Error(text))).toBe(text);
  });
});
