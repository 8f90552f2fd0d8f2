/** Errors of the AI SDK, made with its own classes. */
import {
  APICallError,
  DownloadError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidDataContentError,
  InvalidMessageRoleError,
  InvalidPromptError,
  InvalidResponseDataError,
  InvalidStreamPartError,
  InvalidToolInputError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  MessageConversionError,
  MissingToolResultsError,
  NoContentGeneratedError,
  NoObjectGeneratedError,
  NoOutputGeneratedError,
  NoSuchModelError,
  NoSuchProviderError,
  NoSuchProviderReferenceError,
  NoSuchToolError,
  RetryError,
  StreamProviderError,
  ToolCallRepairError,
  TypeValidationError,
  UnsupportedFunctionalityError,
  UnsupportedModelVersionError,
} from 'ai';
import { failureCase, sdk, SECOND } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

/** What newer and older versions throw, by what they say of themselves. */
function named(name: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { name, ...more });
}

function call(message: string, more: { readonly cause?: unknown; readonly statusCode?: number }): APICallError {
  return new APICallError({ message, url: 'https://provider.example/v1', requestBodyValues: {}, ...more });
}

const BUSY = sdk(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
const LIMITED = sdk(429, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }, { 'retry-after': '3' });
const DENIED = sdk(401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } });
const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 } as never;

