/** The errors that a server of tools can cause, as errors of Wakechart. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

/** Which server, for messages: `files`, of agent `reviewer`. */
export interface ServerLabel {
  readonly agentId: string;
  readonly server: string;
}

/** The server cannot be used now. `cause` says why; its own hint counts for more than a general one. */
export function serverUnavailable({ server, agentId }: ServerLabel, why: string, cause?: unknown): RuntimeError {
  const own = RuntimeError.is(cause) ? cause : undefined;
  return new RuntimeError(
    'TOOL_SERVER_UNAVAILABLE',
    `MCP server "${server}" of agent ${agentId} cannot be used: ${why}`,
    {
      category: 'runner',
      hint: own?.hint ?? 'Check how the agent file names the server, and try to start or reach it by hand.',
      details: { agentId, server, ...(own === undefined ? {} : { because: own.code }) },
      cause,
    },
  );
}

/** The connection ended while a request was open. */
export function serverLost({ server, agentId }: ServerLabel, why: string): RuntimeError {
  return new RuntimeError('TOOL_SERVER_LOST', `MCP server "${server}" was lost during the call: ${why}`, {
    category: 'runner',
    hint: 'It is not known whether the call took effect. The next call connects again.',
    details: { agentId, server },
  });
}

export function callTimedOut(
  { server, agentId }: ServerLabel,
  { what, limitMs }: { readonly what: string; readonly limitMs: number },
): RuntimeError {
  return new RuntimeError('TOOL_CALL_TIMEOUT', `MCP server "${server}" did not answer ${what} within ${limitMs} ms`, {
    category: 'timeout',
    hint: 'It was told to stop, but may still be at work. If it needs longer, raise timeoutMs of the server in the agent file.',
    details: { agentId, server, limitMs },
  });
}

/** The tool or its server says that the call failed. */
export function callFailed(
  { server, agentId }: ServerLabel,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): RuntimeError {
  return new RuntimeError('TOOL_CALL_FAILED', message, {
    category: 'runner',
    details: { agentId, server, ...details },
  });
}

export function messageTooLarge(
  { server, agentId }: ServerLabel,
  { bytes, limitBytes }: { readonly bytes: number; readonly limitBytes: number },
): RuntimeError {
  const size = bytes > limitBytes ? `${bytes} bytes` : 'more';
  return new RuntimeError(
    'TOOL_RESULT_TOO_LARGE',
    `MCP server "${server}" answered with ${size}, of which at most ${limitBytes} are taken`,
    {
      category: 'capacity',
      hint: 'The call may have taken effect. Ask for less at once, such as a part of the file.',
      details: { agentId, server, bytes, limitBytes },
    },
  );
}

/** The message of what a connection threw, with that of the system behind it: `fetch failed` alone says nothing. */
export function fullMessageOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
}

/** An attempt that no repetition makes better. */
export class HopelessAttempt extends Error {
  override readonly name = 'HopelessAttempt';
}

/**
 * The server no longer knows the session under which it was asked: it has done nothing, and may be asked again in a new
 * one.
 */
export class SessionExpired extends Error {
  override readonly name = 'SessionExpired';
}
