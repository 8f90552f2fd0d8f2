/**
 * What texts mean, for failures that no structured fact explains, or that a fact explains only vaguely: the first
 * pattern that matches decides. Their order is that from the narrow to the wide, and where two may match the same text,
 * the one comes first that would be missed otherwise:
 *
 * - what is gone or taken of a session before models, because both are "not found";
 * - limits of use before money, because programs advise to buy more when they mean "wait";
 * - a context that is too large before money and rates, because its texts speak of limits and tokens as well;
 * - money before rates, because an account that is spent is told as a quota that is exceeded;
 * - credentials that are dead before those that are wrong, because "invalid" is said of both;
 * - a refusal and a busy server before rates; what a connection died of after all that a provider says; bad requests
 *   last.
 *
 * Texts quote codes: they are tried with each `_` as it is, and again with a blank in its place, so that words in
 * patterns find both spellings and `\b` holds beside it. No pattern repeats what may repeat itself, and gaps have a
 * limit: the time is linear in the length of the text.
 */
import type { RunFailureKind } from './run-failure.ts';

export interface FailurePattern {
  /** Unique; part of the rule's name. */
  readonly id: string;
  readonly kind: RunFailureKind;
  readonly pattern: RegExp;
  /** What it is instead where the answer names a wait: Google says of a rate that the quota is exceeded. */
  readonly withWait?: RunFailureKind;
}

