/**
 * What Node, fetch, TLS and the system say, and what JSON-RPC and ACP do. Those of real sockets are made in
 * network-failures.ts.
 */
import { failureCase, http } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

function system(code: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more });
}

function fetchFailed(cause: Error): TypeError {
  return new TypeError('fetch failed', { cause });
}

function named(name: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { name, ...more });
}

function rpc(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { name: 'RequestError', code, data });
}

const CONNECTION_CODES = [
  'EAI_AGAIN',
  'ECONNABORTED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'EPROTO',
  'ERR_STREAM_PREMATURE_CLOSE',
];
const TLS_CODES = [
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
const CLIENT_CODES = [
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RESPONSE',
  'ConnectionRefused',
  'ConnectionClosed',
  'FailedToOpenSocket',
];
const TIMEOUT_CODES = [
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ERR_HTTP_REQUEST_TIMEOUT',
];
const SHORTAGE_CODES = ['EAGAIN', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EROFS'];
const SETTING_CODES = [
  'E2BIG',
  'EACCES',
  'EINVAL',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'ERR_INVALID_ARG_TYPE',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_URL',
  'ERR_MODULE_NOT_FOUND',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'MODULE_NOT_FOUND',
];
const ABORT_CODES = ['ABORT_ERR', 'ERR_CANCELED', 'UND_ERR_ABORTED', 'ECANCELED'];

function rule(code: string): string {
  return `code ${code.toLowerCase()}`;
}

export const systemCases: readonly FailureCase[] = [
  ...[...CONNECTION_CODES, ...TLS_CODES, ...CLIENT_CODES].map((code) =>
    failureCase(
      `a connection: ${code}`,
      fetchFailed(system(code, `${code} api.example:443`)),
      'server_error',
      rule(code),
    ),
  ),
  ...TIMEOUT_CODES.map((code) =>
    failureCase(
      `a connection that took too long: ${code}`,
      fetchFailed(system(code, 'took too long')),
      'timeout',
      rule(code),
    ),
  ),
  ...SHORTAGE_CODES.map((code) =>
    failureCase(
      `this machine is out of something: ${code}`,
      system(code, `${code}: rate limit`, { syscall: 'write' }),
      'server_error',
      `system ${code.toLowerCase()}`,
    ),
  ),
  ...SHORTAGE_CODES.map((code) =>
    failureCase(
      `another machine is out of something: ${code}`,
      http(500, { error: { code, message: 'no' } }),
      'server_error',
      'status 500',
    ),
  ),
  ...SHORTAGE_CODES.map((code) =>
    failureCase(
      `somebody is out of something: ${code}`,
      { error: { code, message: 'no' } },
      'server_error',
      rule(code),
    ),
  ),
  ...SETTING_CODES.map((code) =>
    failureCase(
      `a setting that is wrong: ${code}`,
      system(code, `${code}: no such thing`, { syscall: 'spawn claude' }),
      'format',
      rule(code),
    ),
  ),
  ...ABORT_CODES.map((code) => failureCase(`an abort: ${code}`, system(code, 'rate limit'), 'aborted', rule(code))),
  failureCase(
    'an abort of fetch',
    new DOMException('This operation was aborted', 'AbortError'),
    'aborted',
    'abort AbortError',
  ),
  failureCase('an abort of a response', named('ResponseAborted', ''), 'aborted', 'abort ResponseAborted'),
  failureCase('an abort of axios', named('CanceledError', 'canceled'), 'aborted', 'abort CanceledError'),
  failureCase(
    "an abort of a provider's own client",
    named('APIUserAbortError', 'Request was aborted.'),
    'aborted',
    'abort APIUserAbortError',
  ),
  failureCase(
    'a time limit',
    new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    'timeout',
    'time limit TimeoutError',
  ),
  failureCase(
    'an abort because of a time limit',
    named('AbortError', 'The operation was aborted', {
      cause: new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    }),
    'timeout',
    'time limit TimeoutError',
  ),
  failureCase(
    'a time limit of connecting',
    named('ConnectTimeoutError', 'Connect Timeout Error'),
    'timeout',
    'time limit ConnectTimeoutError',
  ),
  failureCase(
    'a time limit of the head',
    named('HeadersTimeoutError', 'Headers Timeout Error'),
    'timeout',
    'time limit HeadersTimeoutError',
  ),
  failureCase(
    'a time limit of the body',
    named('BodyTimeoutError', 'Body Timeout Error'),
    'timeout',
    'time limit BodyTimeoutError',
  ),
  failureCase(
    "a time limit of a provider's own client",
    named('APIConnectionTimeoutError', 'Request timed out.'),
    'timeout',
    'time limit APIConnectionTimeoutError',
  ),
  failureCase(
    'several addresses that all refuse',
    new AggregateError(
      [
        system('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'),
        system('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'),
      ],
      '',
    ),
    'server_error',
    'code econnrefused',
  ),
  failureCase(
    'a body that calls itself an abort',
    http(500, { name: 'AbortError', message: 'x' }),
    'server_error',
    'status 500',
  ),
  failureCase('ACP: log in first', rpc(-32_000, 'Authentication required'), 'auth', 'rpc -32000'),
  failureCase('MCP: too long', rpc(-32_001, 'Request timed out'), 'timeout', 'rpc -32001'),
  failureCase(
    'ACP: a session that is gone',
    rpc(-32_002, 'Resource not found', { uri: 'session/x' }),
    'session_expired',
    'rpc -32002',
  ),
  failureCase('JSON-RPC: a request that is wrong', rpc(-32_600, 'Invalid request'), 'format', 'rpc -32600'),
  failureCase(
    'JSON-RPC: a method that is not there',
    rpc(-32_601, '"Method not found": session/load'),
    'format',
    'rpc -32601',
  ),
  failureCase(
    'JSON-RPC: parameters that are wrong',
    rpc(-32_602, 'Invalid params', { cwd: ['Required'] }),
    'format',
    'rpc -32602',
  ),
  failureCase(
    'ACP: parameters that name no session',
    rpc(-32_602, 'Invalid params', { details: 'Session not found: 0199' }),
    'session_expired',
    'text "session not found"',
  ),
  failureCase('ACP: an inner error', rpc(-32_603, 'Internal error'), 'server_error', 'rpc -32603'),
  failureCase(
    'ACP: an inner error that says more',
    rpc(-32_603, 'Internal error', { details: 'You have been rate limited' }),
    'rate_limit',
    'text "rate limit"',
  ),
  failureCase(
    'ACP: an inner error with the answer of a provider',
    rpc(-32_603, 'Internal error', { details: '{"error":{"code":"insufficient_quota","message":"spent"}}' }),
    'billing',
    'code insufficient_quota',
  ),
  failureCase(
    'ACP: an inner error that quotes a code',
    { code: -32_603, data: { details: 'HTTP 529: overloaded_error' } },
    'overloaded',
    'text "overloaded"',
  ),
  failureCase(
    'ACP: an inner error that quotes a code of an account',
    rpc(-32_603, 'Internal error', { details: 'provider said insufficient_quota' }),
    'billing',
    'text "credit balance"',
  ),
  failureCase('JSON-RPC: what could not be read', rpc(-32_700, 'Parse error'), 'server_error', 'rpc -32700'),
  failureCase('ACP: canceled', rpc(-32_800, 'Request cancelled'), 'aborted', 'rpc -32800'),
  failureCase(
    'ACP: a message, not an error',
    { jsonrpc: '2.0', id: 3, error: { code: -32_000, message: 'Authentication required' } },
    'auth',
    'rpc -32000',
  ),
];
