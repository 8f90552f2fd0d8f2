/**
 * What structured facts mean, as tables in the order in which they are asked: the first that knows a fact decides.
 *
 * 1. Errors of our own come first, so that a lock never looks like a failure of a model, whatever it wraps.
 * 2. Then who ended it: a time limit before an abort, because time limits are carried out by aborting.
 * 3. Codes of providers that say precisely what is wrong stand before the status they came with: 429 is sent for a
 *   spent account too.
 * 4. The status, what a connection died of, and classes of errors.
 * 5. Codes that say little more than "bad request" stand behind the status: they are sent with 401 and 404 as well.
 * 6. How a program ended: most end with 1 whatever happened.
 */
import { rows, table } from './failure-table.ts';
import type { FailureTable } from './failure-table.ts';
import { preciseCodes } from './precise-codes.ts';
import type { RunFailureKind } from './run-failure.ts';

/** What a request that was refused as wrong may turn out to be, by its text. */
const WHAT_BAD_REQUESTS_ARE: readonly RunFailureKind[] = [
  'session_expired',
  'context_overflow',
  'billing',
  'auth_permanent',
  'model_not_found',
  'refusal',
  'auth',
];

const WHAT_DENIALS_ARE: readonly RunFailureKind[] = ['billing', 'auth_permanent', 'model_not_found', 'refusal'];

const WHAT_BREAKDOWNS_ARE: readonly RunFailureKind[] = ['context_overflow', 'overloaded'];

/** For protocols in which "internal error" is all that a program can say besides a text. */
const ANYTHING_OF_A_PROVIDER: readonly RunFailureKind[] = [
  ...WHAT_BAD_REQUESTS_ARE,
  'overloaded',
  'rate_limit',
  'timeout',
  'empty_response',
];

/**
 * In one table, so that the outermost error decides. `provider`, `runner`, `process` and `crash` are absent: what such
 * an error wraps or says decides.
 */
const ownErrors = table(
  'our',
  'own',
  rows('context_overflow', ['code CONTEXT_TOO_LARGE']),
  rows('aborted', ['code TASK_CANCELLED']),
  // These have categories that would say something else: what they tell is the state of this runtime, not of a model.
  rows('coordination', [
    'code AUTH_PROFILES_INVALID',
    'code PROCESS_RECORD_UNWRITABLE',
    'code PROCESS_TABLE_UNREADABLE',
    'code PROCESS_TREE_SURVIVES',
    'code SESSION_NOT_FOUND',
    'code SOCKET_PATH_TOO_LONG',
    'code SURVIVORS_LEFT',
  ]),
  rows('coordination', ['category conflict', 'category storage', 'category capacity']),
  // Ours to correct: no other account and no other model would make it right.
  rows('format', ['category validation', 'category not_found', 'category permission']),
);

const timeLimits = table(
  'time limit',
  'name',
  rows('timeout', [
    'TimeoutError',
    'ConnectTimeoutError',
    'HeadersTimeoutError',
    'BodyTimeoutError',
    'APIConnectionTimeoutError',
    'GatewayTimeoutError',
  ]),
);

const timeFlags = table('flag', 'flag', rows('timeout', ['timedOut']));

const aborts = table(
  'abort',
  'name',
  rows('aborted', ['AbortError', 'ResponseAborted', 'CanceledError', 'APIUserAbortError']),
);

const abortFlags = table('flag', 'flag', rows('aborted', ['isCanceled', 'aborted_retry']));

const abortCodes = table(
  'code',
  'code',
  rows('aborted', ['abort_err', 'err_canceled', 'und_err_aborted', 'ecanceled']),
);

const rpcCodes = table(
  'rpc',
  'rpc',
  rows('auth', ['-32000'], ['session_expired', 'auth_permanent', 'rate_limit', 'overloaded', 'server_error']),
  rows('timeout', ['-32001']),
  rows('session_expired', ['-32002'], ['model_not_found']),
  rows('format', ['-32600', '-32601', '-32602'], WHAT_BAD_REQUESTS_ARE),
  rows('server_error', ['-32603'], ANYTHING_OF_A_PROVIDER),
  rows('server_error', ['-32700']),
  rows('aborted', ['-32800']),
);

/** Of HTTP. Other numbers from 500 on are failures of a server by what HTTP says of them. */
const statusRows = [
  rows('format', ['400', '422'], WHAT_BAD_REQUESTS_ARE),
  rows('auth', ['401'], ['auth_permanent', 'billing']),
  rows('billing', ['402']),
  rows('auth', ['403'], [...WHAT_DENIALS_ARE, 'rate_limit']),
  rows('model_not_found', ['404'], ['session_expired', 'refusal']),
  rows('format', ['405', '406', '414', '415', '431']),
  rows('timeout', ['408', '504', '522', '524', '598']),
  rows('server_error', ['409', '424', '425']),
  rows('model_not_found', ['410']),
  rows('context_overflow', ['413']),
  rows('rate_limit', ['429'], ['context_overflow', 'billing', 'overloaded']),
  rows('overloaded', ['498', '503', '529'], ['model_not_found']),
  rows('aborted', ['499']),
  rows('server_error', ['500', '502', '5xx'], WHAT_BREAKDOWNS_ARE),
];

const statuses = table('status', 'status', ...statusRows);

const SHORTAGES = ['eagain', 'edquot', 'eio', 'emfile', 'enfile', 'enomem', 'enospc', 'erofs'];

/**
 * This machine is out of something, as a call of the system told. It passes, or another backend needs less of it: no
 * candidate is to blame.
 */
const shortages = table('system', 'system', rows('server_error', SHORTAGES));

