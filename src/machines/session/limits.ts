/**
 * Every bound of a session has a name here. Reaching one is a typed refusal or a recorded ending, never a silent loss.
 */

/** Characters of one user message. */
export const MAX_MESSAGE_CHARACTERS = 256_000;

/** Messages and answers that wait for a model step. A sender beyond it is refused. */
export const MAX_PENDING_INGRESS = 1_000;

/** Wakes that a session may have queued at once. */
export const MAX_OPEN_QUEUED_WAKES = 32;

/** How often in a row a directive may say `continue` before the wake ends all the same. */
export const MAX_CONTINUES_IN_A_ROW = 3;

/** Model steps of one wake, unless the agent's budget says otherwise. */
export const DEFAULT_MAX_MODEL_STEPS_PER_WAKE = 50;

/** Model steps that no budget may exceed. */
export const MAX_MODEL_STEPS_PER_WAKE = 1_000;

/**
 * Tool calls of one model step. The first beyond it is answered with an error for the model, the others are not kept.
 */
export const MAX_TOOL_CALLS_PER_STEP = 64;

/** How often a call of an idempotent tool is begun when its process keeps dying. */
export const MAX_TOOL_CALL_ATTEMPTS = 3;

/** How long a request for permission waits for an answer, in seconds, unless the agent says otherwise: a week. */
export const DEFAULT_PERMISSION_SECONDS = 7 * 24 * 3_600;

/** Tokens that a model is given to read, by estimate, unless the agent says otherwise. */
export const DEFAULT_MAX_CONTEXT_TOKENS = 100_000;

/** Tokens of an answer that are reserved before a step whose work has a budget, unless the budget leaves less. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 8_192;

/** How often in a row the same call may come to the same result, unless the agent's budget says otherwise. */
export const DEFAULT_MAX_IDENTICAL_CALLS = 8;

/** Steps in a row of which nothing new came, unless the agent's budget says otherwise. */
export const DEFAULT_MAX_STEPS_WITHOUT_PROGRESS = 16;

/** Calls of a session that may wait for child sessions at the same time. */
export const MAX_OPEN_SUBFLOWS = 8;

/** Tool calls of one step that run at the same time. */
export const MAX_CONCURRENT_TOOL_CALLS = 4;

/** Characters of one tool result as JSON; longer ones are cut and say so. */
export const MAX_TOOL_RESULT_CHARACTERS = 64_000;

/** Characters of a transcript given to a model; the oldest turns are left out first. */
export const MAX_TRANSCRIPT_CHARACTERS = 400_000;

/** Characters of a summary. */
export const MAX_SUMMARY_CHARACTERS = 2_000;

/** Bytes of one record of a log: what one append may hold. */
export const MAX_RECORD_BYTES = 8 * 1024 * 1024;

/** Characters of an idempotency key. */
export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 200;

/** Wakes in a row that may fail before the session is parked. */
export const MAX_FAILURES_IN_A_ROW = 5;

/** Wakes in a row that no client asked for and that called no tool, before the session is parked. */
export const MAX_IDLE_WAKES_IN_A_ROW = 20;

/** Wakes in a row that no client asked for, before the session is parked, unless the agent's budget says otherwise. */
export const DEFAULT_MAX_AUTONOMOUS_WAKES = 1_000;

/**
 * How long a session waits after its first failed wake, in milliseconds, and by how much longer after each that
 * follows.
 */
export const FIRST_RETRY_DELAY_MS = 5_000;
export const RETRY_DELAY_FACTOR = 4;
export const MAX_RETRY_DELAY_MS = 3_600_000;

/** Child sessions that one session may have. */
export const MAX_CHILD_SESSIONS = 64;

/** How deep children of children may go; a session without a parent has depth 0. */
export const MAX_SESSION_DEPTH = 4;