export const sdkClassCases: readonly FailureCase[] = [
  failureCase(
    'retries: the last error counts',
    new RetryError({
      message: 'Failed after 3 attempts. Last error: Overloaded',
      reason: 'maxRetriesExceeded',
      errors: [DENIED, LIMITED, BUSY],
    }),
    'overloaded',
    'code overloaded_error',
  ),
  failureCase(
    'retries: with the wait of the last',
    new RetryError({ message: 'Failed after 2 attempts', reason: 'maxRetriesExceeded', errors: [BUSY, LIMITED] }),
    'rate_limit',
    'code rate_limit_exceeded',
    3 * SECOND,
  ),
  failureCase(
    'retries that were stopped',
    new RetryError({ message: 'Aborted after 1 attempt', reason: 'abort', errors: [LIMITED] }),
    'aborted',
    'flag aborted_retry',
  ),
  failureCase(
    'no output, because of what a provider said',
    new NoOutputGeneratedError({ message: 'No output generated. Check the stream for errors.', cause: DENIED }),
    'auth',
    'code invalid_api_key',
  ),
  failureCase('no output', new NoOutputGeneratedError(), 'empty_response', 'class AI_NoOutputGeneratedError'),
  failureCase('no content', new NoContentGeneratedError({}), 'empty_response', 'class AI_NoContentGeneratedError'),
  failureCase(
    'no object',
    new NoObjectGeneratedError({
      text: 'rate limit',
      response: { id: 'r', timestamp: new Date(0), modelId: 'm' },
      usage,
      finishReason: 'stop',
    }),
    'empty_response',
    'class AI_NoObjectGeneratedError',
  ),
  failureCase('no body', new EmptyResponseBodyError({}), 'empty_response', 'class AI_EmptyResponseBodyError'),
  failureCase(
    'a tool that is not there',
    new NoSuchToolError({ toolName: 'fly' }),
    'empty_response',
    'class AI_NoSuchToolError',
  ),
  failureCase(
    'an input that is no JSON',
    new InvalidToolInputError({ toolName: 'read', toolInput: '{', cause: new Error('x') }),
    'empty_response',
    'class AI_InvalidToolInputError',
  ),
  failureCase(
    'a call that could not be repaired',
    new ToolCallRepairError({ cause: new Error('x'), originalError: new NoSuchToolError({ toolName: 'fly' }) }),
    'empty_response',
    'class AI_ToolCallRepairError',
  ),
  failureCase(
    'a choice of tools that was ignored',
    named('AI_ToolChoiceViolationError', 'Expected a call of a tool.'),
    'empty_response',
    'class AI_ToolChoiceViolationError',
  ),
  failureCase(
    'no key',
    new LoadAPIKeyError({
      message:
        "Anthropic API key is missing. Pass it using the 'apiKey' parameter or the ANTHROPIC_API_KEY environment variable.",
    }),
    'auth',
    'class AI_LoadAPIKeyError',
  ),
  failureCase(
    'no setting',
    new LoadSettingError({ message: 'Azure OpenAI resource name is missing.' }),
    'format',
    'class AI_LoadSettingError',
  ),
  failureCase(
    'no such model',
    new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' }),
    'model_not_found',
    'class AI_NoSuchModelError',
  ),
  failureCase(
    'no such provider',
    new NoSuchProviderError({ modelId: 'x', modelType: 'languageModel', providerId: 'p', availableProviders: [] }),
    'format',
    'class AI_NoSuchProviderError',
  ),
  failureCase(
    'no such reference',
    new NoSuchProviderReferenceError({ provider: 'p', reference: { q: 'file' } }),
    'format',
    'class AI_NoSuchProviderReferenceError',
  ),
  failureCase(
    'a prompt that is wrong',
    new InvalidPromptError({ prompt: [], message: 'messages must not be empty' }),
    'format',
    'class AI_InvalidPromptError',
  ),
  failureCase(
    'an argument that is wrong',
    new InvalidArgumentError({ parameter: 'maxOutputTokens', value: -1, message: 'must be >= 1' }),
    'format',
    'class AI_InvalidArgumentError',
  ),
  failureCase(
    'what the model cannot',
    new UnsupportedFunctionalityError({ functionality: 'file part media type video/mp4' }),
    'format',
    'class AI_UnsupportedFunctionalityError',
  ),
  failureCase(
    'a model of another version',
    new UnsupportedModelVersionError({ version: 'v1', provider: 'p', modelId: 'm' }),
    'format',
    'class AI_UnsupportedModelVersionError',
  ),
  failureCase(
    'a role that is wrong',
    new InvalidMessageRoleError({ role: 'robot' }),
    'format',
    'class AI_InvalidMessageRoleError',
  ),
  failureCase(
    'a message that cannot be turned into another',
    new MessageConversionError({ originalMessage: { role: 'user', parts: [] }, message: 'Unsupported part' }),
    'format',
    'class AI_MessageConversionError',
  ),
  failureCase(
    'content that is wrong',
    new InvalidDataContentError({ content: 1 }),
    'format',
    'class AI_InvalidDataContentError',
  ),
  failureCase(
    'results that are missing',
    new MissingToolResultsError({ toolCallIds: ['call_1'] }),
    'format',
    'class AI_MissingToolResultsError',
  ),
  failureCase(
    'a file that could not be fetched',
    new DownloadError({ url: 'https://files.example/a.png', message: 'Failed to download' }),
    'format',
    'class AI_DownloadError',
  ),
  failureCase(
    'an answer that is no JSON',
    call('Invalid JSON response', {
      statusCode: 200,
      cause: new JSONParseError({ text: 'rate limit', cause: new SyntaxError('Unexpected token') }),
    }),
    'server_error',
    'class AI_JSONParseError',
  ),
  failureCase(
    'an answer that checks otherwise',
    new TypeValidationError({ value: { choices: 'context length exceeded' }, cause: new Error('invalid') }),
    'server_error',
    'class AI_TypeValidationError',
  ),
  failureCase(
    'an answer that checks otherwise, because it is an error',
    new TypeValidationError({
      value: { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
      cause: new Error('invalid'),
    }),
    'model_not_found',
    'status 404',
  ),
  failureCase(
    'data that is wrong',
    new InvalidResponseDataError({ data: {}, message: "Expected 'id' to be a string." }),
    'server_error',
    'class AI_InvalidResponseDataError',
  ),
  failureCase(
    'a part of a stream that is wrong',
    new InvalidStreamPartError({ chunk: {} as never, message: 'unexpected part' }),
    'server_error',
    'class AI_InvalidStreamPartError',
  ),
  failureCase(
    'an error in a stream',
    new StreamProviderError({
      message: 'Rate limit reached',
      type: 'tokens',
      code: 'rate_limit_exceeded',
      statusCode: 429,
      data: {},
    }),
    'rate_limit',
    'code rate_limit_exceeded',
  ),
  failureCase(
    'a stream that broke off',
    call('Failed to process successful response', {
      statusCode: 200,
      cause: new TypeError('terminated', {
        cause: Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' }),
      }),
    }),
    'server_error',
    'code und_err_socket',
  ),
  failureCase(
    'a connection that was refused',
    call('Cannot connect to API: connect ECONNREFUSED 127.0.0.1:11434', {
      cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:11434'), { code: 'ECONNREFUSED' }),
    }),
    'server_error',
    'code econnrefused',
  ),
  failureCase(
    'a call that was aborted',
    call('Cannot connect to API', { cause: new DOMException('This operation was aborted', 'AbortError') }),
    'aborted',
    'abort AbortError',
  ),
  failureCase(
    'the gateway: a wrong key',
    named('GatewayAuthenticationError', 'Invalid API key', { type: 'gateway_authentication', isRetryable: false }),
    'auth',
    'class GatewayAuthenticationError',
  ),
  failureCase(
    'the gateway: no model',
    named('GatewayModelNotFoundError', 'x', { modelId: 'm' }),
    'model_not_found',
    'class GatewayModelNotFoundError',
  ),
  failureCase(
    'the gateway: its time limit',
    named('GatewayTimeoutError', 'x', { statusCode: 408 }),
    'timeout',
    'time limit GatewayTimeoutError',
  ),
];