/** What the system, the HTTP client and the TLS layer of Node say, in lower case. */
const systemCodes = table(
  'code',
  'code',
  rows('timeout', [
    'etimedout',
    'esockettimedout',
    'und_err_connect_timeout',
    'und_err_headers_timeout',
    'und_err_body_timeout',
    'err_http_request_timeout',
  ]),
  rows('server_error', [
    'cert_has_expired',
    'connectionclosed',
    'connectionrefused',
    'depth_zero_self_signed_cert',
    'eai_again',
    'econnaborted',
    'econnrefused',
    'econnreset',
    'ehostdown',
    'ehostunreach',
    'enetdown',
    'enetunreach',
    'enotfound',
    'epipe',
    'eproto',
    'err_stream_premature_close',
    'err_tls_cert_altname_invalid',
    'failedtoopensocket',
    'self_signed_cert_in_chain',
    'unable_to_get_issuer_cert_locally',
    'unable_to_verify_leaf_signature',
    'und_err_closed',
    'und_err_destroyed',
    'und_err_res_content_length_mismatch',
    'und_err_response',
    'und_err_socket',
  ]),
  // A machine is out of something; whose, `shortages` would have said.
  rows('server_error', SHORTAGES),
  // The program or package is not there, may not be started, or was given what it cannot take.
  rows('format', [
    'e2big',
    'eacces',
    'einval',
    'enoent',
    'enotdir',
    'eperm',
    'err_invalid_arg_type',
    'err_invalid_char',
    'err_invalid_url',
    'err_module_not_found',
    'err_package_path_not_exported',
    'module_not_found',
  ]),
);

/** Classes of errors of the AI SDK. They wrap what a provider said, so they stand behind all that it may have said. */
const errorClasses = table(
  'class',
  'name',
  rows('auth', ['AI_LoadAPIKeyError', 'GatewayAuthenticationError']),
  rows('model_not_found', ['AI_NoSuchModelError', 'GatewayModelNotFoundError']),
  rows('format', [
    'AI_DownloadError',
    'AI_InvalidArgumentError',
    'AI_InvalidDataContentError',
    'AI_InvalidMessageRoleError',
    'AI_InvalidPromptError',
    'AI_LoadSettingError',
    'AI_MessageConversionError',
    'AI_MissingToolResultsError',
    'AI_NoSuchProviderError',
    'AI_NoSuchProviderReferenceError',
    'AI_UnsupportedFunctionalityError',
    'AI_UnsupportedModelVersionError',
  ]),
  rows('empty_response', [
    'AI_EmptyResponseBodyError',
    'AI_InvalidToolInputError',
    'AI_NoContentGeneratedError',
    'AI_NoObjectGeneratedError',
    'AI_NoOutputGeneratedError',
    'AI_NoSuchToolError',
    'AI_ToolCallRepairError',
    'AI_ToolChoiceViolationError',
  ]),
  rows('server_error', [
    'AI_InvalidResponseDataError',
    'AI_InvalidStreamPartError',
    'AI_JSONParseError',
    'AI_TypeValidationError',
  ]),
);

const vagueCodes = table(
  'code',
  'code',
  rows('auth', ['unauthenticated', 'unauthorized'], ['auth_permanent']),
  rows(
    'auth',
    [
      'access_denied',
      'accessdenied',
      'accessdeniedexception',
      'forbidden',
      'permission_denied',
      'permission_error',
      'permissiondenied',
    ],
    WHAT_DENIALS_ARE,
  ),
  rows(
    'model_not_found',
    ['not_found', 'not_found_error', 'notfounderror', 'resourcenotfoundexception'],
    ['session_expired'],
  ),
  rows(
    'format',
    [
      'bad_request',
      'badrequesterror',
      'failed_precondition',
      'invalid_argument',
      'invalid_parameter_error',
      'invalid_request',
      'invalid_request_error',
      'invalid_type',
      'invalid_value',
      'invalidparameter',
      'missing_required_parameter',
      'out_of_range',
      'unknown_parameter',
      'unprocessable_entity',
      'unsupported_parameter',
      'unsupported_value',
      'validationexception',
    ],
    WHAT_BAD_REQUESTS_ARE,
  ),
  rows(
    'server_error',
    [
      'api_error',
      'internal',
      'internal_error',
      'internal_failure',
      'internal_server_error',
      'internalerror',
      'internalservererror',
      'internalserverexception',
      'modelerrorexception',
      'modelstreamerrorexception',
      'server_error',
      'upstream_error',
    ],
    WHAT_BREAKDOWNS_ARE,
  ),
);

const exits = table(
  'exit',
  'exit',
  rows('format', ['126', '127']),
  rows('aborted', ['129', '130', '143']),
  rows('server_error', ['132', '134', '135', '137', '139']),
);

/**
 * A program that breaks down, or is killed without a chance to say why (for memory, as a rule), is a crash of the
 * backend: nothing of ours is in its way.
 */
const signals = table(
  'signal',
  'signal',
  rows('aborted', ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']),
  rows('server_error', ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGKILL', 'SIGSEGV']),
);

const ownTimeouts = table('our', 'own', rows('timeout', ['category timeout']));

/** A program that only prints the status of the request it made. */
const statedStatuses = table('stated status', 'stated_status', ...statusRows);

export const FAILURE_TABLES: readonly FailureTable[] = [
  ownErrors,
  timeLimits,
  timeFlags,
  aborts,
  abortFlags,
  abortCodes,
  preciseCodes,
  rpcCodes,
  statuses,
  shortages,
  systemCodes,
  errorClasses,
  vagueCodes,
  statedStatuses,
  exits,
  signals,
  ownTimeouts,
];
