/** Google's Gemini and Vertex interfaces: https://ai.google.dev/gemini-api/docs/troubleshooting. */
import { failureCase, http, sdk, SECOND } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

function google(code: number, status: string, message: string, details: readonly object[] = []): object {
  return { error: { code, message, status, details } };
}

function errorInfo(reason: string): object {
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  };
}

export const googleCases: readonly FailureCase[] = [
  failureCase(
    'a wrong key',
    sdk(
      400,
      google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        errorInfo('API_KEY_INVALID'),
      ]),
    ),
    'auth',
    'code api_key_invalid',
  ),
  failureCase(
    'a wrong key, by the text',
    http(400, google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.')),
    'auth',
    'text "api key"',
  ),
  failureCase(
    'a key that is blocked for this',
    http(
      403,
      google(403, 'PERMISSION_DENIED', 'Requests to this API generativelanguage.googleapis.com method are blocked.', [
        errorInfo('API_KEY_SERVICE_BLOCKED'),
      ]),
    ),
    'auth',
    'code api_key_service_blocked',
  ),
  failureCase(
    'an interface that is not enabled',
    http(
      403,
      google(
        403,
        'PERMISSION_DENIED',
        'Generative Language API has not been used in project 12345 before or it is not enabled.',
        [errorInfo('SERVICE_DISABLED')],
      ),
    ),
    'auth',
    'code service_disabled',
  ),
  failureCase(
    'a project without billing',
    http(
      403,
      google(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.', [
        errorInfo('BILLING_DISABLED'),
      ]),
    ),
    'billing',
    'code billing_disabled',
  ),
  failureCase(
    'a consumer that is suspended',
    http(
      403,
      google(403, 'PERMISSION_DENIED', "Permission denied: Consumer 'api_key:x' has been suspended.", [
        errorInfo('CONSUMER_SUSPENDED'),
      ]),
    ),
    'auth_permanent',
    'code consumer_suspended',
  ),
  failureCase(
    'no credentials',
    http(
      401,
      google(401, 'UNAUTHENTICATED', 'Request is missing required authentication credential.', [
        errorInfo('CREDENTIALS_MISSING'),
      ]),
    ),
    'auth',
    'code credentials_missing',
  ),
  failureCase(
    'a token that has expired',
    http(
      401,
      google(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', [
        errorInfo('ACCESS_TOKEN_EXPIRED'),
      ]),
    ),
    'auth',
    'code access_token_expired',
  ),
  failureCase(
    'a token with too narrow a scope',
    http(
      403,
      google(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.', [
        errorInfo('ACCESS_TOKEN_SCOPE_INSUFFICIENT'),
      ]),
    ),
    'auth',
    'code access_token_scope_insufficient',
  ),
  failureCase(
    'unauthenticated',
    google(0, 'UNAUTHENTICATED', 'Request is not signed in.'),
    'auth',
    'code unauthenticated',
  ),
  failureCase(
    'permission denied',
    google(0, 'PERMISSION_DENIED', 'The caller does not have permission'),
    'auth',
    'code permission_denied',
  ),
  failureCase(
    'a free quota, with RetryInfo',
    sdk(
      429,
      google(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: generate_content_free_tier_requests, limit: 15. Please retry in 34.074824224s.',
        [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }],
      ),
    ),
    'rate_limit',
    'code resource_exhausted',
    34 * SECOND,
  ),
  failureCase(
    'a free quota, as a program prints it',
    'You exceeded your current quota, please check your plan and billing details. Please retry in 1s.',
    'rate_limit',
    'text "plan and billing"',
    SECOND,
  ),
  failureCase(
    'a free quota, by the status and RetryInfo',
    http(
      429,
      google(429, '', 'You exceeded your current quota, please check your plan and billing details.', [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '31s' },
      ]),
    ),
    'rate_limit',
    'text "plan and billing"',
    31 * SECOND,
  ),
  failureCase(
    'a quota without a delay',
    'You exceeded your current quota, please check your plan and billing details.',
    'billing',
    'text "plan and billing"',
  ),
  failureCase(
    'a free quota, by the text',
    http(429, google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded. Please retry in 34.5s.')),
    'rate_limit',
    'code resource_exhausted',
    34_500,
  ),
  failureCase(
    'the answer as a list',
    http(429, [google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).')]),
    'rate_limit',
    'code resource_exhausted',
  ),
  failureCase(
    'a rate limit of the project',
    http(429, google(429, '', 'Quota exceeded for quota metric.', [errorInfo('RATE_LIMIT_EXCEEDED')])),
    'rate_limit',
    'code rate_limit_exceeded',
  ),
  failureCase(
    'too many tokens',
    http(
      400,
      google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
    ),
    'context_overflow',
    'text "exceeds the context"',
  ),
  failureCase(
    'a field that is not known',
    http(400, google(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received. Unknown name "foo": Cannot find field.')),
    'format',
    'status 400',
  ),
  failureCase(
    'an argument that is wrong, in a stream',
    google(0, 'INVALID_ARGUMENT', 'Please ensure that function call turn comes immediately after a user turn.'),
    'format',
    'code invalid_argument',
  ),
  failureCase(
    'a place that is not served',
    google(0, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
    'format',
    'code failed_precondition',
  ),
  failureCase(
    'a number out of range',
    google(0, 'OUT_OF_RANGE', 'Temperature must be at most 2.'),
    'format',
    'code out_of_range',
  ),
  failureCase(
    'a model that is not there',
    http(
      404,
      google(
        404,
        'NOT_FOUND',
        'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
      ),
    ),
    'model_not_found',
    'status 404',
  ),
  failureCase(
    'not found, in a stream',
    google(0, 'NOT_FOUND', 'Publisher Model was not found.'),
    'model_not_found',
    'code not_found',
  ),
  failureCase(
    'an internal error',
    http(500, google(500, 'INTERNAL', 'An internal error has occurred. Please retry.')),
    'server_error',
    'status 500',
  ),
  failureCase(
    'an internal error, in a stream',
    google(0, 'INTERNAL', 'An internal error has occurred.'),
    'server_error',
    'code internal',
  ),
  failureCase(
    'unavailable',
    sdk(503, google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')),
    'overloaded',
    'code unavailable',
  ),
  failureCase(
    'a deadline that has passed',
    http(504, google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.')),
    'timeout',
    'code deadline_exceeded',
  ),
  failureCase(
    'canceled',
    http(499, google(499, 'CANCELLED', 'The operation was cancelled.')),
    'aborted',
    'code cancelled',
  ),
  failureCase('499 of a proxy', http(499), 'aborted', 'status 499'),
  failureCase(
    'a prompt that is blocked',
    { error: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } },
    'refusal',
    'code prohibited_content',
  ),
  failureCase(
    'a prompt with a word of the list',
    { promptFeedback: { blockReason: 'BLOCKLIST' } },
    'refusal',
    'code blocklist',
  ),
  failureCase(
    'an answer that was stopped',
    { error: { finishReason: 'SAFETY', message: 'Candidate was blocked.' } },
    'refusal',
    'code safety',
  ),
];