export const FAILURE_PATTERNS: readonly FailurePattern[] = [
  // Of an account, not of a conversation.
  { id: 'login has expired', kind: 'auth', pattern: /session\b[^\n]{0,40}\bexpired[^\n]{0,60}\b(?:log|sign) ?in\b/i },

  {
    id: 'no conversation found',
    kind: 'session_expired',
    pattern:
      /no (?:conversation|saved session|session|thread|rollout)s? (?:(?:was |were )?found|with (?:this |that |the )?(?:session |thread )?id\b)/i,
  },
  // Another program goes on with it: the conversation can be given to a new one.
  {
    id: 'session in use',
    kind: 'session_expired',
    pattern: /session (?:id )?\S{0,80} ?is (?:already in use|currently running)/i,
  },
  {
    id: 'session not found',
    kind: 'session_expired',
    pattern:
      /(?:session|conversation|thread)\b[^\n]{0,80}\b(?:not found|does not exist|doesn't exist|no longer exists|has expired|is expired)/i,
  },
  {
    id: 'unknown session',
    kind: 'session_expired',
    pattern: /(?:unknown|invalid|no such|expired) (?:session|thread|conversation)\b|session_expired/i,
  },
  { id: 'previous response gone', kind: 'session_expired', pattern: /previous response[^\n]{0,120}not found/i },

  { id: 'usage limit reached', kind: 'rate_limit', pattern: /(?:usage|5-hour|weekly|opus|session) limit reached/i },
  { id: 'hit your limit', kind: 'rate_limit', pattern: /hit your (?:\w+ )?limit/i },

  {
    id: 'prompt too long',
    kind: 'context_overflow',
    pattern:
      /(?:prompt|input|request|message|conversation)s? (?:is|are|was) too (?:long|large)\b|conversation too long/i,
  },
  {
    id: 'maximum context length',
    kind: 'context_overflow',
    pattern:
      /maximum (?:context|prompt) length|max(?:imum)? model length|context length is only|(?:loaded with|reached) (?:a )?context length of|range of input length/i,
  },
  {
    id: 'exceeds the context',
    kind: 'context_overflow',
    pattern:
      /exceed(?:s|ed|ing)?\b[^\n]{0,60}\b(?:context|token limit|maximum number of (?:input )?tokens|maximum prompt length|max_model_len)|\b(?:prompt|input|context|sequence)s? exceeds? (?:the )?max(?:imum)? length/i,
  },
  {
    id: 'context exceeded',
    kind: 'context_overflow',
    pattern:
      /context (?:window|length|size|limit)[^\n]{0,40}\b(?:exceed(?:ed|s)|overflow|too (?:small|short)|reached|full)/i,
  },
  {
    id: 'greater than context',
    kind: 'context_overflow',
    pattern: /(?:greater|larger|longer) than (?:the )?(?:model's )?(?:context|maximum)/i,
  },
  { id: 'out of room in the context', kind: 'context_overflow', pattern: /out of room in the model/i },
  {
    id: 'too many input tokens',
    kind: 'context_overflow',
    pattern:
      /too many (?:input |total |prompt )?tokens(?! per)|input token count|reduce the (?:length|number of tokens)|\btokens?\b[^\n]{0,40}\bmust be <=/i,
  },
  { id: 'request too large for the rate', kind: 'context_overflow', pattern: /request too large/i },

  {
    id: 'credit balance',
    kind: 'billing',
    pattern:
      /credit balance|insufficient (?:account )?(?:balance|credit|funds|quota)|out of credits|no credits(?! (?:was|were|have been|has been)\b)|n[o']t have any credits|all available credits|(?:more|not enough|requires) credits/i,
  },
  {
    id: 'plan and billing',
    kind: 'billing',
    pattern: /check your (?:plan|billing)|exceeded your current quota|quota exceeded\. check/i,
    withWait: 'rate_limit',
  },
  {
    id: 'spending limit',
    kind: 'billing',
    pattern:
      /(?:spend|spending|billing|billing hard|specified API usage|monthly usage) limits?\b|(?:key|credit) limit exceeded|budget has been exceeded/i,
  },
  {
    id: 'payment',
    kind: 'billing',
    pattern:
      /payment (?:is )?(?:required|method|failed|overdue)|billing (?:is )?(?:not active|disabled|issue|account)|enable billing|account is in arrears|past due|payment[ _]instrument|extra usage is required|free tier[^\n]{0,40}\bexhausted|not in good standing/i,
  },
  {
    id: 'plan does not include it',
    kind: 'billing',
    pattern:
      /upgrade to (?:plus|pro|max|a paid)|upgrade your plan|not (?:included|available) (?:in|on|for|with) (?:your|the)\b[^\n]{0,30}\b(?:plan|tier)/i,
  },

  {
    id: 'deactivated',
    kind: 'auth_permanent',
    pattern:
      /(?:organization|account|workspace|user|api key|project|subscription)\b[^\n]{0,40}\b(?:is|was|been|currently) (?:deactivated|disabled|restricted|suspended|terminated|banned|archived|on hold)|account_deactivated|organization_disabled/i,
  },
  {
    id: 'revoked',
    kind: 'auth_permanent',
    pattern: /(?:api key|token|credentials?|grant)\b[^\n]{0,40}\b(?:revoked|invalidated|leaked|deleted|blocked)/i,
  },
  {
    id: 'refresh token',
    kind: 'auth_permanent',
    pattern: /refresh token[^\n]{0,60}\b(?:expired|already used|invalid|not found)/i,
  },

  {
    id: 'model not found',
    kind: 'model_not_found',
    pattern:
      /models\/\S{1,120} is not found|model\b[^\n]{0,120}\b(?:not found|does not exist|doesn't exist|not exist|not loaded|decommissioned|has been deprecated|retired|no longer available|identifier is invalid)/i,
  },
  // Nothing but the name in between: models are also told what of a request they do not support.
  {
    id: 'model not supported',
    kind: 'model_not_found',
    pattern: /model\b['"`]?(?: \S{1,80})? is not (?:supported|available)|model_not_(?:supported|available)/i,
  },
  {
    id: 'unknown model',
    kind: 'model_not_found',
    pattern:
      /(?:unknown|invalid|no such|unsupported|unrecognized) model\b|not a valid model|no endpoints found|no healthy deployments|on-demand throughput|model: [\w.:@/-]{1,120}$/im,
  },
  {
    id: 'no access to the model',
    kind: 'model_not_found',
    pattern: /(?:not have|without|no|don't have) access to (?:the )?(?:\S{1,80} )?model/i,
  },

  {
    id: 'violates the policy',
    kind: 'refusal',
    pattern:
      /(?:violat\w{0,6}|against|blocked by)[^\n]{0,60}\b(?:usage|content|safety|management|acceptable use)[^\n]{0,20}\b(?:policy|policies|guidelines|settings)|content (?:management )?policy/i,
  },
  {
    id: 'content filter',
    kind: 'refusal',
    pattern:
      /content[ _-]filter|filtered due to|flagged (?:as|by|for)|requires moderation|inappropriate content|content exists risk|new_sensitive|high risk/i,
  },
  {
    id: 'blocked for safety',
    kind: 'refusal',
    pattern: /(?:blocked|stopped|rejected)\b[^\n]{0,60}\bsafety|safety (?:system|filter)/i,
  },

  { id: 'overloaded', kind: 'overloaded', pattern: /\boverloaded/i },
  {
    id: 'at capacity',
    kind: 'overloaded',
    pattern:
      /(?:at|over|insufficient|exceeded|out of|no|lack of) capacity|capacity (?:exceeded|constraints)|high demand|server is busy|server busy|heavy load/i,
  },
  {
    id: 'model is loading',
    kind: 'overloaded',
    pattern:
      /(?:model is|currently|still) loading|loading model|(?<!resource )temporarily unavailable|service unavailable/i,
  },

  { id: 'rate limit', kind: 'rate_limit', pattern: /rate[ _-]?limit|temporarily limiting/i },
  {
    id: 'too many requests',
    kind: 'rate_limit',
    pattern: /too many (?:requests|tokens per|concurrent)|throttl(?:ed|ing)|slow down/i,
  },
  {
    id: 'quota',
    kind: 'rate_limit',
    pattern:
      /(?:quota|usage limit)\b[^\n]{0,60}\bexceeded|exhausted your (?:\w+ )?(?:quota|capacity)|call volume quota|resource (?:has been )?exhausted|(?:exceeded|reached)\b[^\n]{0,60}\b(?:quota|usage limit)|\b(?:tokens|requests) per (?:minute|day|second)/i,
  },

  {
    id: 'api key',
    kind: 'auth',
    pattern:
      /(?:invalid|incorrect|missing|wrong|bad|expired|no) (?:\w+ )?(?:api[ _-]?key|credentials?|bearer|access token|auth)\b|api[ _-]?key (?:not valid|is (?:missing|invalid|required|not set)|not found|expired)/i,
  },
  {
    id: 'log in',
    kind: 'auth',
    pattern:
      /(?:run|use) [`'"]?(?:\/login|claude login|codex login|\w{1,20} auth login)|not logged in|please (?:log|sign) in|(?:log|sign)(?:ing)? in again|login required|login fail|authentication required|set an auth method|requires setting the GOOGLE_CLOUD/i,
  },
  {
    id: 'unauthorized',
    kind: 'auth',
    pattern:
      /\bunauthori[sz]ed|authentication (?:failed|error|fails)|could not authenticate|permission denied by the provider|organization must be verified/i,
  },
  {
    id: 'token expired',
    kind: 'auth',
    pattern: /(?:oauth |access |auth |security )?token (?:has |is |included in the request is )?expired/i,
  },

  {
    id: 'aborted',
    kind: 'aborted',
    pattern:
      /(?:operation|request|run|turn|task) (?:was |has been )?(?:aborted|cancell?ed|interrupted)|interrupted by (?:the )?user/i,
  },
  {
    id: 'timed out',
    kind: 'timeout',
    pattern: /timed? ?out\b|timeout (?:exceeded|waiting|of)|deadline exceeded|idle timeout/i,
  },
  {
    id: 'empty response',
    kind: 'empty_response',
    pattern:
      /(?:empty|no) (?:response|content|output|completion)(?: body)?(?: was)? ?(?:received|returned|generated|from|body)|returned (?:an empty|no) (?:response|content|message)/i,
  },
  {
    id: 'connection',
    kind: 'server_error',
    pattern:
      /connection (?:error|refused|reset|closed|failed|lost|terminated)|fetch failed|socket hang up|stream disconnected|premature(?:ly)? clos|network error|error sending request|unable to connect|\bE(?:CONNREFUSED|CONNRESET|CONNABORTED|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE)\b|\bterminated$/im,
  },
  {
    id: 'server error',
    kind: 'server_error',
    pattern:
      /internal server error|bad gateway|server error|server had an error|provider returned error|upstream (?:connect )?(?:error|failure|failed)/i,
  },
  {
    id: 'bad request',
    kind: 'format',
    pattern:
      /bad request|invalid[ _]request|unprocessable|malformed request|unsupported parameter|tool_use[^\n]{0,60}tool_result|roles must alternate/i,
  },
  { id: 'turns of the user', kind: 'format', pattern: /reached max session turns/i },
  {
    id: 'command line',
    kind: 'format',
    pattern:
      /(?:unknown|unexpected|unrecognized) (?:option|argument|flag|command)|command not found|no such file or directory/i,
  },
];
