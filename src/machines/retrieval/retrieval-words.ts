/** The words by which a search is narrowed: without the schemas, which a command line has no use for. */

/** Where something is found. The order is how much each is trusted when the words fit equally well. */
export const RETRIEVAL_KINDS = ['learning', 'memory', 'checkpoint', 'text', 'trace'] as const;

/**
 * As seen from the session that asks. `family`: all of the first four. `agent`: every session of the agent, related or
 * not.
 */
export const SESSION_RELATIONS = ['self', 'ancestors', 'descendants', 'siblings', 'family', 'agent'] as const;
