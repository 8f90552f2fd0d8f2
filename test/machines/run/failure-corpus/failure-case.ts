/** One shape of failure as it is met in the world, and what it is expected to be. */
import { APICallError } from 'ai';
import type { RunFailureKind } from '../../../../src/machines/run/run-failure.ts';

export interface FailureCase {
  readonly name: string;
  readonly error: unknown;
  readonly kind: RunFailureKind;
  /** Which row or pattern has to decide: whoever removes it fails here. */
  readonly rule: string;
  readonly retryAfterMs: number | undefined;
}

/** When all of them happened. */
export const NOW = Date.parse('2025-11-22T08:00:00Z');

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function failureCase(
  name: string,
  error: unknown,
  kind: RunFailureKind,
  rule: string,
  retryAfterMs?: number,
): FailureCase {
  return { name, error, kind, rule, retryAfterMs };
}

type Headers = Readonly<Record<string, string>>;

/** An answer as a backend that speaks HTTP itself passes it on. */
export function http(status: number, body?: unknown, headers: Headers = {}): object {
  return { status, headers, body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body) };
}

/** The same answer as the AI SDK throws it. */
export function sdk(status: number, body: unknown, headers: Headers = {}): APICallError {
  const responseBody = typeof body === 'string' ? body : JSON.stringify(body);
  const { error } = body as { readonly error?: { readonly message?: string } };
  return new APICallError({
    message: error?.message ?? `HTTP ${status}`,
    url: 'https://provider.example/v1/messages',
    requestBodyValues: {
      messages: [{ role: 'user', content: 'What does "rate limit" mean, and "context length exceeded"?' }],
    },
    statusCode: status,
    responseHeaders: { ...headers },
    responseBody,
    ...(typeof body === 'string' ? {} : { data: body }),
  });
}

/** A program that has ended. */
export function program(exitCode: number, stderr: string, more: object = {}): object {
  return { exitCode, stderr, ...more };
}
