/**
 * How Claude Code tells that a turn has failed. What its codes and words mean in general is for the classifier; this is
 * what only it says.
 */
import type { RunFailureKind } from '../../machines/run/run-failure.ts';
import type { ClaudeResult } from './claude-messages.ts';
import type { CliFailure } from './dialect.ts';

/** `terminal_reason` of a result. */
const TERMINAL_REASONS: Readonly<Record<string, RunFailureKind>> = {
  prompt_too_long: 'context_overflow',
  image_error: 'format',
};

/** A limit of the user's own: neither another account nor another model is what is wanted. */
const LIMITS: Readonly<Record<string, string>> = {
  error_max_turns: 'it has taken as many turns as its option "max-turns" allows',
  error_max_budget_usd:
    'it has spent as much as its option "max-budget-usd" allows, or as the budget of the agent left for it',
  error_max_structured_output_retries: 'its answers never fitted its option "json-schema"',
};

/** What the stream told before the result. */
export interface ClaudeComplaints {
  /** `error` of the last assistant message that had one. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** When a limit that rejects the account's requests ends, in milliseconds since the epoch. */
  readonly retryAtMs: number | undefined;
}

/** Undefined when the turn has succeeded. */
export function claudeFailure(
  result: ClaudeResult,
  { code, message, retryAtMs }: ClaudeComplaints,
): CliFailure | undefined {
  const limit = LIMITS[result.subtype];
  if (limit !== undefined) return { kind: 'format', message: limit, retry: 'never' };
  if (result.stop_reason === 'refusal')
    return { kind: 'refusal', message: message ?? wordsOf(result) ?? 'the model refused to answer' };
  if (result.subtype === 'success' && !result.is_error) return undefined;
  return {
    kind: TERMINAL_REASONS[result.terminal_reason ?? ''],
    code: result.startup_failure_reason ?? code,
    otherwise: otherwise(result),
    message: wordsOf(result) ?? message ?? `it told of a failure (${result.subtype}) without saying which`,
    httpStatus: result.api_error_status,
    retryAtMs,
  };
}

function otherwise({ startup_failure_reason, terminal_reason }: ClaudeResult): RunFailureKind | undefined {
  // A program that cannot begin with what it was given cannot begin with it elsewhere either.
  if (startup_failure_reason !== undefined) return 'format';
  return terminal_reason === 'api_error' ? 'server_error' : undefined;
}

function wordsOf({ result, errors = [] }: ClaudeResult): string | undefined {
  const words = [...errors, result ?? ''].map((text) => text.trim()).filter((text) => text !== '');
  return words.length === 0 ? undefined : words.join('; ');
}
