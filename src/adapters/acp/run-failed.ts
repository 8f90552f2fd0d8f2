/**
 * How a run of this backend comes to its end before the agent has answered, and how what was thrown becomes a failure
 * of the run.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import { messageLine } from '../../machines/run/failure-message.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { RunFailure, RunFailureKind } from '../../machines/run/run-failure.ts';

/** JSON-RPC: the agent wants to be logged in first. */
const AUTH_REQUIRED = -32_000;
/** That something went wrong and no more: of JSON-RPC, and what Gemini CLI says for much of what its model answers. */
const VAGUE_CODES: readonly number[] = [-32_603, 500];

/** A failure of which the backend knows the kind. The message goes on after the name of the program. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed';
  readonly failure: RunFailure;

  constructor(failure: RunFailureKind | Omit<RunFailure, 'message'>, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = { ...(typeof failure === 'string' ? { kind: failure } : failure), message };
  }
}

/** The caller has stopped the run. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/** An answer of the agent that is an error. */
export function isAgentError(thrown: unknown): thrown is Error & { readonly code: number; readonly data?: unknown } {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'number';
}

export function demandsAuthentication(thrown: unknown): boolean {
  return isAgentError(thrown) && thrown.code === AUTH_REQUIRED;
}

/** What the agent said of its error, with what its data says besides. */
export function agentErrorText(error: Error & { readonly data?: unknown }): string {
  const details = detailsOf(error.data);
  return details === undefined || error.message.includes(details) ? error.message : `${error.message}: ${details}`;
}

export interface FailureSurroundings {
  /** As the settings name it. */
  readonly command: string;
  readonly redaction: SecretRedaction;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function failureOf(thrown: unknown, { command, redaction, now }: FailureSurroundings): RunFailure {
  const classified = thrown instanceof RunFailed ? thrown.failure : classifiedError(thrown, now);
  const hint = RuntimeError.is(thrown) && thrown.hint !== undefined ? ` ${thrown.hint}` : '';
  const message = isAgentError(thrown)
    ? `it answered with an error: ${agentErrorText(thrown)} (${thrown.code})`
    : `${classified.message}${hint}`;
  return { ...classified, message: `${command}: ${messageLine(redaction.text(message))}` };
}

/** What an agent tells besides a code that says nothing comes before the code. */
function classifiedError(thrown: unknown, now: number): RunFailure {
  if (isAgentError(thrown) && VAGUE_CODES.includes(thrown.code)) {
    const told = classifyRunFailure({ message: agentErrorText(thrown), ...namedIn(thrown.data) }, { now });
    if (told.kind !== 'unknown') return told;
  }
  return classifyRunFailure(thrown, { now });
}

/** By the names that Claude Agent and OpenCode have for kinds of errors. */
function namedIn(data: unknown): { readonly code?: string } {
  if (typeof data !== 'object' || data === null) return {};
  const { errorKind, errorName } = data as Partial<Record<'errorKind' | 'errorName', unknown>>;
  const code = [errorKind, errorName].find((name) => typeof name === 'string');
  return code === undefined ? {} : { code };
}

/** As agents put it: a text, or an object that has one. */
function detailsOf(data: unknown): string | undefined {
  if (typeof data === 'string' && data.trim() !== '') return data;
  if (typeof data !== 'object' || data === null) return undefined;
  const { details, message } = data as Partial<Record<'details' | 'message', unknown>>;
  return [details, message].find((text): text is string => typeof text === 'string' && text.trim() !== '');
}
