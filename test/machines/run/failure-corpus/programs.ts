/** What the programs `claude` and `codex` print when they fail, and how programs end. */
import { failureCase, HOUR, MINUTE, program } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

const ESCAPE = String.fromCodePoint(27);

function claude(message: string, more: object = {}): object {
  return program(1, '', { message, ...more });
}

function codex(message: string): object {
  return program(1, '', { message: JSON.stringify({ type: 'turn.failed', error: { message } }) });
}

export const programCases: readonly FailureCase[] = [
  failureCase('claude: no credit', claude('Credit balance is too low'), 'billing', 'text "credit balance"'),
  failureCase(
    'claude: the limit, by a moment',
    claude('Claude AI usage limit reached|1763809200'),
    'rate_limit',
    'text "usage limit reached"',
    3 * HOUR,
  ),
  failureCase(
    'claude: the limit of five hours',
    claude('5-hour limit reached ∙ resets 3pm'),
    'rate_limit',
    'text "usage limit reached"',
  ),
  failureCase(
    'claude: the limit, newer',
    claude("You've hit your limit · resets 3pm (Europe/Berlin)"),
    'rate_limit',
    'text "hit your limit"',
  ),
  failureCase('claude: a wrong key', claude('Invalid API key · Fix external API key'), 'auth', 'text "api key"'),
  failureCase('claude: not logged in', claude('Not logged in · Please run /login'), 'auth', 'text "log in"'),
  failureCase(
    'claude: a token that has expired',
    claude(
      'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired. Please obtain a new token or refresh your existing token."},"request_id":"req_1"} · Please run /login',
    ),
    'auth',
    'code authentication_error',
  ),
  failureCase(
    'claude: a token that was revoked',
    claude('OAuth token revoked · Please run /login'),
    'auth_permanent',
    'text "revoked"',
  ),
  failureCase(
    'claude: an organization that is disabled',
    claude('Your organization has been disabled. Update or unset your ANTHROPIC_API_KEY.'),
    'auth_permanent',
    'text "deactivated"',
  ),
  failureCase(
    'claude: overloaded',
    claude('API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
    'overloaded',
    'code overloaded_error',
  ),
  failureCase(
    'claude: overloaded again and again',
    claude('API Error: Repeated 529 Overloaded errors'),
    'overloaded',
    'text "overloaded"',
  ),
  failureCase(
    'claude: a status that is only said',
    claude('API Error: 500 Something broke'),
    'server_error',
    'stated status 500',
  ),
  failureCase('claude: 503, said', claude('API Error: 503 upstream connect error'), 'overloaded', 'stated status 503'),
  failureCase('claude: time is over', claude('API Error: Request timed out.'), 'timeout', 'text "timed out"'),
  failureCase('claude: no connection', claude('API Error: Connection error.'), 'server_error', 'text "connection"'),
  failureCase('claude: the prompt', claude('Prompt is too long'), 'context_overflow', 'text "prompt too long"'),
  failureCase(
    'claude: a model that is not there',
    claude(
      "There's an issue with the selected model (claude-9). It may not exist or you may not have access to it. Run --model to pick a different model.",
    ),
    'model_not_found',
    'text "model not found"',
  ),
  failureCase(
    'claude: against the policy',
    claude(
      'API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup).',
    ),
    'refusal',
    'text "violates the policy"',
  ),
  failureCase(
    'claude: a session that is gone',
    program(1, 'No conversation found with session ID: 550e8400-e29b-41d4-a716-446655440000\n'),
    'session_expired',
    'text "no conversation found"',
  ),
  failureCase(
    'claude: a session that is in use',
    program(1, 'Error: Session ID 550e8400-e29b-41d4-a716-446655440000 is already in use.\n'),
    'session_expired',
    'text "session in use"',
  ),
  failureCase(
    'claude: a session that runs elsewhere, at the start',
    program(1, '', {
      result: { type: 'result', subtype: 'error_during_execution' },
      startup_failure_reason: 'session_held_by_background',
      message: 'x',
    }),
    'session_expired',
    'code session_held_by_background',
  ),
  failureCase('claude: interrupted', claude('[Request interrupted by user]'), 'aborted', 'text "aborted"'),
  failureCase(
    'claude: an option it does not know',
    program(1, "error: unknown option '--output-fromat'\n"),
    'format',
    'text "command line"',
  ),
  failureCase(
    'claude: the message tells the failure: login',
    claude('x', { error: 'authentication_failed' }),
    'auth',
    'code authentication_failed',
  ),
  failureCase(
    'claude: the message tells the failure: cloud',
    claude('x', { error: 'cloud_credential_error' }),
    'auth',
    'code cloud_credential_error',
  ),
  failureCase(
    'claude: the message tells the failure: organization',
    claude('x', { error: 'oauth_org_not_allowed' }),
    'auth',
    'code oauth_org_not_allowed',
  ),
  failureCase(
    'claude: the message tells the failure: verification',
    claude('x', { error: 'verification_required' }),
    'auth',
    'code verification_required',
  ),
  failureCase(
    'claude: the message tells the failure: on hold',
    claude('x', { error: 'account_on_hold' }),
    'auth_permanent',
    'code account_on_hold',
  ),
  failureCase(
    'claude: the message tells the failure: rate',
    claude('x', { error: 'rate_limit', resetsAt: 1763800200 }),
    'rate_limit',
    'code rate_limit',
    30 * MINUTE,
  ),
  failureCase(
    'claude: the message tells the failure: request',
    claude('x', { error: 'invalid_request' }),
    'format',
    'code invalid_request',
  ),
  failureCase(
    'claude: the result tells the status',
    claude('x', { api_error_status: 529 }),
    'overloaded',
    'status 529',
  ),
  failureCase(
    'codex: the limit of a plan',
    codex("You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing), or try again in 3h 12m."),
    'rate_limit',
    'text "hit your limit"',
    3 * HOUR + 12 * MINUTE,
  ),
  failureCase(
    'codex: the limit of a plan, in days',
    codex(
      "You've hit your usage limit. Visit settings to purchase more credits or try again in 2 days 3 hours 5 minutes.",
    ),
    'rate_limit',
    'text "hit your limit"',
    51 * HOUR + 5 * MINUTE,
  ),
  failureCase(
    'codex: the quota',
    codex('Quota exceeded. Check your plan and billing details.'),
    'billing',
    'text "plan and billing"',
  ),
  failureCase(
    'codex: a plan without it',
    codex('To use Codex with your ChatGPT plan, upgrade to Plus: https://openai.com/chatgpt/pricing.'),
    'billing',
    'text "plan does not include it"',
  ),
  failureCase(
    'codex: too many tries',
    codex('exceeded retry limit, last status: 429 Too Many Requests, request id: 1'),
    'rate_limit',
    'stated status 429',
  ),
  failureCase(
    'codex: 401',
    codex(
      'unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: https://api.openai.com/v1/responses',
    ),
    'auth',
    'stated status 401',
  ),
  failureCase(
    'codex: 400 with a model',
    codex(
      'unexpected status 400 Bad Request: {"detail":"The \'gpt-9\' model is not supported when using Codex with a ChatGPT account."}',
    ),
    'model_not_found',
    'text "model not supported"',
  ),
  failureCase(
    'codex: a stream that broke off',
    codex('stream disconnected before completion: error sending request for url (https://api.openai.com/v1/responses)'),
    'server_error',
    'text "connection"',
  ),
  failureCase(
    'codex: idle',
    codex('stream disconnected before completion: idle timeout waiting for SSE'),
    'timeout',
    'text "timed out"',
  ),
  failureCase(
    'codex: the window',
    codex(
      "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    ),
    'context_overflow',
    'text "out of room in the context"',
  ),
  failureCase(
    'codex: the model is full',
    codex('Selected model is at capacity. Please try a different model.'),
    'overloaded',
    'text "at capacity"',
  ),
  failureCase(
    'codex: high demand',
    codex("We're currently experiencing high demand, which may cause temporary errors."),
    'overloaded',
    'text "at capacity"',
  ),
  failureCase(
    'codex: a session that is gone',
    program(1, 'Error: thread/resume failed: no rollout found for thread id 0199a213\n'),
    'session_expired',
    'text "no conversation found"',
  ),
  failureCase(
    'codex: a token that was revoked',
    codex(
      'Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again.',
    ),
    'auth_permanent',
    'text "revoked"',
  ),
  failureCase(
    'codex: a token that was used before',
    codex(
      'Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.',
    ),
    'auth_permanent',
    'text "refresh token"',
  ),
  failureCase(
    'codex: the token, by a code: reused',
    { error: { code: 'refresh_token_reused', message: 'x' } },
    'auth_permanent',
    'code refresh_token_reused',
  ),
  failureCase(
    'codex: the token, by a code: expired',
    { error: { code: 'refresh_token_expired', message: 'x' } },
    'auth_permanent',
    'code refresh_token_expired',
  ),
  failureCase(
    'codex: the token, by a code: invalidated',
    { error: { code: 'refresh_token_invalidated', message: 'x' } },
    'auth_permanent',
    'code refresh_token_invalidated',
  ),
  failureCase(
    'codex: the workspace',
    { detail: { code: 'deactivated_workspace' } },
    'auth_permanent',
    'code deactivated_workspace',
  ),
  failureCase(
    'OAuth: a grant that is over',
    { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
    'auth_permanent',
    'code invalid_grant',
  ),
  failureCase(
    'a colored line',
    program(1, `${ESCAPE}[31m${ESCAPE}[1mCredit ${ESCAPE}[0mbalance is too low\n`),
    'billing',
    'text "credit balance"',
  ),
  failureCase('a program that is not there', program(127, 'sh: 1: claude: not found\n'), 'format', 'exit 127'),
  failureCase(
    'a program that may not be started',
    program(126, 'sh: 1: ./claude: Permission denied\n'),
    'format',
    'exit 126',
  ),
  failureCase('a program that was hung up on', program(129, ''), 'aborted', 'exit 129'),
  failureCase('a program that was interrupted', program(130, '^C\n'), 'aborted', 'exit 130'),
  failureCase('a program that hit a bad instruction', program(132, ''), 'server_error', 'exit 132'),
  failureCase(
    'a program that gave up',
    program(134, 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n'),
    'server_error',
    'exit 134',
  ),
  failureCase('a program that hit a bus error', program(135, ''), 'server_error', 'exit 135'),
  failureCase('a program that was killed', program(137, 'Killed\n'), 'server_error', 'exit 137'),
  failureCase(
    'a program that broke memory',
    program(139, 'Segmentation fault (core dumped)\n'),
    'server_error',
    'exit 139',
  ),
  failureCase('a program that was ended', program(143, ''), 'aborted', 'exit 143'),
  ...['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'].map((signal) =>
    failureCase(
      `a program ended by ${signal}`,
      { exitCode: undefined, signal, stderr: '' },
      'aborted',
      `signal ${signal}`,
    ),
  ),
  ...['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'].map((signal) =>
    failureCase(
      `a program broken by ${signal}`,
      { exitCode: null, signal, stderr: '' },
      'server_error',
      `signal ${signal}`,
    ),
  ),
  failureCase(
    'a program killed by the system',
    { exitCode: null, signal: 'SIGKILL', stderr: '' },
    'server_error',
    'signal SIGKILL',
  ),
  failureCase(
    'a program that took too long',
    Object.assign(new Error('Command timed out'), {
      shortMessage: 'Command timed out after 1000 milliseconds: claude',
      timedOut: true,
      isCanceled: false,
      signal: 'SIGTERM',
    }),
    'timeout',
    'flag timedOut',
  ),
  failureCase(
    'a program that was canceled',
    Object.assign(new Error('x'), {
      shortMessage: 'Command was canceled: claude',
      timedOut: false,
      isCanceled: true,
      signal: 'SIGTERM',
    }),
    'aborted',
    'flag isCanceled',
  ),
  failureCase('a program that said nothing', program(1, ''), 'unknown', 'nothing fits'),
  failureCase(
    'a program whose model spoke of limits',
    Object.assign(new Error('Command failed with exit code 1: claude\n\nA rate limit is when too many requests come'), {
      shortMessage: 'Command failed with exit code 1: claude',
      exitCode: 1,
      stdout: 'A rate limit is when too many requests come',
      stderr: '',
    }),
    'unknown',
    'nothing fits',
  ),
];
