/** Anthropic's Messages interface: https://docs.anthropic.com/en/api/errors, and what is met besides. */
import { DAY, failureCase, http, MINUTE, sdk, SECOND } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

function anthropic(type: string, message: string): object {
  return { type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' };
}

const LIMITS = {
  'anthropic-ratelimit-requests-limit': '50',
  'anthropic-ratelimit-requests-remaining': '49',
  'anthropic-ratelimit-requests-reset': '2025-11-22T08:00:02Z',
  'anthropic-ratelimit-input-tokens-remaining': '0',
  'anthropic-ratelimit-input-tokens-reset': '2025-11-22T08:00:45Z',
};

export const anthropicCases: readonly FailureCase[] = [
  failureCase(
    'a prompt that is too long',
    sdk(400, anthropic('invalid_request_error', 'prompt is too long: 215001 tokens > 200000 maximum')),
    'context_overflow',
    'text "prompt too long"',
  ),
  failureCase(
    'input and max_tokens over the window',
    http(
      400,
      anthropic(
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
      ),
    ),
    'context_overflow',
    'text "exceeds the context"',
  ),
  failureCase(
    'no credit left',
    sdk(
      400,
      anthropic(
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
    ),
    'billing',
    'text "credit balance"',
  ),
  failureCase(
    'the limit that the workspace has set',
    http(
      400,
      anthropic(
        'invalid_request_error',
        'You have reached your specified API usage limits. You will regain access on 2025-12-01 at 00:00 UTC.',
      ),
    ),
    'billing',
    'text "spending limit"',
    9 * DAY - 8 * 3_600_000,
  ),
  failureCase(
    'an organization that is disabled',
    sdk(400, anthropic('invalid_request_error', 'This organization has been disabled.')),
    'auth_permanent',
    'text "deactivated"',
  ),
  failureCase(
    'a tool call without its result',
    sdk(
      400,
      anthropic(
        'invalid_request_error',
        'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A09q90qw90lq917835lq9. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      ),
    ),
    'format',
    'status 400',
  ),
  failureCase(
    'an empty text block',
    sdk(400, anthropic('invalid_request_error', 'messages: text content blocks must be non-empty')),
    'format',
    'status 400',
  ),
  failureCase(
    'output that the content filter blocked',
    sdk(400, anthropic('invalid_request_error', 'Output blocked by content filtering policy')),
    'refusal',
    'text "violates the policy"',
  ),
  failureCase(
    'a wrong key',
    sdk(401, anthropic('authentication_error', 'invalid x-api-key')),
    'auth',
    'code authentication_error',
  ),
  failureCase(
    'an OAuth token that has expired',
    sdk(
      401,
      anthropic(
        'authentication_error',
        'OAuth token has expired. Please obtain a new token or refresh your existing token.',
      ),
    ),
    'auth',
    'code authentication_error',
  ),
  failureCase(
    'an OAuth token that was revoked',
    sdk(401, anthropic('authentication_error', 'OAuth token has been revoked. Please obtain a new token.')),
    'auth_permanent',
    'text "revoked"',
  ),
  failureCase(
    'a bare 401 that speaks of rate limits',
    http(401, 'rate limit of unauthenticated requests'),
    'auth',
    'status 401',
  ),
  failureCase(
    'a failed payment',
    sdk(402, anthropic('billing_error', 'There is an issue with your billing or payment information.')),
    'billing',
    'code billing_error',
  ),
  failureCase(
    'a key without the permission',
    sdk(403, anthropic('permission_error', 'Your API key does not have permission to use the specified resource.')),
    'auth',
    'status 403',
  ),
  failureCase(
    'the permission error in a stream',
    anthropic('permission_error', 'Your API key does not have permission to use the specified resource.'),
    'auth',
    'code permission_error',
  ),
  failureCase(
    'a model that is not there',
    sdk(404, anthropic('not_found_error', 'model: claude-sonnet-9')),
    'model_not_found',
    'status 404',
  ),
  failureCase(
    'not found, in a stream',
    anthropic('not_found_error', 'model: claude-sonnet-9'),
    'model_not_found',
    'code not_found_error',
  ),
  failureCase(
    'a request over 32 MB',
    sdk(413, anthropic('request_too_large', 'Request exceeds the maximum size')),
    'context_overflow',
    'code request_too_large',
  ),
  failureCase(
    '413 of the proxy in front',
    http(
      413,
      '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body><center><h1>413 Request Entity Too Large</h1></center></body></html>',
    ),
    'context_overflow',
    'status 413',
  ),
  failureCase(
    'the rate limit, with Retry-After',
    sdk(
      429,
      anthropic(
        'rate_limit_error',
        'This request would exceed the rate limit for your organization of 40,000 input tokens per minute.',
      ),
      { 'retry-after': '37', ...LIMITS },
    ),
    'rate_limit',
    'code rate_limit_error',
    37 * SECOND,
  ),
  failureCase(
    'the rate limit, with nothing but the limits',
    sdk(429, anthropic('rate_limit_error', 'Number of request tokens has exceeded your per-minute rate limit'), LIMITS),
    'rate_limit',
    'code rate_limit_error',
    45 * SECOND,
  ),
  failureCase(
    'the limit of a subscription',
    http(
      429,
      anthropic('rate_limit_error', "This request would exceed your account's rate limit. Please try again later."),
      { 'anthropic-ratelimit-unified-status': 'rejected', 'anthropic-ratelimit-unified-reset': '1763802000' },
    ),
    'rate_limit',
    'code rate_limit_error',
    60 * MINUTE,
  ),
  failureCase(
    'long contexts that need extra usage',
    http(429, anthropic('rate_limit_error', 'Extra usage is required for long context requests.')),
    'rate_limit',
    'code rate_limit_error',
  ),
  failureCase(
    'an internal error',
    sdk(500, anthropic('api_error', 'Internal server error')),
    'server_error',
    'status 500',
  ),
  failureCase(
    'an internal error in a stream',
    anthropic('api_error', 'Internal server error'),
    'server_error',
    'code api_error',
  ),
  failureCase(
    'an overloaded server that says 500',
    sdk(500, anthropic('overloaded_error', 'Overloaded')),
    'overloaded',
    'code overloaded_error',
  ),
  failureCase(
    '500 with the word only',
    sdk(500, anthropic('api_error', 'Overloaded')),
    'overloaded',
    'text "overloaded"',
  ),
  failureCase(
    'a time limit of theirs',
    sdk(504, anthropic('timeout_error', 'Request timed out')),
    'timeout',
    'code timeout_error',
  ),
  failureCase(
    '529',
    sdk(529, anthropic('overloaded_error', 'Overloaded'), { 'x-should-retry': 'true' }),
    'overloaded',
    'code overloaded_error',
  ),
  failureCase('529 without a body', http(529), 'overloaded', 'status 529'),
  failureCase(
    'overloaded in the middle of a stream',
    { type: 'overloaded_error', message: 'Overloaded' },
    'overloaded',
    'code overloaded_error',
  ),
  failureCase(
    'overloaded in the middle of a stream, as it was sent',
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    'overloaded',
    'code overloaded_error',
  ),
  failureCase(
    'overloaded behind a status of success',
    http(200, anthropic('overloaded_error', 'Overloaded')),
    'overloaded',
    'code overloaded_error',
  ),
  failureCase(
    'an answer that ended because the window is full',
    { type: 'error', error: { stop_reason: 'model_context_window_exceeded', message: 'The response stopped.' } },
    'context_overflow',
    'code model_context_window_exceeded',
  ),
  failureCase(
    'an answer that is a refusal',
    { error: { stop_reason: 'refusal', message: 'The model declined to answer.' } },
    'refusal',
    'code refusal',
  ),
  failureCase(
    'an answer of success',
    http(200, {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'A rate limit is when too many requests come.' }],
      stop_reason: 'end_turn',
    }),
    'unknown',
    'nothing fits',
  ),
];
