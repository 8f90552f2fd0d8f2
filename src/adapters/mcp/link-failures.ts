/** What the SDK throws, read: which failure it is, in our words and without secrets. */
import * as z from 'zod';
import { beginningOf } from '../../machines/cut-text.ts';
import { BROKEN_OFF } from './guarded-stream.ts';
import type { BrokenOff } from './guarded-stream.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_MESSAGE_BYTES, TOO_LARGE_CODE } from './stdio-transport.ts';
import type { Route } from './link-routes.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import {
  HopelessAttempt,
  SessionExpired,
  callFailed,
  fullMessageOf,
  messageTooLarge,
  serverLost,
} from './server-errors.ts';
import type { ServerLabel } from './server-errors.ts';

/** Characters of what a server said. */
const MAX_WORDS = 2_000;

/** The code of the SDK for a connection that has ended. */
const CONNECTION_CLOSED_CODE = -32_000;

/** The code of the protocol for a call that a person has to open a page for. */
const URL_NEEDED_CODE = -32_042;

/** Of a response that says: not now. */
const PASSING_STATUS: ReadonlySet<number> = new Set([408, 425, 429]);

export interface FailureContext {
  readonly label: ServerLabel;
  readonly route: Route;
  readonly redaction: SecretRedaction;
}

/** Why an attempt to open a connection has failed. A HopelessAttempt is not worth another. */
export function openFailure(error: unknown, { route, redaction }: FailureContext): Error {
  if (RuntimeError.is(error)) return error;
  const remark = route.remark();
  const words = shortened(redaction.text(openWords(error, route)));
  const message = remark === '' || words.includes(remark) ? words : `${words}; ${remark}`;
  return isHopeless(error) ? new HopelessAttempt(message, { cause: error }) : new Error(message, { cause: error });
}

/** Why a request on an open connection has failed. */
export function requestFailure(error: unknown, { label, route, redaction }: FailureContext): Error {
  if (RuntimeError.is(error)) return error;
  const ended = route.endedBecause();
  if (ended !== undefined) return serverLost(label, ended);
  const words = shortened(redaction.text(fullMessageOf(error)));
  const status = httpStatusOf(error);
  if (status !== undefined) {
    const isExpired =
      route.transport.sessionId !== undefined && (status === 404 || (status === 400 && /session/i.test(words)));
    return isExpired
      ? new SessionExpired(words)
      : callFailed(label, `MCP server "${label.server}" refused the request with HTTP ${status}: ${words}`, { status });
  }
  const code = protocolCodeOf(error);
  if (code === TOO_LARGE_CODE)
    return messageTooLarge(label, { bytes: droppedBytesOf(error), limitBytes: MAX_MESSAGE_BYTES });
  if (code === undefined || code === CONNECTION_CLOSED_CODE) return serverLost(label, words);
  const pages = code === URL_NEEDED_CODE ? pagesOf(error) : [];
  return callFailed(
    label,
    pages.length === 0
      ? words
      : shortened(redaction.text(`${words}: a person has to open ${pages.join(' and ')} first`)),
    { code },
  );
}

/** The failure that stands in an answer which the server never gave; undefined for an answer of the server. */
export function brokenOffFailure(meta: unknown, label: ServerLabel): Error | undefined {
  const why =
    typeof meta === 'object' && meta !== null && BROKEN_OFF in meta ? (meta[BROKEN_OFF] as BrokenOff) : undefined;
  if (why === undefined) return undefined;
  return why.kind === 'too_large'
    ? messageTooLarge(label, { bytes: MAX_MESSAGE_BYTES, limitBytes: MAX_MESSAGE_BYTES })
    : serverLost(label, why.message);
}

/** Errors that tell of nothing but messages which came after the caller stopped waiting. */
export function isLateMessage(error: Error): boolean {
  return /unknown (?:message ID|token)/.test(error.message) || error.name === 'AbortError';
}

function openWords(error: unknown, route: Route): string {
  const status = httpStatusOf(error);
  const ended = route.endedBecause();
  if (ended !== undefined && ended !== 'it was closed') return ended;
  if (status !== undefined) return `it answers HTTP ${status}: ${messageOf(error)}`;
  if (isBadShape(error)) return 'it answers the handshake in a form that is not understood';
  return fullMessageOf(error);
}

function isHopeless(error: unknown): boolean {
  const status = httpStatusOf(error);
  if (status !== undefined) return status < 500 && !PASSING_STATUS.has(status);
  return (
    error instanceof HopelessAttempt ||
    isBadShape(error) ||
    /protocol version is not supported|Unexpected content type/.test(messageOf(error))
  );
}

/** What zod throws, whichever copy of it the SDK has. */
function isBadShape(error: unknown): boolean {
  return error instanceof Error && 'issues' in error;
}

function httpStatusOf(error: unknown): number | undefined {
  const code = codeOf(error);
  return code !== undefined && code >= 100 && code <= 599 ? code : undefined;
}

function protocolCodeOf(error: unknown): number | undefined {
  const code = codeOf(error);
  return code !== undefined && code < -1 ? code : undefined;
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;
}

function droppedBytesOf(error: unknown): number {
  const data = error instanceof Error && 'data' in error ? error.data : undefined;
  return typeof data === 'object' && data !== null && 'bytes' in data ? Number(data.bytes) : MAX_MESSAGE_BYTES;
}

/** The addresses, each with what the server says of it. */
function pagesOf(error: unknown): readonly string[] {
  const parsed = z
    .object({ data: z.object({ elicitations: z.array(z.object({ url: z.string(), message: z.string() })) }) })
    .safeParse(error);
  return (parsed.data?.data.elicitations ?? []).map(({ url, message }) => `${url} (${message})`);
}

function shortened(words: string): string {
  return words.length <= MAX_WORDS ? words : `${beginningOf(words, MAX_WORDS)}…`;
}
