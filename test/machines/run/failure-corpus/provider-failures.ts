/**
 * What providers and programs say when they fail, as they say it: the rows of the fixture, and the forms in which each
 * reaches us.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { runFailureKind } from '../../../../src/machines/run/run-failure.ts';
import { http, program, sdk } from './failure-case.ts';

const row = z.strictObject({
  /** Who says it. */
  from: z.string(),
  what: z.string(),
  kind: runFailureKind,
  /** A known gap: what it is taken for instead, since its status or its code says so. */
  taken: runFailureKind.optional(),
  /** Of an answer over HTTP. Absent with a body: it came in the middle of a stream. */
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  /** What a program says, or puts on its error output when it ends. */
  text: z.string().optional(),
  exit: z.int().optional(),
  signal: z.string().optional(),
});

type ProviderFailure = z.output<typeof row>;

const FILE = fileURLToPath(new URL('../../../fixtures/provider-failures/failures.jsonl', import.meta.url));
export const PROVIDER_FAILURES = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => row.parse(JSON.parse(line)));

/** The same failure in each form in which it reaches us. */
export function formsOf({ status, headers, body, text = '', exit, signal }: ProviderFailure): readonly unknown[] {
  if (exit !== undefined) return [program(exit, text)];
  if (signal !== undefined) return [{ exitCode: undefined, signal, stderr: text }];
  if (status !== undefined) return [http(status, body, headers), sdk(status, body, headers)];
  return body === undefined ? [new Error(text), { message: text }] : [body];
}
