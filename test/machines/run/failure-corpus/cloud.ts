/** Models behind the clouds: Azure OpenAI and Amazon Bedrock. */
import { failureCase, http, SECOND } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

function azure(code: string, message: string, more: object = {}): object {
  return { error: { code, message, ...more } };
}

/** As the AWS SDK throws it: the class is its name. */
function aws(name: string, message: string, httpStatusCode?: number): Error {
  return Object.assign(new Error(message), {
    name,
    $fault: 'client',
    $metadata: { httpStatusCode, requestId: 'r', attempts: 1 },
  });
}

/** As Bedrock answers over HTTP. */
function bedrock(status: number, type: string, message: string): object {
  return http(
    status,
    { message },
    { 'x-amzn-ErrorType': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  );
}

export const cloudCases: readonly FailureCase[] = [
  failureCase(
    'Azure: a wrong key',
    http(401, azure('401', 'Access denied due to invalid subscription key or wrong API endpoint.')),
    'auth',
    'status 401',
  ),
  failureCase(
    'Azure: a status as a word',
    azure('429', 'Requests have exceeded the call rate limit of your tier. Please retry after 26 seconds.'),
    'rate_limit',
    'status 429',
    26 * SECOND,
  ),
  failureCase(
    'Azure: no deployment',
    http(404, azure('DeploymentNotFound', 'The API deployment for this resource does not exist.')),
    'model_not_found',
    'code deploymentnotfound',
  ),
  failureCase(
    'Azure: not with this model',
    http(
      400,
      azure('OperationNotSupported', 'The chatCompletion operation does not work with the specified model, o1.'),
    ),
    'model_not_found',
    'code operationnotsupported',
  ),
  failureCase(
    'Azure: the filter',
    http(
      400,
      azure(
        'content_filter',
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        { status: 400, innererror: { code: 'ResponsibleAIPolicyViolation' } },
      ),
    ),
    'refusal',
    'code content_filter',
  ),
  failureCase(
    'Azure: the filter, inside only',
    http(400, { error: { code: null, message: 'Filtered', innererror: { code: 'ResponsibleAIPolicyViolation' } } }),
    'refusal',
    'code responsibleaipolicyviolation',
  ),
  failureCase('Azure: the filter of services', azure('ContentFilter', 'Filtered'), 'refusal', 'code contentfilter'),
  failureCase(
    'Azure: no capacity',
    http(429, azure('NoCapacity', 'The system is currently experiencing high demand and cannot process your request.')),
    'overloaded',
    'code nocapacity',
  ),
  failureCase(
    'Azure: denied',
    azure('PermissionDenied', 'The principal lacks the required data action.'),
    'auth',
    'code permissiondenied',
  ),
  failureCase(
    'Azure: access denied',
    azure('AccessDenied', 'Access denied due to Virtual Network/Firewall rules.'),
    'auth',
    'code accessdenied',
  ),
  failureCase(
    'Azure: inside',
    azure('InternalServerError', 'Internal server error'),
    'server_error',
    'code internalservererror',
  ),
  failureCase('Azure: timeout', azure('RequestTimeout', 'Request timed out.'), 'timeout', 'code requesttimeout'),
  failureCase(
    'Azure: timeout as a word of its own',
    azure('request_timeout', 'Late.'),
    'timeout',
    'code request_timeout',
  ),
  failureCase(
    'Bedrock: throttled',
    aws('ThrottlingException', 'Too many requests, please wait before trying again.', 429),
    'rate_limit',
    'code throttlingexception',
  ),
  failureCase(
    'Bedrock: throttled, over HTTP',
    bedrock(400, 'ThrottlingException', 'Too many tokens, please wait before trying again.'),
    'rate_limit',
    'code throttlingexception',
  ),
  failureCase(
    'Bedrock: throttled, in JSON of old',
    http(400, { __type: 'com.amazon.coral.availability#TooManyRequestsException', message: 'Rate exceeded' }),
    'rate_limit',
    'code toomanyrequestsexception',
  ),
  failureCase(
    'Bedrock: the quota of the service',
    aws('ServiceQuotaExceededException', 'Your request exceeds the service quota for your account.', 400),
    'rate_limit',
    'code servicequotaexceededexception',
  ),
  failureCase(
    'Bedrock: no access to the model',
    aws('AccessDeniedException', "You don't have access to the model with the specified model ID.", 403),
    'model_not_found',
    'text "no access to the model"',
  ),
  failureCase(
    'Bedrock: no permission',
    aws(
      'AccessDeniedException',
      'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel',
      undefined,
    ),
    'auth',
    'code accessdeniedexception',
  ),
  failureCase(
    'Bedrock: a token that has expired',
    aws('ExpiredTokenException', 'The security token included in the request is expired', 403),
    'auth',
    'code expiredtokenexception',
  ),
  failureCase(
    'Bedrock: a client that is not known',
    aws('UnrecognizedClientException', 'The security token included in the request is invalid.', 403),
    'auth',
    'code unrecognizedclientexception',
  ),
  failureCase(
    'Bedrock: a wrong id',
    aws('InvalidClientTokenId', 'The security token included in the request is invalid', 403),
    'auth',
    'code invalidclienttokenid',
  ),
  failureCase(
    'Bedrock: a wrong signature',
    aws(
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
      403,
    ),
    'auth',
    'code invalidsignatureexception',
  ),
  failureCase(
    'Bedrock: too long',
    aws('ValidationException', 'Input is too long for requested model.', 400),
    'context_overflow',
    'text "prompt too long"',
  ),
  failureCase(
    'Bedrock: a wrong model',
    aws('ValidationException', 'The provided model identifier is invalid.', 400),
    'model_not_found',
    'text "model not found"',
  ),
  failureCase(
    'Bedrock: a request that is wrong',
    { __type: 'ValidationException', message: 'Malformed input request: #: required key [messages] not found' },
    'format',
    'code validationexception',
  ),
  failureCase(
    'Bedrock: a model that is not there',
    { __type: 'ResourceNotFoundException', message: 'Could not resolve the foundation model.' },
    'model_not_found',
    'code resourcenotfoundexception',
  ),
  failureCase(
    'Bedrock: not ready',
    aws('ModelNotReadyException', 'The model is not ready for inference.', 429),
    'overloaded',
    'code modelnotreadyexception',
  ),
  failureCase(
    'Bedrock: not available',
    aws('ServiceUnavailableException', 'The service is temporarily unable to handle the request.', 503),
    'overloaded',
    'code serviceunavailableexception',
  ),
  failureCase(
    'Bedrock: time is over',
    aws('ModelTimeoutException', 'The request took too long to process.', 408),
    'timeout',
    'code modeltimeoutexception',
  ),
  failureCase(
    'Bedrock: inside',
    aws('InternalServerException', 'An internal server error occurred.'),
    'server_error',
    'code internalserverexception',
  ),
  failureCase(
    'Bedrock: the model failed',
    aws('ModelErrorException', 'The request failed due to an error while processing the model.'),
    'server_error',
    'code modelerrorexception',
  ),
  failureCase(
    'Bedrock: the stream failed',
    aws('ModelStreamErrorException', 'An error occurred while streaming the response.'),
    'server_error',
    'code modelstreamerrorexception',
  ),
];
